// A scalar that a kernel takes by value or from device memory, as cuBLAS's pointer mode says.
#ifndef HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_SCALAR_CUH_
#define HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_SCALAR_CUH_

#include "tracegen/runtime/libraries/blas/context.h"

namespace heddle::libraries {

template <typename T>
struct Scalar {
  T value = T(0);
  const void* device = nullptr;  // if not null, the value is there
  bool half = false;             // it is of type half there

  __device__ T Get() const {
    if (device == nullptr) return value;
    return half ? static_cast<T>(__half2float(*static_cast<const __half*>(device))) : *static_cast<const T*>(device);
  }
};

// The scalar that a caller hands in; `half`: it is one of that type.
template <typename T>
Scalar<T> MakeScalar(cublasPointerMode_t mode, const void* at, bool half = false) {
  Scalar<T> scalar;
  scalar.half = half;
  if (mode == CUBLAS_POINTER_MODE_DEVICE) {
    scalar.device = at;
  } else {
    scalar.value = half ? static_cast<T>(__half2float(*static_cast<const __half*>(at))) : *static_cast<const T*>(at);
  }
  return scalar;
}

}  // namespace heddle::libraries

#endif  // HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_SCALAR_CUH_
