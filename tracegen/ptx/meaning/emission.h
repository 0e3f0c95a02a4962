// One PTX instruction on its way to LLVM IR: what it reads and writes, as values.
//
// The files of this folder know what instructions compute, and nothing of functions, memory and control flow: who
// lowers those hands in the operands. What is emitted is IR as NVPTX's front ends make it, with intrinsics
// `llvm.nvvm...` where IR has no equal; what LLVM leaves undefined and PTX does not (shifts by the width or more,
// division by zero) is left to who executes it, as with IR of those front ends.
#ifndef HEDDLE_TRACEGEN_PTX_MEANING_EMISSION_H_
#define HEDDLE_TRACEGEN_PTX_MEANING_EMISSION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "llvm/IR/IRBuilder.h"
#include "tracegen/ptx/syntax/instruction.h"

namespace heddle::tracegen::ptx {

// Where operands get their values from, and where results go.
class OperandAccess {
 public:
  virtual ~OperandAccess() = default;
  // The bits of an operand as a value of `type` (an integer, i1 for predicates, half, float or double). Registers may
  // be wider than what an instruction takes of them.
  virtual llvm::Value* Read(const Operand& operand, llvm::Type* type) = 0;
  // Puts a value into the register that the operand names. Where the register is wider, integers are extended.
  virtual void Write(const Operand& operand, llvm::Value* value, bool is_signed) = 0;
  // The carry flag CC.CF, an i1.
  virtual llvm::Value* ReadCarry() = 0;
  virtual void WriteCarry(llvm::Value* carry) = 0;
};

class Emission {
 public:
  Emission(llvm::IRBuilder<>& builder, const Instruction& at, OperandAccess& access)
      : b(builder), at(at), access(access) {}

  llvm::IRBuilder<>& b;
  const Instruction& at;
  OperandAccess& access;

  bool Has(std::string_view modifier) const { return at.Has(modifier); }
  Type type() const { return at.LastType(); }
  size_t count() const { return at.operands.size(); }

  // half, float, double, i1 for predicates, and an integer of the width for everything else (bf16 and packed types
  // too).
  llvm::Type* TypeOf(const Type& type) const;
  llvm::Value* Read(size_t i, llvm::Type* type) { return access.Read(at.operands[i], type); }
  llvm::Value* In(size_t i, const Type& type) { return Read(i, TypeOf(type)); }
  llvm::Value* In(size_t i) { return In(i, type()); }
  llvm::Value* Bits(size_t i, unsigned bits) { return Read(i, b.getIntNTy(bits)); }
  llvm::Value* In32(size_t i) { return Bits(i, 32); }
  llvm::Value* Predicate(size_t i) { return Read(i, b.getInt1Ty()); }
  llvm::Value* Number(unsigned bits, uint64_t value) const;
  llvm::Value* Extend(llvm::Value* value, unsigned bits, bool is_signed) const;
  // A call of an intrinsic that has no overloads; null if LLVM has none of this name, or one with other operands.
  llvm::Value* Intrinsic(const std::string& name, llvm::ArrayRef<llvm::Value*> arguments) const;
  // A call of a function of the device's mathematical library, such as "__nv_sinf", from numbers of `type` to one.
  llvm::Value* Library(const std::string& name, llvm::Type* type, llvm::ArrayRef<llvm::Value*> arguments) const;
};

inline bool IsSigned(const Type& type) { return type.kind == TypeKind::kSigned; }
inline bool IsFloat(const Type& type) { return type.kind == TypeKind::kFloat; }

// Counts of the width or more shift everything out; the count has 32 bits.
llvm::Value* ShiftLeft(llvm::IRBuilder<>& b, llvm::Value* value, llvm::Value* count);
llvm::Value* ShiftRight(llvm::IRBuilder<>& b, llvm::Value* value, llvm::Value* count, bool is_signed);

// The value of the first destination. Each returns null if the instruction is not one of its own, or not known in this
// form; nothing useful has been emitted then.
llvm::Value* EmitInteger(Emission& e);
llvm::Value* EmitFloat(Emission& e);
llvm::Value* EmitConversion(Emission& e);
llvm::Value* EmitVideo(Emission& e);
// Instructions that compute from registers to registers, whatever they are: also those with two destinations. False if
// the instruction is none of them, or not known.
bool EmitComputation(Emission& e);

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_MEANING_EMISSION_H_
