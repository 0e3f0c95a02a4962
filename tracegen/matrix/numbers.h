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
// Elements of type S8, U8, S4 or U4.
void UnpackWholes(MatrixOperation::Type type, const uint32_t* packed, size_t count, float* numbers);

// From `rows` lines of `columns` numbers to `columns` lines of `rows`.
void Transpose(const float* from, uint32_t rows, uint32_t columns, float* to);
void Transpose(const double* from, uint32_t rows, uint32_t columns, double* to);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_MATRIX_NUMBERS_H_
