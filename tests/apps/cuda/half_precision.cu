// Half precision: conversions, arithmetic in scalars and pairs.
#include <cuda_fp16.h>

#include "check.h"

__global__ void Work(const float* x, float* out, int n) {
  const int i = threadIdx.x;
  const __half a = __float2half(x[i]), b = __float2half(0.5f);
  out[i] = __half2float(__hadd(__hmul(a, b), a));
  const __half2 pair = __floats2half2_rn(x[i], -x[i]);
  const __half2 sum = __hfma2(pair, __float2half2_rn(2.0f), __float2half2_rn(1.0f));
  out[n + i] = __low2float(sum) * 1000 + __high2float(sum);
  out[2 * n + i] = __hgt(a, b) ? 1.0f : 0.0f;
}

int main() {
  const int n = 32;
  float host[n], back[3 * n], *x, *out;
  for (int i = 0; i < n; ++i) host[i] = i * 0.125f;  // exact in half precision
  CALL(cudaMalloc(&x, sizeof(host)));
  CALL(cudaMalloc(&out, sizeof(back)));
  CALL(cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice));
  Work<<<1, n>>>(x, out, n);
  CALL(cudaMemcpy(back, out, sizeof(back), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    EXPECT(back[i] == 1.5f * host[i]);
    EXPECT(back[n + i] == (2 * host[i] + 1) * 1000 + (1 - 2 * host[i]));
    EXPECT(back[2 * n + i] == (host[i] > 0.5f ? 1.0f : 0.0f));
  }
  return Finish();
}
