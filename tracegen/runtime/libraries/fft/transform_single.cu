// Fourier transforms of single precision.
#include "tracegen/runtime/libraries/fft/transform.cuh"

namespace heddle::libraries {

template <>
cufftResult Transform<float>(const Plan& plan, Kind kind, const void* in, void* out, int sign) {
  return TransformAll<float>(plan, kind, in, out, sign);
}

}  // namespace heddle::libraries
