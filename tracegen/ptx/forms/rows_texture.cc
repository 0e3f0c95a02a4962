#include "tracegen/ptx/forms/rows.h"

namespace heddle::tracegen::ptx {
namespace {

using namespace ::heddle::trace::v1;  // NOLINT: classes of instructions
using enum Meaning;

constexpr std::string_view kTexture = "Texture Instructions";
constexpr std::string_view kSurface = "Surface Instructions";

constexpr Form kRows[] = {
    {"tex", "base? $geom v4? u32|s32|f32 s32|f32", "w m a? a?", OP_TEXTURE, kKnown, kTexture},
    {"tex", "base? $geom v2? f16x2 s32|f32", "w m a? a?", OP_TEXTURE, kParsed, kTexture},
    {"tex", "level $geom v4? u32|s32|f32 f32", "w m s:32 a? a?", OP_TEXTURE, kKnown, kTexture},
    {"tex", "level $geom v2? f16x2 f32", "w m s:32 a? a?", OP_TEXTURE, kParsed, kTexture},
    {"tex", "grad $geom v4? u32|s32|f32 f32", "w m a a a? a?", OP_TEXTURE, kKnown, kTexture},
    {"tex", "grad $geom v2? f16x2 f32", "w m a a a? a?", OP_TEXTURE, kParsed, kTexture},
    {"tld4", "r|g|b|a 2d|a2d|cube|acube v4 u32|s32|f32 f32", "w m a? a?", OP_TEXTURE, kKnown, kTexture},
    {"txq",
     "width|height|depth|channel_data_type|channel_order|normalized_coords|force_unnormalized_coords|filter_mode|"
     "addr_mode_0|addr_mode_1|addr_mode_2|array_size|num_mipmap_levels|num_samples b32",
     "d m", OP_MOVE, kKnown, kTexture},
    {"txq", "level width|height|depth b32", "d m s:32", OP_MOVE, kKnown, kTexture},
    {"istypep", "texref|samplerref|surfref", "p s:-", OP_MOVE, kParsed, kTexture},

    {"suld", "b 1d|2d|3d|a1d|a2d ca|cg|cs|cv? v2|v4? b8|b16|b32|b64 trap|clamp|zero", "w m", OP_TEXTURE, kKnown,
     kSurface},
    {"sust", "b 1d|2d|3d|a1d|a2d wb|cg|cs|wt? v2|v4? b8|b16|b32|b64 trap|clamp|zero", "m a", OP_STORE, kKnown,
     kSurface},
    {"sust", "p 1d|2d|3d|a1d|a2d v2|v4? b32|u32|s32|f32 trap|clamp|zero", "m a", OP_STORE, kKnown, kSurface},
    {"sured", "b add|min|max|and|or 1d|2d|3d u32|u64|s32|s64|b32 trap|clamp|zero", "m a", OP_ATOMIC, kKnown, kSurface},
    {"sured", "p add|min|max|and|or 1d|2d|3d b32|u32|s32 trap|clamp|zero", "m a", OP_ATOMIC, kKnown, kSurface},
    {"suq", "width|height|depth|channel_data_type|channel_order|array_size|memory_layout b32", "d m", OP_MOVE, kKnown,
     kSurface},
};

}  // namespace

std::span<const Form> TextureRows() { return kRows; }

}  // namespace heddle::tracegen::ptx
