// What a handle of cuBLAS is, and how its functions begin and end.
#ifndef HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_CONTEXT_H_
#define HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_CONTEXT_H_

#include <cuda_runtime.h>

#include "heddle_cublas_types.h"
#include "tracegen/runtime/libraries/stand_in.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
  void* scratch = nullptr;  // kScratchBytes on the device, for partial results
};

namespace heddle::libraries {

inline constexpr int kReductionBlocks = 64;  // at most
inline constexpr size_t kScratchBytes = (kReductionBlocks + 1) * 16;

// After launches.
inline cublasStatus_t Launched() {
  return cudaGetLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace heddle::libraries

#endif  // HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_CONTEXT_H_
