#include "tracegen/ptx/forms/rows.h"

namespace heddle::tracegen::ptx {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;

constexpr std::string_view kCopy = "Data Movement and Conversion Instructions: Asynchronous Copy";
constexpr std::string_view kBulk = "Data Movement and Conversion Instructions: Asynchronous Bulk Copy";
constexpr std::string_view kTensor = "Data Movement and Conversion Instructions: Tensor Copy";
constexpr std::string_view kMulti = "Data Movement and Conversion Instructions: multimem";
constexpr std::string_view kCluster = "Data Movement and Conversion Instructions";
constexpr std::string_view kBarrier = "Parallel Synchronization and Communication Instructions: mbarrier";
constexpr std::string_view kSync = "Parallel Synchronization and Communication Instructions";

constexpr Form kRows[] = {
    {"cp", "async ca|cg shared|shared::cta global $hint? $prefetch?", "m m i a? s:64?", OP_ASYNC, kKnown, kCopy},
    {"cp", "async commit_group|wait_all", "", OP_ASYNC, kKnown, kCopy},
    {"cp", "async wait_group", "i", OP_ASYNC, kKnown, kCopy},
    {"cp", "async mbarrier arrive noinc? shared|shared::cta? b64", "m", OP_ASYNC, kKnown, kBarrier},
    {"cp",
     "async bulk shared::cluster|shared::cta|global shared::cta|global $bytes|bulk_group $multicast? $hint? cp_mask?",
     "m m s:32 a*", OP_UNKNOWN, kParsed, kBulk},
    {"cp", "async bulk prefetch L2 global $hint?", "m s:32 s:64?", OP_UNKNOWN, kParsed, kBulk},
    {"cp", "async bulk commit_group", "", OP_UNKNOWN, kParsed, kBulk},
    {"cp", "async bulk wait_group read?", "i", OP_UNKNOWN, kParsed, kBulk},
    {"cp",
     "async bulk tensor $dim shared::cluster|shared::cta|global shared::cta|global "
     "tile|tile::gather4|tile::scatter4|im2col|im2col_no_offs|im2col::w|im2col::w::128? $bytes|bulk_group $multicast? "
     "$cg? "
     "$hint?",
     "m m a*", OP_UNKNOWN, kParsed, kTensor},
    {"cp", "async bulk prefetch tensor $dim L2 global tile|tile::gather4|im2col|im2col::w|im2col::w::128? $hint?",
     "m a*", OP_UNKNOWN, kParsed, kTensor},
    {"cp",
     "reduce async bulk shared::cluster|global shared::cta $bytes|bulk_group $hint? and|or|xor|add|inc|dec|min|max "
     "noftz? "
     "b32|b64|u32|u64|s32|s64|f16|bf16|f32|f64",
     "m m s:32 a*", OP_UNKNOWN, kParsed, kBulk},
    {"cp",
     "reduce async bulk tensor $dim global shared::cta add|min|max|inc|dec|and|or|xor tile|im2col_no_offs? bulk_group "
     "$hint?",
     "m m a*", OP_UNKNOWN, kParsed, kTensor},
    {"tensormap",
     "replace tile "
     "global_address|rank|box_dim|global_dim|global_stride|element_stride|elemtype|interleave_layout|swizzle_mode|"
     "fill_mode|swizzle_atomicity global|shared::cta? b1024 b32|b64",
     "m a a?", OP_UNKNOWN, kParsed, kTensor},
    {"tensormap", "cp_fenceproxy global shared::cta tensormap::generic release|acquire $scope sync aligned", "m m i",
     OP_UNKNOWN, kParsed, kSync},
    {"st",
     "async weak|release? $scope? shared::cluster|global? $bytes? v2|v4? b32|b64|u32|u64|s32|s64|f32|f64|b8|b16|u8|u16|"
     "s8|s16",
     "m s:-> m?", OP_UNKNOWN, kParsed, kBulk},
    {"st", "async mmio? release? $scope? global? b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64", "m s:->",
     OP_UNKNOWN, kParsed, kBulk},
    {"st", "bulk weak? shared::cta?", "m s:64 i", OP_UNKNOWN, kParsed, kBulk},
    {"red",
     "async relaxed $scope? shared::cluster? $bytes? shared::cluster? inc|dec|min|max|add|and|or|xor "
     "u32|s32|u64|s64|b32|b64",
     "m s m?", OP_UNKNOWN, kParsed, kSync},
    {"red", "async mmio? release $scope? global? add u32|s32|u64|s64", "m s", OP_UNKNOWN, kParsed, kSync},

    {"multimem",
     "ld_reduce weak|relaxed|acquire? $scope? global? add|min|max|and|or|xor acc::f32|acc::f16? v2|v4|v8? "
     "b32|b64|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64|e5m2|e5m2x2|e5m2x4|e4m3|e4m3x2|e4m3x4",
     "w m", OP_UNKNOWN, kParsed, kMulti},
    {"multimem",
     "st weak|relaxed|release? $scope? global? v2|v4|v8? "
     "b32|b64|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64|e5m2|e5m2x2|e5m2x4|e4m3|e4m3x2|e4m3x4",
     "m a", OP_UNKNOWN, kParsed, kMulti},
    {"multimem",
     "red relaxed|release? $scope? global? add|min|max|and|or|xor v2|v4|v8? "
     "b32|b64|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64|e5m2|e5m2x2|e5m2x4|e4m3|e4m3x2|e4m3x4",
     "m a", OP_UNKNOWN, kParsed, kMulti},
    {"multimem", "cp async bulk global shared::cta bulk_group cp_mask?", "m m a*", OP_UNKNOWN, kParsed, kMulti},
    {"multimem",
     "cp reduce async bulk global shared::cta bulk_group add|min|max|inc|dec|and|or|xor noftz? "
     "b32|b64|u32|u64|s32|s64|f16|bf16|f32|f64",
     "m m a*", OP_UNKNOWN, kParsed, kMulti},

    {"mapa", "shared::cluster? u32|u64", "d s s:32", OP_INT_ALU, kKnown, kCluster},
    {"getctarank", "shared::cluster? u32|u64", "d:32 s", OP_INT_ALU, kKnown, kCluster},

    {"mbarrier", "init shared|shared::cta? b64", "m s:32", OP_ASYNC, kKnown, kBarrier},
    {"mbarrier", "inval shared|shared::cta? b64", "m", OP_ASYNC, kKnown, kBarrier},
    {"mbarrier", "expect_tx relaxed? $scope? $shared? b64", "m s:32", OP_ASYNC, kKnown, kBarrier},
    {"mbarrier", "complete_tx relaxed? $scope? $shared? b64", "m s:32", OP_UNKNOWN, kParsed, kBarrier},
    {"mbarrier", "arrive|arrive_drop expect_tx|noComplete? release|relaxed? $scope? $shared? b64", "w m s:32?",
     OP_ASYNC, kKnown, kBarrier},
    {"mbarrier", "test_wait acquire|relaxed? $scope? shared|shared::cta? b64", "p m s:64", OP_ASYNC, kKnown, kBarrier},
    {"mbarrier", "test_wait parity acquire|relaxed? $scope? shared|shared::cta? b64", "p m s:32", OP_ASYNC, kKnown,
     kBarrier},
    {"mbarrier", "try_wait acquire|relaxed? $scope? shared|shared::cta? b64", "p m s:64 s:32?", OP_ASYNC, kKnown,
     kBarrier},
    {"mbarrier", "try_wait parity acquire|relaxed? $scope? shared|shared::cta? b64", "p m s:32 s:32?", OP_ASYNC, kKnown,
     kBarrier},
    {"mbarrier", "pending_count b64", "d:32 s:64", OP_INT_ALU, kKnown, kBarrier},
    {"clusterlaunchcontrol", "try_cancel async shared::cta? $bytes multicast::cluster::all? b128", "m m", OP_UNKNOWN,
     kParsed, kSync},
    {"clusterlaunchcontrol", "query_cancel is_canceled pred b128", "p s:128", OP_UNKNOWN, kParsed, kSync},
    {"clusterlaunchcontrol",
     "query_cancel get_first_ctaid|get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z v4? b32 b128", "w s:128",
     OP_UNKNOWN, kParsed, kSync},
};

}  // namespace

std::span<const Form> AsyncRows() { return kRows; }

}  // namespace heddle::tracegen::ptx
