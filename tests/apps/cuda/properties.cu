// What the device says of itself, of kernels, and of how many blocks fit.
#include <string.h>

#include "check.h"

__global__ void __launch_bounds__(256) Kernel(float* data) {
  __shared__ float tile[512];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

int main() {
  int count = 0, device = -1;
  CALL(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  CALL(cudaSetDevice(0));
  CALL(cudaGetDevice(&device));
  EXPECT(device == 0);
  EXPECT(cudaSetDevice(3) == cudaErrorInvalidDevice);
  cudaDeviceProp p;
  CALL(cudaGetDeviceProperties(&p, 0));
  EXPECT(p.major == 7 && p.minor == 0 && p.multiProcessorCount == 80 && p.warpSize == 32);
  EXPECT(p.maxThreadsPerBlock == 1024 && p.deviceOverlap == 1 && p.totalGlobalMem > (1u << 30));
  EXPECT(p.maxGridSize[0] == 2147483647 && p.sharedMemPerBlock == 49152 && p.canMapHostMemory == 1);
  EXPECT(strlen(p.name) > 0);
  int value;
  CALL(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
  EXPECT(value == p.maxThreadsPerMultiProcessor);
  CALL(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT(value == 7);
  int driver, runtime;
  CALL(cudaDriverGetVersion(&driver));
  CALL(cudaRuntimeGetVersion(&runtime));
  EXPECT(driver >= runtime && runtime == CUDART_VERSION);
  cudaFuncAttributes attributes;
  CALL(cudaFuncGetAttributes(&attributes, Kernel));
  EXPECT(attributes.sharedSizeBytes == 2048 && attributes.maxThreadsPerBlock == 256 && attributes.numRegs > 0);
  int blocks = 0;
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, Kernel, 256, 0));
  EXPECT(blocks == 8);  // 2048 threads
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, Kernel, 32, 14 << 10));
  EXPECT(blocks == 6);  // 96 KiB of shared memory
  int grid = 0, block = 0;
  CALL(cudaOccupancyMaxPotentialBlockSize(&grid, &block, Kernel));
  EXPECT(block == 256 && grid == 640);
  // What two devices can do together is asked in loops over all pairs of them.
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      if (i != j) CALL(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, i, j));
    }
  }
  EXPECT(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrPerformanceRank, 0, 0) == cudaErrorInvalidDevice);
  EXPECT(cudaDeviceGetP2PAttribute(nullptr, cudaDevP2PAttrPerformanceRank, 0, 1) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  CALL(cudaSetDevice(0));
  EXPECT(cudaSetDevice(3) == cudaErrorInvalidDevice);
  size_t heap;
  CALL(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  CALL(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
  EXPECT(heap == 32 << 20);
  CALL(cudaFuncSetCacheConfig(Kernel, cudaFuncCachePreferShared));
  CALL(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
  cudaSharedMemConfig banks;
  CALL(cudaDeviceGetSharedMemConfig(&banks));
  EXPECT(banks == cudaSharedMemBankSizeEightByte);
  float* data;
  CALL(cudaMalloc(&data, 1024));
  Kernel<<<1, 256>>>(data);
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);  // of cudaSetDevice(3): it stays until it is asked for
  EXPECT(cudaGetLastError() == cudaSuccess);
  CALL(cudaDeviceSynchronize());
  return Finish();
}
