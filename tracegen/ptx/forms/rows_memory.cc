#include "tracegen/ptx/forms/rows.h"

namespace heddle::tracegen::ptx {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;

constexpr std::string_view kData = "Data Movement and Conversion Instructions";
constexpr std::string_view kSync = "Parallel Synchronization and Communication Instructions";

constexpr Form kRows[] = {
    {"mov", "pred", "p q", OP_MOVE, kKnown, kData},
    {"mov", "$vec? b16|b32|b64|b128|$int|f32|f64", "D S", OP_MOVE, kKnown, kData},
    {"shfl", "up|down|bfly|idx b32", "r s s s", OP_WARP, kKnown, kData},
    {"shfl", "sync up|down|bfly|idx b32", "r s s s s", OP_WARP, kKnown, kData},
    {"prmt", "b32 f4e|b4e|rc8|ecl|ecr|rc16?", "d s s s", OP_INT_ALU, kKnown, kData},

    {"ld",
     "weak|relaxed|acquire|volatile|mmio? relaxed? $scope? $space? ca|cg|cs|lu|cv? nc? $l1? $l2? $hint? $prefetch? "
     "$vec? $data",
     "d> m s:64?", OP_LOAD, kKnown, kData},
    {"ldu", "global? $vec? $data", "d> m", OP_LOAD, kKnown, kData},
    {"st",
     "weak|relaxed|release|volatile|mmio? relaxed? $scope? $store_space? wb|cg|cs|wt? $l1? $l2? $hint? $vec? $data",
     "m s> s:64?", OP_STORE, kKnown, kData},
    {"prefetch", "global|local? L1|L2", "m", OP_MOVE, kKnown, kData},
    {"prefetch", "global L2::evict_last|L2::evict_normal", "m", OP_MOVE, kKnown, kData},
    {"prefetch", "const|param? tensormap", "m", OP_MOVE, kParsed, kData},
    {"prefetchu", "L1", "m", OP_MOVE, kKnown, kData},
    {"applypriority", "global? L2::evict_normal", "m i", OP_MOVE, kParsed, kData},
    {"discard", "global? L2", "m i", OP_MOVE, kParsed, kData},
    {"createpolicy",
     "fractional L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged "
     "L2::evict_first|L2::evict_unchanged? "
     "b64",
     "d s:-?", OP_MOVE, kParsed, kData},
    {"createpolicy",
     "range global? L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged "
     "L2::evict_first|L2::evict_unchanged? b64",
     "d m s:32 s:32", OP_MOVE, kParsed, kData},
    {"createpolicy", "cvt L2 b64", "d s", OP_MOVE, kParsed, kData},
    {"isspacep", "const|global|local|shared|shared::cta|shared::cluster|param|param::entry", "p s:-", OP_INT_ALU,
     kKnown, kData},
    {"cvta", "const|global|local|shared|shared::cta|shared::cluster|param|param::entry u32|u64", "d s", OP_MOVE, kKnown,
     kData},
    {"cvta", "to const|global|local|shared|shared::cta|shared::cluster|param|param::entry u32|u64", "d s", OP_MOVE,
     kKnown, kData},

    {"atom", "$sem? $scope? $shared_or_global? and|or|xor $hint? b32|b64", "d m s s:64?", OP_ATOMIC, kKnown, kSync},
    {"atom", "$sem? $scope? $shared_or_global? exch $hint? b32|b64|b128", "d m s s:64?", OP_ATOMIC, kKnown, kSync},
    {"atom", "$sem? $scope? $shared_or_global? add $hint? u32|s32|u64|s64|f32|f64", "d m s s:64?", OP_ATOMIC, kKnown,
     kSync},
    {"atom", "$sem? $scope? $shared_or_global? min|max $hint? u32|s32|u64|s64", "d m s s:64?", OP_ATOMIC, kKnown,
     kSync},
    {"atom", "$sem? $scope? $shared_or_global? inc|dec $hint? u32", "d m s s:64?", OP_ATOMIC, kKnown, kSync},
    {"atom", "$sem? $scope? $shared_or_global? add noftz $hint? f16|f16x2|bf16|bf16x2", "d m s s:64?", OP_ATOMIC,
     kKnown, kSync},
    {"atom", "$sem? $scope? $shared_or_global? cas $hint? b16|b32|b64|b128", "d m s s s:64?", OP_ATOMIC, kKnown, kSync},
    {"atom", "$sem? $scope? global? add $hint? v2|v4 f32", "d m s s:64?", OP_ATOMIC, kKnown, kSync},
    {"atom", "$sem? $scope? global? add|min|max noftz $hint? v2|v4|v8 f16|bf16|f16x2|bf16x2", "d m s s:64?", OP_ATOMIC,
     kKnown, kSync},
    {"red", "relaxed|release? $scope? $shared_or_global? and|or|xor $hint? b32|b64", "m s s:64?", OP_ATOMIC, kKnown,
     kSync},
    {"red", "relaxed|release? $scope? $shared_or_global? add $hint? u32|s32|u64|s64|f32|f64", "m s s:64?", OP_ATOMIC,
     kKnown, kSync},
    {"red", "relaxed|release? $scope? $shared_or_global? min|max $hint? u32|s32|u64|s64", "m s s:64?", OP_ATOMIC,
     kKnown, kSync},
    {"red", "relaxed|release? $scope? $shared_or_global? inc|dec $hint? u32", "m s s:64?", OP_ATOMIC, kKnown, kSync},
    {"red", "relaxed|release? $scope? $shared_or_global? add noftz $hint? f16|f16x2|bf16|bf16x2", "m s s:64?",
     OP_ATOMIC, kKnown, kSync},
    {"red", "relaxed|release? $scope? global? add $hint? v2|v4 f32", "m s s:64?", OP_ATOMIC, kKnown, kSync},
    {"red", "relaxed|release? $scope? global? add|min|max noftz $hint? v2|v4|v8 f16|bf16|f16x2|bf16x2", "m s s:64?",
     OP_ATOMIC, kKnown, kSync},
};

}  // namespace

std::span<const Form> MemoryRows() { return kRows; }

}  // namespace heddle::tracegen::ptx
