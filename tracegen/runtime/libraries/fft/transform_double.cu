// Fourier transforms of double precision.
#include "tracegen/runtime/libraries/fft/transform.cuh"

namespace heddle::libraries {

template <>
cufftResult Transform<double>(const Plan& plan, Kind kind, const void* in, void* out, int sign) {
  return TransformAll<double>(plan, kind, in, out, sign);
}

}  // namespace heddle::libraries
