// -use_fast_math, -maxrregcount and code without unrolled loops: results stay near.
// nvcc: -use_fast_math -maxrregcount=32 --no-unroll -Xptxas -v -lineinfo -gencode arch=compute_60,code=sm_60 -gencode arch=compute_75,code=[sm_75,compute_75]
#include "check.h"

__global__ void Polynomial(const float* x, float* out) {
  const float v = x[threadIdx.x];
  float sum = 0, power = 1;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    sum += power / (i + 1);
    power *= v;
  }
  out[threadIdx.x] = sum + sinf(v) * expf(-v) + sqrtf(v) / logf(v + 2);
}

int main() {
  const int n = 32;
  float host[n], back[n], *x, *out;
  for (int i = 0; i < n; ++i) host[i] = i / 40.0f;
  CALL(cudaMalloc(&x, sizeof(host)));
  CALL(cudaMalloc(&out, sizeof(host)));
  CALL(cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice));
  Polynomial<<<1, n>>>(x, out);
  CALL(cudaMemcpy(back, out, sizeof(back), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    double sum = 0, power = 1;
    for (int k = 0; k < 8; ++k, power *= host[i]) sum += power / (k + 1);
    EXPECT_NEAR(back[i], sum + sin(host[i]) * exp(-host[i]) + sqrt(host[i]) / log(host[i] + 2.0), 1e-4);
  }
  cudaDeviceProp properties;
  CALL(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.major == 7 && properties.minor == 5);
  return Finish();
}
