// Errors: which calls fail, with what, and how long an error lasts.
#include <string.h>

#include "check.h"

__global__ void Nothing() {}
__global__ void __launch_bounds__(64) Small(int* p) { *p = 1; }
extern __shared__ char dynamic[];
__global__ void Shared(int* p) {
  dynamic[threadIdx.x] = 3;
  *p = dynamic[0];
}

int main() {
  EXPECT(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
  EXPECT(strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") == 0);
  EXPECT(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
  int* p = NULL;
  EXPECT(cudaMalloc(&p, static_cast<size_t>(1) << 50) == cudaErrorMemoryAllocation);
  EXPECT(p == NULL);
  EXPECT(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError() == cudaSuccess);
  Nothing<<<0, 32>>>();
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  Nothing<<<1, 2048>>>();
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CALL(cudaMalloc(&p, 16));
  Small<<<1, 128>>>(p);
  EXPECT(cudaGetLastError() != cudaSuccess);
  Shared<<<1, 32, 60 << 10>>>(p);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  CALL(cudaFuncSetAttribute(Shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 << 10));
  Shared<<<1, 32, 60 << 10>>>(p);
  EXPECT(cudaGetLastError() == cudaSuccess);
  int host = 0;
  CALL(cudaMemcpy(&host, p, sizeof(host), cudaMemcpyDeviceToHost));
  EXPECT(host == 3);
  EXPECT(cudaMemcpy(&host, p, 64, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(p, &host, 4, static_cast<cudaMemcpyKind>(9)) == cudaErrorInvalidMemcpyDirection);
  EXPECT(cudaFree(p + 1) == cudaErrorInvalidDevicePointer);
  CALL(cudaFree(p));
  CALL(cudaFree(0));
  EXPECT(cudaFree(p) == cudaErrorInvalidDevicePointer);
  EXPECT(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  EXPECT(cudaLaunchKernel(reinterpret_cast<const void*>(&strlen), dim3(1), dim3(1), NULL, 0, 0) ==
         cudaErrorInvalidDeviceFunction);
  EXPECT(cudaLaunchKernel(reinterpret_cast<const void*>(&Small), dim3(1), dim3(1), NULL, 0, 0) ==
         cudaErrorInvalidValue);  // it takes an argument
  return Finish();
}
