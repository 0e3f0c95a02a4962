#include "tracegen/ptx/opcode.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tracegen/matrix/operation.h"
#include "tracegen/ptx/forms/form.h"
#include "tracegen/ptx/forms/pattern.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using Parts = std::vector<absl::string_view>;

bool Has(const Parts& parts, absl::string_view modifier) {
  return std::find(parts.begin() + 1, parts.end(), modifier) != parts.end();
}

// Bits of a type modifier such as "f32" or "b8"; 0 if it is none.
uint32_t TypeBits(absl::string_view part) {
  if (part == "f16x2" || part == "bf16x2") return 32;
  if (part == "f16" || part == "bf16") return 16;
  uint32_t bits = 0;
  if (part.size() < 2 || absl::string_view("bsuf").find(part[0]) == absl::string_view::npos) return 0;
  if (!absl::SimpleAtoi(part.substr(1), &bits)) return 0;
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? bits : 0;
}

uint32_t AccessBytes(const Parts& parts) {
  uint32_t bits = 0;
  for (size_t i = 1; i < parts.size(); ++i) bits = std::max(bits, TypeBits(parts[i]));
  return bits / 8 * (Has(parts, "v2") ? 2 : Has(parts, "v4") ? 4 : 1);
}

v1::MemorySpace Space(const Parts& parts) {
  // Also with its scope, such as "shared::cta".
  const auto is = [&parts](absl::string_view space) {
    return std::any_of(parts.begin() + 1, parts.end(),
                       [space](absl::string_view part) { return part.substr(0, part.find("::")) == space; });
  };
  if (is("global")) return v1::SPACE_GLOBAL;
  if (std::find(parts.begin() + 1, parts.end(), "shared::cluster") != parts.end()) return v1::SPACE_CLUSTER_SHARED;
  if (is("shared")) return v1::SPACE_SHARED;
  if (is("local")) return v1::SPACE_LOCAL;
  if (is("const")) return v1::SPACE_CONSTANT;
  if (is("param")) return v1::SPACE_PARAM;
  return v1::SPACE_GENERIC;
}

bool IsOneOf(absl::string_view word, std::initializer_list<absl::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// What the table of forms says of instructions that can be executed.
v1::OpClass ClassOf(const Parts& parts) {
  std::vector<std::string_view> modifiers;
  for (size_t i = 1; i < parts.size(); ++i) {
    modifiers.push_back(ptx::KnownModifier({parts[i].data(), parts[i].size()}));
  }
  for (const bool any_order : {false, true}) {
    for (const ptx::Form& form : ptx::FormsOf({parts[0].data(), parts[0].size()})) {
      if (form.meaning == ptx::Meaning::kKnown && MatchesModifiers(form, modifiers, any_order)) return form.op;
    }
  }
  return v1::OP_UNKNOWN;
}

}  // namespace

Opcode ClassifyOpcode(std::string_view text) {
  const Parts parts = absl::StrSplit(absl::string_view(text.data(), text.size()), '.');
  const absl::string_view base = parts[0];
  Opcode opcode;
  opcode.is_volatile = Has(parts, "volatile");
  if (base == "ld" || base == "ldu") {
    opcode.op = v1::OP_LOAD;
  } else if (base == "st") {
    opcode.op = v1::OP_STORE;
    opcode.has_result = false;
  } else if (base == "atom" || base == "red") {
    opcode.op = v1::OP_ATOMIC;
    opcode.has_result = base == "atom";
  } else if (base == "tex" || base == "tld4") {
    opcode.op = v1::OP_TEXTURE;
    opcode.space = v1::SPACE_TEXTURE;
    // The size of a texel is known only when the program runs. It is a power of two and aligned, so its first four
    // bytes, or the word that it is a part of, lie in the same sector as all of it.
    opcode.access_bytes = 4;
  } else if (base == "suld") {
    opcode.op = v1::OP_TEXTURE;
    opcode.space = v1::SPACE_TEXTURE;
    opcode.access_bytes = AccessBytes(parts);
  } else if (base == "sust" || base == "sured") {
    // Stores to a surface are seen by everybody, as global stores are.
    opcode.op = base == "sust" ? v1::OP_STORE : v1::OP_ATOMIC;
    opcode.space = v1::SPACE_GLOBAL;
    opcode.access_bytes = Has(parts, "p") ? 4 : AccessBytes(parts);
    opcode.has_result = false;
  } else if (base == "ldmatrix" || base == "stmatrix" || (base == "wmma" && !Has(parts, "mma"))) {
    const std::optional<MatrixOperation> operation = ParseMatrixOperation(text);
    if (!operation) return opcode;
    opcode.op = operation->is_load() ? v1::OP_LOAD : v1::OP_STORE;
    opcode.has_result = operation->is_load();
    opcode.space = Space(parts);
    opcode.access_bytes = operation->share_bytes();
  } else if (base == "txq" || base == "suq") {
    opcode.op = v1::OP_MOVE;  // of a field of the descriptor
  } else if (base == "bar" || base == "barrier") {
    opcode.op = Has(parts, "warp") ? v1::OP_WARP : v1::OP_BARRIER;
    opcode.has_result = Has(parts, "red");
  } else if (IsOneOf(base, {"membar", "fence"})) {
    opcode.op = v1::OP_FENCE;
    opcode.has_result = false;
  } else if (IsOneOf(base, {"shfl", "vote", "match", "activemask", "redux"})) {
    opcode.op = v1::OP_WARP;
  } else if (base == "bra") {
    opcode.op = v1::OP_BRANCH;
    opcode.has_result = false;
  } else if (base == "ret") {
    opcode.op = v1::OP_RETURN;
    opcode.has_result = false;
  } else if (IsOneOf(base, {"exit", "trap"})) {
    opcode.op = v1::OP_EXIT;
    opcode.has_result = false;
  } else if (base == "call") {
    opcode.op = v1::OP_CALL;
    opcode.has_result = false;
  } else {
    opcode.op = ClassOf(parts);
    if (IsOneOf(base, {"prefetch", "prefetchu", "nanosleep", "pmevent", "brkpt"})) opcode.has_result = false;
    if (opcode.op == v1::OP_ASYNC) {
      opcode.has_result = base == "mbarrier" && (Has(parts, "arrive") || Has(parts, "arrive_drop") ||
                                                 Has(parts, "test_wait") || Has(parts, "try_wait"));
    }
    if (opcode.op == v1::OP_SFU) opcode.micro_ops = base == "div" ? 2 : 1;
  }
  if (IsOneOf(base, {"ld", "ldu", "st", "atom", "red"})) {
    opcode.space = Space(parts);
    opcode.access_bytes = AccessBytes(parts);
  }
  return opcode;
}

std::optional<uint32_t> MathMicroOps(std::string_view function) {
  if (!function.starts_with("__nv_")) return std::nullopt;
  std::string_view name = function.substr(5);
  static constexpr std::array<std::pair<std::string_view, uint32_t>, 40> kSingle = {{
      {"fast_sin", 1},  {"fast_cos", 1},   {"fast_tan", 3}, {"fast_exp", 1}, {"fast_exp10", 1}, {"fast_log", 1},
      {"fast_log2", 1}, {"fast_log10", 1}, {"fast_pow", 2}, {"sin", 2},      {"cos", 2},        {"tan", 4},
      {"sincos", 4},    {"sinpi", 2},      {"cospi", 2},    {"asin", 3},     {"acos", 3},       {"atan", 2},
      {"atan2", 3},     {"sinh", 3},       {"cosh", 3},     {"tanh", 3},     {"asinh", 4},      {"acosh", 4},
      {"atanh", 3},     {"exp", 2},        {"exp2", 1},     {"exp10", 2},    {"expm1", 2},      {"log", 2},
      {"log2", 1},      {"log10", 2},      {"log1p", 2},    {"pow", 4},      {"cbrt", 3},       {"hypot", 3},
      {"erf", 3},       {"erfc", 4},       {"fmod", 4},     {"rcbrt", 3},
  }};
  static constexpr std::array<std::pair<std::string_view, uint32_t>, 32> kMore = {{
      {"erfinv", 4},
      {"erfcinv", 4},
      {"erfcx", 4},
      {"normcdf", 4},
      {"normcdfinv", 4},
      {"j0", 8},
      {"j1", 8},
      {"jn", 16},
      {"y0", 8},
      {"y1", 8},
      {"yn", 16},
      {"cyl_bessel_i0", 6},
      {"cyl_bessel_i1", 6},
      {"nextafter", 1},
      {"norm3d", 3},
      {"norm4d", 3},
      {"rnorm3d", 3},
      {"rnorm4d", 3},
      {"rhypot", 3},
      {"frexp_exponent", 1},
      {"frexp_fraction", 1},
      {"remquo_quotient", 4},
      {"fast_sincos", 2},
      {"rsqrt", 1},
      {"fast_fdivide", 2},
      {"tgamma", 8},
      {"lgamma", 8},
      {"remainder", 4},
      {"ldexp", 1},
      {"powi", 4},
      {"logb", 1},
      {"ilogb", 1},
  }};
  auto find = [&](std::string_view wanted) -> std::optional<uint32_t> {
    for (const auto& [known, count] : kSingle) {
      if (known == wanted) return count;
    }
    for (const auto& [known, count] : kMore) {
      if (known == wanted) return count;
    }
    return std::nullopt;
  };
  if (name.ends_with('f')) {
    if (std::optional<uint32_t> single = find(name.substr(0, name.size() - 1))) return single;
  }
  // Double precision has no unit of its own: about four times the work of single precision.
  if (std::optional<uint32_t> found = find(name)) return 4 * *found;
  return std::nullopt;
}

}  // namespace heddle::tracegen
