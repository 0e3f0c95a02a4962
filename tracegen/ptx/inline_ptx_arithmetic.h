// Arithmetic of inline PTX as IR.
#ifndef HEDDLE_TRACEGEN_PTX_INLINE_PTX_ARITHMETIC_H_
#define HEDDLE_TRACEGEN_PTX_INLINE_PTX_ARITHMETIC_H_

#include "tracegen/ptx/inline_ptx_operands.h"

namespace heddle::tracegen {

// The instructions that make one value of others (PTX ISA 7.0, chapter 9).
class InlinePtxArithmetic : public InlinePtxOperands {
 public:
  using InlinePtxOperands::InlinePtxOperands;

 protected:
  // The value of the instruction; null if it is none of arithmetic.
  llvm::Value* Arithmetic() { return Type().is_float ? Floating() : Integral(); }

  llvm::Value* Extend(llvm::Value* value, unsigned bits, bool is_signed);
  // A floating-point value between 0 and 1, where the instruction says .sat.
  llvm::Value* Saturate(llvm::Value* value);
  // A zero of the same sign for a subnormal number of single precision, where the instruction says .ftz.
  llvm::Value* Flush(llvm::Value* value);

 private:
  llvm::Value* Floating();
  llvm::Value* Integral();

  // Shifts by any count, as PTX has them: by the width or more, nothing or only the sign is left.
  llvm::Value* ShiftLeft(llvm::Value* value, llvm::Value* count);
  llvm::Value* ShiftRight(llvm::Value* value, llvm::Value* count, bool is_signed);
  llvm::Value* LeadingZeros(llvm::Value* value);
  llvm::Value* Minimum(llvm::Value* a, llvm::Value* b, bool least);
  // The carry of the instruction before, where this one takes it, in `bits`.
  llvm::Value* CarryIn(bool takes, unsigned bits);
  llvm::Value* Sum();
  llvm::Value* Product();
  llvm::Value* Product24();
  llvm::Value* ExtractField();
  llvm::Value* InsertField();
  llvm::Value* ThreeInputLogic();
  llvm::Value* FunnelShift();
  llvm::Value* Permute();
  // A dot product of bytes with bytes or halves, added to a third operand.
  llvm::Value* DotProduct();
  // Part `i` of a word that has parts of `bits`, as 32 bits.
  llvm::Value* Lane(llvm::Value* word, unsigned i, unsigned bits, bool is_signed);
  // vadd4, vmin2 ...: the same for all bytes or halves of two words.
  llvm::Value* Lanes(const std::string& operation);

  llvm::Value* carry_ = nullptr;  // of the last instruction with .cc
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PTX_INLINE_PTX_ARITHMETIC_H_
