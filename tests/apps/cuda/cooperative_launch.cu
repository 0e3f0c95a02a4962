// Cooperative launches: what the device is said to hold can run, and what cannot be live at once here is refused before
// it begins. (A device has room for 160 blocks of 1024 threads.)
// native: HEDDLE_RESIDENT_BLOCKS=4
// capture: --resident-blocks 4
#include <cooperative_groups.h>

#include "check.h"

__global__ void Meets(int* a) {
  atomicAdd(a, 1);
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) a[1] = a[0];
}

__global__ void MeetsNobody(int* a) { atomicAdd(a, 1); }

template <typename Kernel>
int Occupancy(Kernel* kernel, int threads) {
  int blocks = 0;
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
  return blocks;
}

int main() {
  int multiprocessors, *a, host[2];
  CALL(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  EXPECT(multiprocessors == 80);
  CALL(cudaMalloc(&a, sizeof(host)));
  CALL(cudaMemset(a, 0, sizeof(host)));
  void* arguments[] = {&a};
  CALL(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(Meets), 4, 64, arguments, 0, 0));
  CALL(cudaMemcpy(host, a, sizeof(host), cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 256 && host[1] == 256);
  // 49,152 threads can be live.
  EXPECT(Occupancy(MeetsNobody, 256) == 8 && Occupancy(Meets, 256) == 2);
  EXPECT(Occupancy(MeetsNobody, 1024) == 2 && Occupancy(Meets, 1024) == 1);
  EXPECT(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(Meets), 80, 1024, arguments, 0, 0) ==
         cudaErrorCooperativeLaunchTooLarge);
  EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge && cudaGetLastError() == cudaSuccess);
  CALL(cudaDeviceSynchronize());
  CALL(cudaMemcpy(host, a, sizeof(host), cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 256);
  // Blocks that do not meet need not be live together; but a device holds no more.
  CALL(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(MeetsNobody), 160, 1024, arguments, 0, 0));
  EXPECT(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(MeetsNobody), 161, 1024, arguments, 0, 0) ==
         cudaErrorCooperativeLaunchTooLarge);
  EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  CALL(cudaMemcpy(host, a, sizeof(host), cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 256 + 160 * 1024);
  return Finish();
}
