// Mathematical functions in both precisions, against the host's.
#include "check.h"

#define FUNCTIONS(X)                                                                                                \
  X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(exp) X(exp2) X(expm1) X(log) X(log2)       \
  X(log10) X(log1p) X(sqrt) X(cbrt) X(erf) X(erfc) X(tgamma) X(lgamma) X(floor) X(ceil) X(round) X(trunc) X(rint)   \
  X(fabs)

enum {
#define NUMBER(name) k_##name,
  FUNCTIONS(NUMBER)
#undef NUMBER
      kFunctions
};

__global__ void Double(const double* x, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#define APPLY(name) out[k_##name * n + i] = name(x[i]);
  FUNCTIONS(APPLY)
#undef APPLY
}
__global__ void Single(const double* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#define APPLY(name) out[k_##name * n + i] = name##f(static_cast<float>(x[i]));
  FUNCTIONS(APPLY)
#undef APPLY
}
__global__ void Pairs(const double* x, double* out, int n) {
  const int i = threadIdx.x;
  out[i] = pow(x[i], 1.5) + atan2(x[i], 2.0) + fmod(10.0, x[i]) + hypot(x[i], 3.0);
  out[n + i] = fma(x[i], 2.0, 1.0) + fmax(x[i], 0.4) + copysign(x[i], -1.0) + rsqrt(x[i]);
  float s, c;
  sincosf(static_cast<float>(x[i]), &s, &c);
  out[2 * n + i] = s * s + c * c + __expf(0.0f) + __fdividef(6.0f, 3.0f) + max(1, 2) + min(2.5f, 3.5f);
}

int main() {
  const int n = 24;
  double x[n], *device_x, *doubles;
  float* singles;
  for (int i = 0; i < n; ++i) x[i] = 0.03 + i * 0.04;  // inside every function's domain
  static double got[kFunctions * n];
  static float got_single[kFunctions * n];
  CALL(cudaMalloc(&device_x, sizeof(x)));
  CALL(cudaMalloc(&doubles, sizeof(got)));
  CALL(cudaMalloc(&singles, sizeof(got_single)));
  CALL(cudaMemcpy(device_x, x, sizeof(x), cudaMemcpyHostToDevice));
  Double<<<1, 32>>>(device_x, doubles, n);
  Single<<<1, 32>>>(device_x, singles, n);
  CALL(cudaMemcpy(got, doubles, sizeof(got), cudaMemcpyDeviceToHost));
  CALL(cudaMemcpy(got_single, singles, sizeof(got_single), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
#define COMPARE(name)                                                                       \
  EXPECT_NEAR(got[k_##name * n + i], name(x[i]), 1e-12 * (1 + fabs(name(x[i]))));           \
  EXPECT_NEAR(got_single[k_##name * n + i], name((float)x[i]), 2e-6 * (1 + fabs(name(x[i]))));
    FUNCTIONS(COMPARE)
#undef COMPARE
  }
  Pairs<<<1, n>>>(device_x, doubles, n);
  CALL(cudaMemcpy(got, doubles, 3 * n * sizeof(double), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    EXPECT_NEAR(got[i], pow(x[i], 1.5) + atan2(x[i], 2.0) + fmod(10.0, x[i]) + hypot(x[i], 3.0), 1e-12);
    EXPECT_NEAR(got[n + i], 2 * x[i] + 1 + fmax(x[i], 0.4) - x[i] + 1 / sqrt(x[i]), 1e-12);
    EXPECT_NEAR(got[2 * n + i], 1 + 1 + 2 + 2 + 2.5, 1e-5);
  }
  return Finish();
}
