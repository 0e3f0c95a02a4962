// Numbers in formats that the host does not compute in: what becomes of them and what they become, as LLVM IR.
#ifndef HEDDLE_TRACEGEN_PTX_MEANING_ROUNDING_H_
#define HEDDLE_TRACEGEN_PTX_MEANING_ROUNDING_H_

#include "llvm/IR/IRBuilder.h"
#include "tracegen/ptx/meaning/emission.h"

namespace heddle::tracegen::ptx {

// How an instruction rounds.
enum class Round { kNearest, kZero, kDown, kUp };
Round RoundOf(const Instruction& at);
// "rn", "rz", "rm", "rp".
const char* NameOf(Round round);

// Subnormal numbers of single or half precision become zero with their sign.
llvm::Value* FlushSubnormal(llvm::IRBuilder<>& b, llvm::Value* value);
// Between 0 and 1; NaN becomes 0.
llvm::Value* SaturateToOne(llvm::IRBuilder<>& b, llvm::Value* value);
// Negative numbers become 0; NaN stays.
llvm::Value* ClampNegative(llvm::IRBuilder<>& b, llvm::Value* value);
// PTX's min and max (ISA 9.7.3): of a number and NaN the number, or NaN with `propagate`; -0 is less than +0. Operands
// may be vectors.
llvm::Value* LeastOrMost(llvm::IRBuilder<>& b, bool least, bool propagate, llvm::Value* a, llvm::Value* c);

// A double as a float that rounds to every narrower format as the double would: inexact results are odd.
llvm::Value* ToOddFloat(llvm::IRBuilder<>& b, llvm::Value* value);
// A float in a format of 16 bits, as its bits: half precision, or bfloat16 with `brain`.
llvm::Value* ToNarrow(llvm::IRBuilder<>& b, llvm::Value* value, bool brain, Round round);
// The bits of a number of 16 bits as a float, which holds it exactly.
llvm::Value* FromNarrow(llvm::IRBuilder<>& b, llvm::Value* bits, bool brain);
// A float as an 8-bit number, in an integer of 32 bits: E5M2 with `wide_range`, else E4M3. To nearest, ties to even;
// what is beyond the largest number becomes that, and NaN 0x7f.
llvm::Value* ToByte(llvm::IRBuilder<>& b, llvm::Value* value, bool wide_range);
// Such a number, in an integer of 32 bits, as the 16 bits of one of half precision.
llvm::Value* FromByte(llvm::IRBuilder<>& b, llvm::Value* byte, bool wide_range);

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_MEANING_ROUNDING_H_
