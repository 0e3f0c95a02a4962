// One machine instruction on its way to LLVM IR: what it reads and writes, as values.
//
// The files of this folder know what instructions compute, and nothing of functions, memory and control flow: who
// lowers those hands in the registers. What is emitted is IR as NVPTX's front ends make it, with intrinsics
// `llvm.nvvm...` where IR has no equal.
#ifndef HEDDLE_TRACEGEN_MACHINE_MEANING_EMISSION_H_
#define HEDDLE_TRACEGEN_MACHINE_MEANING_EMISSION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "llvm/IR/IRBuilder.h"
#include "tracegen/machine/text/instruction.h"

namespace heddle::tracegen::machine {

// What a thread has outside of memory: its registers, and what it reads beside them.
class StateAccess {
 public:
  virtual ~StateAccess() = default;
  // i1 of predicates, i32 of all other registers. Constant registers are zero, or true.
  virtual llvm::Value* Read(const Register& reg) = 0;
  // Writes nothing to constant registers, and where the guard is false.
  virtual void Write(const Register& reg, llvm::Value* value) = 0;
  // 32 bits of a constant bank, `offset` bytes behind the operand's address. Null if they are not known.
  virtual llvm::Value* Constant(const Operand& operand, uint32_t offset) = 0;
  // 32 bits of a special register (SR_TID.X). Null if it is not known.
  virtual llvm::Value* Special(std::string_view name) = 0;
};

// Operands go by their kind in the row of the table of forms (forms/pattern.h), counted from 0: In(1) is the second
// operand that is read, OutPredicate(0) the first predicate that is written.
class Emission {
 public:
  Emission(llvm::IRBuilder<>& builder, const Instruction& at, StateAccess& state) : b(builder), at(at), state(state) {}

  llvm::IRBuilder<>& b;
  const Instruction& at;
  StateAccess& state;
  // The number of 32 bits in the instruction's encoding, if it has one: of a NaN the text does not say which it is.
  uint32_t immediate = 0;
  // What could not be read, for messages; empty if nothing.
  std::string failure;

  bool Has(std::string_view modifier) const { return at.Has(modifier); }
  // Number `k` of the operands of a kind; null if the row has fewer, or if it is left out.
  const Operand* Find(char kind, size_t k = 0) const;

  // 32 bits that are read, without the signs in front of them.
  llvm::Value* Plain(size_t k);
  // '-', '~', or 0 for none.
  char Sign(size_t k) const;
  // 32 bits that are read, as an integer: with its sign.
  llvm::Value* In(size_t k);
  // The same, or a part of a register that the text names (R4.B1, R4.H1), in the lowest bits; what is above is left
  // open.
  llvm::Value* InPart(size_t k);
  // 64 bits from two registers, or two words of a constant bank; a number of 32 bits is extended.
  llvm::Value* InWide(size_t k, bool is_signed);
  // A predicate that is read, or the sign of a register (R4.SIGN), with its negation; `otherwise` if it is left out.
  llvm::Value* InPredicate(size_t k, bool otherwise);
  // A number in the text.
  uint32_t Number(size_t k) const;

  // 32 bits, or 64 for two registers.
  void Out(llvm::Value* value);
  // Nothing if the operand is left out.
  void OutPredicate(size_t k, llvm::Value* value);

  llvm::Value* Zero() { return b.getInt32(0); }
  // A call of an intrinsic without overloads, such as "llvm.nvvm.prmt".
  llvm::Value* Intrinsic(const std::string& name, llvm::ArrayRef<llvm::Value*> arguments);
  // Notes what is not known and returns a value that takes its place.
  llvm::Value* Fail(const std::string& what, unsigned bits = 32);

  // The bits of any operand that is read, without signs: a register with `offset` registers behind it, a constant, a
  // number.
  llvm::Value* Bits(const Operand& operand, uint32_t offset = 0);
};

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_MEANING_EMISSION_H_
