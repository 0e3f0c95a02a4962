// A device with fewer multiprocessors than its model, for programs that fill it with blocks which meet at a barrier.
// native: HEDDLE_RESIDENT_BLOCKS=6
// capture: --resident-blocks 6
#include <cooperative_groups.h>

#include "check.h"

__global__ void Meets(int* a) {
  atomicAdd(a, 1);
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) a[1] = a[0];
}

int main() {
  setenv("HEDDLE_MULTIPROCESSORS", "3", 1);  // before the first call
  cudaDeviceProp properties;
  CALL(cudaGetDeviceProperties(&properties, 0));
  int per_multiprocessor = 0, *a, host[2];
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, Meets, 1024, 0));
  EXPECT(properties.multiProcessorCount == 3 && per_multiprocessor == 2);
  const int blocks = per_multiprocessor * properties.multiProcessorCount;
  CALL(cudaMalloc(&a, sizeof(host)));
  CALL(cudaMemset(a, 0, sizeof(host)));
  void* arguments[] = {&a};
  CALL(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(Meets), blocks, 1024, arguments, 0, 0));
  CALL(cudaMemcpy(host, a, sizeof(host), cudaMemcpyDeviceToHost));
  EXPECT(host[1] == blocks * 1024);
  EXPECT(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(Meets), blocks + 1, 1024, arguments, 0, 0) ==
         cudaErrorCooperativeLaunchTooLarge);
  return Finish();
}
