#include "tracegen/ptx/forms/type.h"

#include <algorithm>
#include <array>

namespace heddle::tracegen::ptx {
namespace {

using enum TypeKind;

// PTX ISA: Fundamental Types, Alternate Floating-Point Data Formats, Packed Data Types, Opaque Types.
constexpr std::array<Type, 60> kTypes = {{
    {"b1", kBits, 1, 1},
    {"b4", kBits, 4, 1},
    {"b8", kBits, 8, 1},
    {"b16", kBits, 16, 1},
    {"b32", kBits, 32, 1},
    {"b64", kBits, 64, 1},
    {"b128", kBits, 128, 1},
    {"b1024", kBits, 1024, 1},
    {"u4", kUnsigned, 4, 1},
    {"u8", kUnsigned, 8, 1},
    {"u16", kUnsigned, 16, 1},
    {"u32", kUnsigned, 32, 1},
    {"u64", kUnsigned, 64, 1},
    {"s4", kSigned, 4, 1},
    {"s8", kSigned, 8, 1},
    {"s16", kSigned, 16, 1},
    {"s32", kSigned, 32, 1},
    {"s64", kSigned, 64, 1},
    {"u8x4", kUnsigned, 32, 4},
    {"s8x4", kSigned, 32, 4},
    {"u16x2", kUnsigned, 32, 2},
    {"s16x2", kSigned, 32, 2},
    {"f16", kFloat, 16, 1},
    {"f32", kFloat, 32, 1},
    {"f64", kFloat, 64, 1},
    {"bf16", kFloat, 16, 1},
    {"tf32", kFloat, 32, 1},
    {"f16x2", kFloat, 32, 2},
    {"bf16x2", kFloat, 32, 2},
    {"f32x2", kFloat, 64, 2},
    {"e4m3", kFloat, 8, 1},
    {"e5m2", kFloat, 8, 1},
    {"e2m3", kFloat, 6, 1},
    {"e3m2", kFloat, 6, 1},
    {"e2m1", kFloat, 4, 1},
    {"ue8m0", kFloat, 8, 1},
    {"ue4m3", kFloat, 8, 1},
    {"ue5m3", kFloat, 8, 1},
    {"e4m3x2", kFloat, 16, 2},
    {"e5m2x2", kFloat, 16, 2},
    {"e2m3x2", kFloat, 16, 2},
    {"e3m2x2", kFloat, 16, 2},
    {"e2m1x2", kFloat, 8, 2},
    {"ue8m0x2", kFloat, 16, 2},
    {"ue4m3x2", kFloat, 16, 2},
    {"s2f6x2", kFloat, 16, 2},
    {"e4m3x4", kFloat, 32, 4},
    {"e5m2x4", kFloat, 32, 4},
    {"e2m3x4", kFloat, 32, 4},
    {"e3m2x4", kFloat, 32, 4},
    {"e2m1x4", kFloat, 16, 4},
    {"b4x16", kBits, 64, 16},
    {"b4x16_p64", kBits, 128, 16},
    {"b6x16_p32", kBits, 128, 16},
    {"b6p2x16", kBits, 128, 16},
    {"b8x16", kBits, 128, 16},
    {"pred", kPredicate, 1, 1},
    {"texref", kOpaque, 64, 1},
    {"samplerref", kOpaque, 64, 1},
    {"surfref", kOpaque, 64, 1},
}};

constexpr std::array<std::string_view, 9> kSpaces = {"",      "reg",   "sreg",   "const", "global",
                                                     "local", "param", "shared", "tex"};

}  // namespace

std::optional<Type> FindType(std::string_view name) {
  if (name.empty()) return std::nullopt;
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& type) { return type.name == name; });
  if (found == kTypes.end()) return std::nullopt;
  return *found;
}

std::string_view NameOf(StateSpace space) { return kSpaces[static_cast<size_t>(space)]; }

StateSpace FindStateSpace(std::string_view name) {
  if (name.empty()) return StateSpace::kNone;
  const auto* found = std::find(kSpaces.begin(), kSpaces.end(), name);
  return found == kSpaces.end() ? StateSpace::kNone : static_cast<StateSpace>(found - kSpaces.begin());
}

}  // namespace heddle::tracegen::ptx
