// What a matrix instruction does once the lanes of its warp have met.
#ifndef HEDDLE_TRACEGEN_MATRIX_EXECUTE_H_
#define HEDDLE_TRACEGEN_MATRIX_EXECUTE_H_

#include <cstdint>

#include "tracegen/matrix/lane_registers.h"

namespace heddle::tracegen {

// Executes the operation that `code` stands for (Encode). `lanes` has the registers of 32 lanes; those that are not in
// `present` bring zeros, and load and store nothing. Addresses are the host's: a bad one faults.
//
// Products of floating-point numbers are exact. They are added to the element of C one after the other, in ascending
// order of k, with one rounding to single precision (double precision: to that) for each, to nearest with ties to even;
// the last sum is rounded once more if D is in half precision. Denormals count. Of TF32 the lower 13 bits are ignored.
// Sums of whole numbers are exact, and wrap or saturate at the end.
void ExecuteMatrixOperation(uint64_t code, uint32_t present, LaneRegisters* lanes);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_MATRIX_EXECUTE_H_
