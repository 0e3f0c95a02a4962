// Operands of floating-point instructions, as values.
#ifndef HEDDLE_TRACEGEN_MACHINE_MEANING_FLOAT_OPERANDS_H_
#define HEDDLE_TRACEGEN_MACHINE_MEANING_FLOAT_OPERANDS_H_

#include <string>

#include "tracegen/machine/meaning/emission.h"

namespace heddle::tracegen::machine {

// Numbers of single and of double precision, with their signs.
llvm::Value* FloatIn(Emission& e, size_t k);
llvm::Value* DoubleIn(Emission& e, size_t k);
// 32 bits of a number of single precision, with its sign: nothing is computed with it.
llvm::Value* FloatBitsIn(Emission& e, size_t k);
// With .XORSIGN the smaller or larger magnitude gets the sign that both operands' signs give together. The modifiers
// that PTX has for it, or nothing; and the bits of such an operand, of which the text has the magnitude.
const char* XorSignModifier(const Emission& e);
llvm::Value* MagnitudeSource(Emission& e, size_t k);
// Two numbers of 16 bits, as a word; with `brain` they are bfloat16. In the text a pair of numbers takes two operands,
// so `at` is the place among all that are read, and moves on.
llvm::Value* PairIn(Emission& e, size_t* at, bool brain);

// ".rm.ftz.sat" of the instruction's modifiers, as PTX writes them; rounding to nearest only with `name_nearest`.
std::string PtxModifiers(const Emission& e, bool name_nearest = true);
// Writes a float, a double, or bits.
void OutFloat(Emission& e, llvm::Value* value);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_MEANING_FLOAT_OPERANDS_H_
