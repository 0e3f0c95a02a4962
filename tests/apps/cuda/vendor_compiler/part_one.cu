// One half of a program of relocatable device code: what it calls is in part_two.cu.
#include <stdio.h>

extern __device__ int shared_value;
__device__ int Twice(int value);

static __global__ void Kernel(int* data) { data[threadIdx.x] = Twice(threadIdx.x) + shared_value; }

int main() {
  int *device, host[32], bad = 0;
  cudaMalloc(&device, sizeof(host));
  Kernel<<<1, 32>>>(device);
  cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) bad += host[i] != 2 * i + 11;
  printf("%d wrong, %s\n", bad, cudaGetErrorString(cudaGetLastError()));
  return bad != 0;
}
