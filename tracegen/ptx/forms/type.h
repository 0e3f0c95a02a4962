// Types and state spaces of PTX (PTX ISA: State Spaces, Types, and Variables).
#ifndef HEDDLE_TRACEGEN_PTX_FORMS_TYPE_H_
#define HEDDLE_TRACEGEN_PTX_FORMS_TYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::tracegen::ptx {

// How the bits of a value are taken.
enum class TypeKind : uint8_t {
  kNone,
  kBits,       // .b8 to .b128
  kUnsigned,   // .u8 to .u64
  kSigned,     // .s8 to .s64
  kFloat,      // .f16, .f32, .f64, and the shorter formats: .bf16, .tf32, .e4m3, ...
  kPredicate,  // .pred
  kOpaque,     // .texref, .samplerref, .surfref
};

// A type as a modifier or a declaration names it. Compare by name where formats of equal width matter (.f16, .bf16).
struct Type {
  std::string_view name;  // without the point: "f16x2"; empty for none. Lives as long as the program.
  TypeKind kind = TypeKind::kNone;
  uint16_t bits = 0;     // of the whole value: 32 for f16x2, 1 for pred, 4 for e2m1, 64 for texref (its handle)
  uint8_t elements = 1;  // of a packed type: 2 for f16x2

  bool exists() const { return kind != TypeKind::kNone; }
  friend bool operator==(const Type& a, const Type& b) { return a.name == b.name; }
};

// The type with this name, without the point ("u32"); nothing if no version of PTX has it.
std::optional<Type> FindType(std::string_view name);

enum class StateSpace : uint8_t { kNone, kReg, kSreg, kConst, kGlobal, kLocal, kParam, kShared, kTex };

// "global"; empty for kNone.
std::string_view NameOf(StateSpace space);
// The state space with this name, without the point; kNone if there is none.
StateSpace FindStateSpace(std::string_view name);

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_FORMS_TYPE_H_
