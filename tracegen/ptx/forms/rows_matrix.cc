#include "tracegen/ptx/forms/rows.h"

namespace heddle::tracegen::ptx {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;

constexpr std::string_view kWmma = "Warp Level Matrix Multiply-Accumulate Instructions: wmma";
constexpr std::string_view kMma = "Warp Level Matrix Multiply-Accumulate Instructions: mma";
constexpr std::string_view kSparse = "Warp Level Matrix Multiply-Accumulate Instructions: mma.sp";
constexpr std::string_view kMove = "Warp Level Matrix Multiply-Accumulate Instructions: ldmatrix, stmatrix, movmatrix";
constexpr std::string_view kGroup = "Asynchronous Warpgroup Level Matrix Instructions";
constexpr std::string_view kFifth = "TensorCore 5th Generation Family Instructions";

constexpr Form kRows[] = {
    {"wmma",
     "load a|b|c sync aligned? row|col $wmmashape global|shared|shared::cta? f16|f32|f64|bf16|tf32|u8|s8|u4|s4|b1|s32",
     "V:- m s:32?", OP_TENSOR, kKnown, kWmma},
    {"wmma", "store d sync aligned? row|col $wmmashape global|shared|shared::cta? f16|f32|f64|s32", "m v:- s:32?",
     OP_TENSOR, kKnown, kWmma},
    {"wmma",
     "mma sync aligned? row|col row|col $wmmashape $rnd? f16|f32|f64|s32 f16|bf16|tf32|f32|f64|u8|s8|u4|s4|b1? "
     "f16|bf16|tf32|f64|u8|s8|u4|s4|b1? f16|f32|f64|s32? satfinite?",
     "V:- v:- v:- v:-", OP_TENSOR, kKnown, kWmma},
    {"wmma", "mma xor|and popc sync aligned? row col $wmmashape s32 b1 b1 s32", "V:- v:- v:- v:-", OP_TENSOR, kKnown,
     kWmma},
    {"mma",
     "sync aligned $mmashape row|col row|col satfinite? f16|f32|f64|s32 f16|bf16|tf32|f64|u8|s8|u4|s4|b1|e4m3|e5m2 "
     "f16|bf16|tf32|f64|u8|s8|u4|s4|b1|e4m3|e5m2 f16|f32|f64|s32",
     "V:- v:- v:- v:-", OP_TENSOR, kKnown, kMma},
    {"mma", "sync aligned $mmashape row col s32 b1 b1 s32 xor|and popc", "V:- v:- v:- v:-", OP_TENSOR, kKnown, kMma},
    {"mma", "sync aligned $mmashape row|col row|col $rnd? f64 f64 f64 f64", "V:- v:- v:- v:-", OP_TENSOR, kKnown, kMma},
    {"mma",
     "sync aligned $mmashape row col kind::f8f6f4|kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4 block_scale? "
     "scale_vec::1X|scale_vec::2X|scale_vec::4X? f16|f32 $fp8 $fp8 f16|f32 ue8m0|ue4m3?",
     "V:- v:- v:- v:- a*", OP_TENSOR, kParsed, kMma},
    {"mma",
     "sp|sp::ordered_metadata sync aligned $mmashape row col satfinite? f16|f32|s32 "
     "f16|bf16|tf32|u8|s8|u4|s4|e4m3|e5m2 "
     "f16|bf16|tf32|u8|s8|u4|s4|e4m3|e5m2 f16|f32|s32",
     "V:- v:- v:- v:- s:32 i", OP_TENSOR, kParsed, kSparse},
    {"mma",
     "sp|sp::ordered_metadata sync aligned $mmashape row col kind::f8f6f4|kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4 "
     "block_scale? scale_vec::1X|scale_vec::2X|scale_vec::4X? f16|f32 $fp8 $fp8 f16|f32 ue8m0|ue4m3?",
     "V:- v:- v:- v:- s:32 i a*", OP_TENSOR, kParsed, kSparse},
    {"ldmatrix", "sync aligned m8n8|m16n16|m8n16 x1|x2|x4 trans? shared|shared::cta? b16|b8", "V:- m", OP_TENSOR,
     kKnown, kMove},
    {"ldmatrix", "sync aligned m8n16|m16n16 x1|x2|x4 trans? shared|shared::cta? b8x16 b6x16_p32|b4x16_p64", "V:- m",
     OP_TENSOR, kParsed, kMove},
    {"stmatrix", "sync aligned m8n8|m16n8 x1|x2|x4 trans? shared|shared::cta? b16|b8", "m v:-", OP_TENSOR, kKnown,
     kMove},
    {"movmatrix", "sync aligned m8n8 trans b16", "d:32 s:32", OP_TENSOR, kKnown, kMove},

    {"wgmma", "fence|commit_group sync aligned", "", OP_TENSOR, kParsed, kGroup},
    {"wgmma", "wait_group sync aligned", "i", OP_TENSOR, kParsed, kGroup},
    {"wgmma",
     "mma_async sp? sync aligned $wgmmashape satfinite? f16|f32|s32 f16|bf16|tf32|e4m3|e5m2|u8|s8|b1 "
     "f16|bf16|tf32|e4m3|e5m2|u8|s8|b1",
     "V:- a*", OP_TENSOR, kParsed, kGroup},
    {"wgmma", "mma_async sync aligned $wgmmashape s32 b1 b1 and popc", "V:- a*", OP_TENSOR, kParsed, kGroup},
    // What the fifth generation has is read in any order: no stage of ours gives it a meaning.
    {"tcgen05",
     "alloc|dealloc|relinquish_alloc_permit|ld|st|wait::ld|wait::st|cp|shift|mma|commit|fence::before_thread_sync|"
     "fence::after_thread_sync $cg|sync|aligned|shared|shared::cta|shared::cluster|b32|b64|red|down|ws|sp|"
     "arrive::one|mbarrier::arrive::one|multicast::cluster|16x64b|16x128b|16x256b|32x32b|16x32bx2|x1|x2|x4|x8|x16|"
     "x32|x64|x128|pack::16b|unpack::16b|spcompress|min|max|abs|NaN|f32|u32|s32|128x256b|4x256b|128x128b|64x128b|"
     "32x128b|warpx2::02_13|warpx2::01_23|warpx4|b8x16|b6x16_p32|b4x16_p64|kind::f16|kind::tf32|kind::f8f6f4|"
     "kind::i8|kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4|block_scale|scale_vec::1X|scale_vec::2X|scale_vec::4X|"
     "block16|block32|collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard|"
     "collector::b0::fill|collector::b0::use|collector::b0::lastuse|collector::b0::discard|collector::b1::fill|"
     "collector::b1::use|collector::b1::lastuse|collector::b1::discard|collector::b2::fill|collector::b2::use|"
     "collector::b2::lastuse|collector::b2::discard|collector::b3::fill|collector::b3::use|collector::b3::lastuse|"
     "collector::b3::discard|ashift*",
     "a*", OP_TENSOR, kParsed, kFifth},
};

}  // namespace

std::span<const Form> MatrixRows() { return kRows; }

}  // namespace heddle::tracegen::ptx
