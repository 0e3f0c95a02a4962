// Host code that needs the C++ library, beside a kernel.
#include <cuda_runtime.h>

#include <stdexcept>
#include <vector>

static __constant__ int one = 1;
static __global__ void SquareKernel(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = values[i] * values[i] + one;
}

extern "C" int Square(int* values, int count) try {
  const std::vector<int> copy(values, values + count);
  int* device = nullptr;
  if (cudaMalloc(&device, count * sizeof(int)) != cudaSuccess) throw std::runtime_error("no memory");
  cudaMemcpy(device, copy.data(), count * sizeof(int), cudaMemcpyHostToDevice);
  SquareKernel<<<(count + 31) / 32, 32>>>(device, count);
  const cudaError_t status = cudaMemcpy(values, device, count * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return status;
} catch (const std::exception&) {
  return 1;
}
