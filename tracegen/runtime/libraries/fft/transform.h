// A plan of cuFFT, and the transform that it describes.
#ifndef HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_FFT_TRANSFORM_H_
#define HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_FFT_TRANSFORM_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "cufft.h"
#include "tracegen/runtime/libraries/stand_in.h"

namespace heddle::libraries {

constexpr int kMostDimensions = 3;

// Where elements lie: at batch * distance + ((x0 * embed[1] + x1) * embed[2] + x2) * stride, in elements of its type.
struct Placement {
  bool given = false;  // by the caller; else the usual one, which depends on whether a transform is in place
  int64_t embed[kMostDimensions] = {1, 1, 1};
  int64_t stride = 1;
  int64_t distance = 0;
};

struct Plan {
  cufftType type = CUFFT_C2C;
  int64_t n[kMostDimensions] = {1, 1, 1};  // the last one changes fastest; unused ones come first and are 1
  int64_t batches = 1;
  Placement in, out;
  cudaStream_t stream = nullptr;
  void* work[2] = {nullptr, nullptr};  // as many complex numbers as all transforms have, each

  int64_t elements() const { return n[0] * n[1] * n[2]; }
  bool is_double() const { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }
};

enum class Kind { kComplex, kFromReal, kToReal };

// Launches the kernels of all transforms of the plan. `sign`: of the exponent. T: float or double.
template <typename T>
cufftResult Transform(const Plan& plan, Kind kind, const void* in, void* out, int sign);

}  // namespace heddle::libraries

#endif  // HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_FFT_TRANSFORM_H_
