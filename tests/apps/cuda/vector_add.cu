// The smallest program: allocate, copy, launch (with the brackets apart), copy back.
#include "check.h"

__global__ void Add(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

int main() {
  const int n = 1000;
  float a[n], b[n], sum[n];
  for (int i = 0; i < n; ++i) {
    a[i] = i;
    b[i] = 0.5f * i;
  }
  float *device_a, *device_b, *device_sum;
  CALL(cudaMalloc(&device_a, sizeof(a)));
  CALL(cudaMalloc((void**)&device_b, sizeof(b)));
  CALL(cudaMalloc(&device_sum, sizeof(sum)));
  CALL(cudaMemcpy(device_a, a, sizeof(a), cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(device_b, b, sizeof(b), cudaMemcpyHostToDevice));
  Add<< <(n + 127) / 128, 128>> >(device_a, device_b, device_sum, n);
  CALL(cudaGetLastError());
  CALL(cudaMemcpy(sum, device_sum, sizeof(sum), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(sum[i] == 1.5f * i);
  CALL(cudaFree(device_a));
  CALL(cudaFree(device_b));
  CALL(cudaFree(device_sum));
  return Finish();
}
