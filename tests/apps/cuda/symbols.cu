// Variables of the device: constant and global, static and not, reached by address, by name and through copies.
#include "check.h"

__constant__ float coefficients[4];
__device__ int counter = 5;
static __device__ unsigned long long sums[2];
static __constant__ int offsets[3] = {10, 20, 30};
__device__ const float table[3] = {1.5f, 2.5f, 3.5f};

__global__ void Use(float* out, int* counts) {
  const int i = threadIdx.x;
  out[i] = coefficients[i % 4] * i + offsets[i % 3] + table[i % 3];
  if (i == 0) {
    counts[0] = counter;
    counter = 77;
  }
  atomicAdd(&sums[i & 1], static_cast<unsigned long long>(i));
}

int main() {
  const float values[4] = {1, 2, 3, 4};
  CALL(cudaMemcpyToSymbol(coefficients, values, sizeof(values)));
  const float third = 30;
  CALL(cudaMemcpyToSymbol(coefficients, &third, sizeof(third), 2 * sizeof(float)));
  float* out;
  int* counts;
  CALL(cudaMalloc(&out, 32 * sizeof(float)));
  CALL(cudaMalloc(&counts, sizeof(int)));
  Use<<<1, 32>>>(out, counts);
  float host[32];
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  const float expected[4] = {1, 2, 30, 4};
  for (int i = 0; i < 32; ++i) EXPECT(host[i] == expected[i % 4] * i + (i % 3 + 1) * 10 + 1.5f + i % 3);
  int first, now;
  CALL(cudaMemcpy(&first, counts, sizeof(first), cudaMemcpyDeviceToHost));
  CALL(cudaMemcpyFromSymbol(&now, counter, sizeof(now)));
  EXPECT(first == 5 && now == 77);
  unsigned long long totals[2];
  CALL(cudaMemcpyFromSymbol(totals, sums, sizeof(totals)));
  EXPECT(totals[0] == 240 && totals[1] == 256);
  // The address of a variable is a device pointer like others.
  void* address;
  size_t size;
  CALL(cudaGetSymbolAddress(&address, counter));
  CALL(cudaGetSymbolSize(&size, offsets));
  EXPECT(size == 12);
  const int changed = -1;
  CALL(cudaMemcpy(address, &changed, sizeof(changed), cudaMemcpyHostToDevice));
  Use<<<1, 32>>>(out, counts);
  CALL(cudaMemcpy(&first, counts, sizeof(first), cudaMemcpyDeviceToHost));
  EXPECT(first == -1);
  // Before CUDA 5: by name.
  const float zeros[4] = {0, 0, 0, 0};
  CALL(cudaMemcpyToSymbol((const void*)"coefficients", zeros, sizeof(zeros)));
  Use<<<1, 32>>>(out, counts);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  EXPECT(host[5] == 30 + 3.5f);
  EXPECT(cudaMemcpyToSymbol((const void*)"no_such_symbol", zeros, 4) == cudaErrorInvalidSymbol);
  EXPECT(cudaGetLastError() == cudaErrorInvalidSymbol);
  EXPECT(cudaMemcpyToSymbol(coefficients, values, 20) == cudaErrorInvalidValue);
  cudaGetLastError();
  return Finish();
}
