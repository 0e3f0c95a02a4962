// Packed elements of matrices as numbers to compute with, and back.
#ifndef HEDDLE_TRACEGEN_MATRIX_NUMBERS_H_
#define HEDDLE_TRACEGEN_MATRIX_NUMBERS_H_

#include <cstddef>
#include <cstdint>

#include "tracegen/matrix/operation.h"

namespace heddle::tracegen {

// Elements side by side, the first in the lowest bits, as single-precision numbers, exactly. `count` is a multiple of
// 8; `type` is F16, BF16, TF32, F32, E4M3 or E5M2.
void UnpackSingles(MatrixOperation::Type type, const uint32_t* packed, size_t count, float* numbers);
// Single-precision numbers as F16 or F32, to nearest with ties to even. `count` is a multiple of 8.
void PackSingles(MatrixOperation::Type type, const float* numbers, size_t count, uint32_t* packed);
// Elements of type S8, U8, S4, U4 or S32.
void UnpackWholes(MatrixOperation::Type type, const uint32_t* packed, size_t count, int32_t* numbers);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_MATRIX_NUMBERS_H_
