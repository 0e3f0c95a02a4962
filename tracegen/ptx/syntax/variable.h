// Variables and parameters of PTX, with their initial values.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_VARIABLE_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_VARIABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tracegen/ptx/forms/type.h"
#include "tracegen/ptx/syntax/operand.h"

namespace heddle::tracegen::ptx {

enum class Linkage : uint8_t { kInternal, kVisible, kExtern, kWeak, kCommon };

// One element of an initialised variable; elements that none names are zero.
struct InitialValue {
  enum class Kind : uint8_t {
    kInteger,  // `bits`, cut to the width of the element
    kFloat,    // `bits` of the element's own format (f16, bf16, f32 or f64)
    kAddress,  // of `symbol` (kGlobal or kFunction) `index`, plus `addend`
  };
  Kind kind = Kind::kInteger;
  bool generic = false;  // kAddress: generic(symbol), not the address within its state space
  SymbolKind symbol = SymbolKind::kGlobal;
  uint32_t line = 0;
  uint32_t index = 0;
  uint64_t element = 0;  // from 0, in row-major order, components of vectors counted one by one; ascending
  uint64_t bits = 0;
  int64_t addend = 0;  // bytes
  // kAddress: 0 = all of it; else the bits to take, 0xff00(symbol) for the second byte, shifted down to bit 0.
  uint64_t mask = 0;

  bool operator==(const InitialValue&) const = default;
};

// `.param .u64 .ptr .global .align 16 name`: what a pointer parameter of a kernel points to.
struct PointerHint {
  StateSpace space = StateSpace::kNone;  // kNone: generic
  uint64_t alignment = 1;                // bytes

  bool operator==(const PointerHint&) const = default;
};

struct Variable {
  std::string name;  // `_` for parameters of prototypes without a name
  uint32_t line = 0;
  uint32_t part = 0;  // Module::parts; of variables of a module only
  StateSpace space = StateSpace::kNone;
  Type type;
  uint8_t vector = 1;      // elements of .v2, .v4; 1 without
  uint8_t bank = 0;        // .const[2]
  uint64_t alignment = 0;  // bytes, as declared; 0 if it is not. See Alignment().
  Linkage linkage = Linkage::kInternal;
  bool managed = false;      // .attribute(.managed)
  bool has_unified = false;  // .attribute(.unified(a, b))
  std::pair<uint64_t, uint64_t> unified;
  std::optional<PointerHint> pointer;
  // Outermost first; empty for a scalar or vector. Sizes that were left out are those of the initial values; 0 where
  // the size is not known (extern shared memory, variable arguments).
  std::vector<uint64_t> dimensions;
  std::vector<InitialValue> initial;
  bool is_initialized = false;  // it had an initialiser, perhaps of zeros only
  // .samplerref and .texref: { addr_mode_0 = clamp_to_edge, filter_mode = linear, ... }, names and values as written.
  std::vector<std::pair<std::string, std::string>> fields;
  // Space kReg (parameters and returns of old functions): number of its register.
  uint32_t register_number = 0;

  // A texture, sampler or surface reference: .texref and its like, or of the state space .tex, as it once was written.
  bool IsReference() const { return type.kind == TypeKind::kOpaque || space == StateSpace::kTex; }
  // Whole size in bytes; 0 if it is not known.
  uint64_t Bytes() const;
  // Of one element (of a vector's all), in bytes.
  uint64_t ElementBytes() const;
  // As declared, or the natural one: that of an element.
  uint64_t Alignment() const;

  bool operator==(const Variable&) const = default;
};

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_VARIABLE_H_
