// A program that the vendor's compiler has made into an object: launches, variables of all kinds, printf, templates.
#include <math.h>
#include <stdio.h>

__device__ int factor = 5;
__managed__ int offset = 7;
__constant__ float weights[4] = {1, 2, 3, 4};

template <typename T>
__global__ void Scale(T* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = i * factor + offset;
}

__global__ void Turn(float* data, int count) {
  extern __shared__ float line[];
  const int i = threadIdx.x;
  line[i] = data[i];
  __syncthreads();
  data[i] = line[count - 1 - i] * weights[i % 4] + sinf(data[i]);
  if (i == 3) printf("thread %d of %d\n", i, count);
}

int main() {
  int bad = 0;
  offset = 9;
  int *device, host[100];
  cudaMalloc(&device, sizeof(host));
  Scale<int><<<2, 64>>>(device, 100);
  cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 100; ++i) bad += host[i] != 5 * i + 9;
  const float changed[4] = {5, 6, 7, 8};
  float before[64], after[64], *floats;
  for (int i = 0; i < 64; ++i) before[i] = i * 0.25f;
  cudaMalloc(&floats, sizeof(before));
  cudaMemcpy(floats, before, sizeof(before), cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(weights, changed, sizeof(changed));
  Turn<<<1, 64, sizeof(before)>>>(floats, 64);
  cudaMemcpy(after, floats, sizeof(after), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) {
    bad += !(fabsf(after[i] - (before[63 - i] * changed[i % 4] + sinf(before[i]))) < 1e-5f);
  }
  printf("%d wrong, %s\n", bad, cudaGetErrorString(cudaGetLastError()));
  return bad != 0;
}
