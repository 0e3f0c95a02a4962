// Complex numbers (cuComplex.h), on both sides.
#include <cuComplex.h>

#include <complex>

#include "check.h"

struct Results {
  cuFloatComplex product, quotient, fused;
  cuDoubleComplex sum, difference, ratio;
  float absolute;
  double large, zero;
};
__host__ __device__ Results Compute(float x, float y) {
  const cuFloatComplex a = make_cuFloatComplex(x, y), b = make_cuComplex(0.5f, -2.0f);
  const cuDoubleComplex c = make_cuDoubleComplex(x, -y), d = cuComplexFloatToDouble(b);
  Results r;
  r.product = cuCmulf(a, b);
  r.quotient = cuCdivf(a, b);
  r.fused = cuCfmaf(a, b, cuConjf(a));
  r.sum = cuCadd(c, d);
  r.difference = cuCsub(c, cuConj(d));
  r.ratio = cuCdiv(c, make_cuDoubleComplex(1e200, 1e200));  // whose square is no number
  r.absolute = cuCabsf(a);
  r.large = cuCabs(make_cuDoubleComplex(3e200, -4e200));
  r.zero = cuCabs(make_cuDoubleComplex(0, 0));
  return r;
}
__global__ void Work(Results* out) { out[threadIdx.x] = Compute(threadIdx.x, 1.5f); }

int main() {
  const int n = 32;
  Results* out;
  CALL(cudaMallocManaged(&out, n * sizeof(Results)));
  Work<<<1, n>>>(out);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    const std::complex<double> a(i, 1.5), b(0.5, -2), c = std::conj(a);
    const Results host = Compute(i, 1.5f);
    for (const Results& r : {out[i], host}) {
      EXPECT(cuCrealf(r.product) == (a * b).real() && cuCimagf(r.product) == (a * b).imag());
      EXPECT_NEAR(r.quotient.x, (a / b).real(), 1e-5);
      EXPECT_NEAR(r.quotient.y, (a / b).imag(), 1e-5);
      EXPECT(r.fused.x == (a * b + c).real() && r.fused.y == (a * b + c).imag());
      EXPECT(cuCreal(r.sum) == (c + b).real() && cuCimag(r.sum) == (c + b).imag());
      EXPECT(r.difference.x == (c - std::conj(b)).real() && r.difference.y == (c - std::conj(b)).imag());
      EXPECT_NEAR(r.ratio.x * 1e200, (i - 1.5) / 2, 1e-10);
      EXPECT_NEAR(r.ratio.y * 1e200, (-1.5 - i) / 2, 1e-10);
      EXPECT_NEAR(r.absolute, std::abs(a), 1e-5);
      EXPECT_NEAR(r.large / 1e200, 5, 1e-14);
      EXPECT(r.zero == 0);
    }
  }
  return Finish();
}
