// Shapes and types of the matrix instructions of a warp (PTX ISA 9.7.14: Warp Level Matrix Instructions).
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_MATRIX_SHAPES_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_MATRIX_SHAPES_H_

#include <cstdint>
#include <optional>

#include "proto/trace.pb.h"

namespace heddle::trace {

// Threads that a matrix instruction is of: those with the numbers 32 w to 32 w + 31 of a block, whatever the warps of a
// machine are.
inline constexpr uint32_t kMatrixThreads = 32;

// How the elements of matrices lie in registers: as the instruction set says (mma), or in fragments, of which it says
// only how many registers they have (wmma).
enum class MatrixForm : uint8_t { kRegisters, kFragments };

// Registers of each thread for the operands of a product: of 64 bits for F64, of 32 bits for everything else.
struct MatrixRegisters {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
};

// Bits of one element as it lies in a register: 32 for TF32. 0 for TYPE_UNSPECIFIED and numbers that are no type.
uint32_t MatrixElementBits(v1::Matrix::Type type);

// Of a product (role MULTIPLY) with this shape and these types; nothing if no instruction of the form has them.
// Of a sparse one, A's registers are those of the elements that are there.
std::optional<MatrixRegisters> RegistersOfProduct(MatrixForm form, const v1::Matrix& product);

// Registers of each thread for a fragment of type `a`, which role LOAD or STORE moves: those of A, B or C and D in a
// product of this shape. Nothing if no product of the form kFragments has such an operand; all that are not 0 are
// possible.
std::optional<MatrixRegisters> RegistersOfFragment(const v1::Matrix& move);

// Whether there is an instruction with this role, shape, types and number of tiles. `transposed` and the counts of
// registers are not looked at.
bool IsMatrixInstruction(const v1::Matrix& matrix);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_MATRIX_SHAPES_H_
