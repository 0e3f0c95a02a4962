// A kernel that runs from mapped memory into addresses that are reserved, but where nothing is mapped. As on a device,
// the launch itself succeeds, whichever function launches; what comes behind it fails.
// faults: in reserved addresses where no memory is mapped
#include <cuda.h>

#include "check.h"

#define DRIVER(call) EXPECT((call) == CUDA_SUCCESS)

__global__ void Add(int* values) { values[threadIdx.x] += 1; }

int main() {
  DRIVER(cuInit(0));
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  const size_t piece = 2 << 20;
  CUdeviceptr place = 0;
  CUmemGenericAllocationHandle memory;
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  DRIVER(cuMemAddressReserve(&place, 2 * piece, 0, 0, 0));
  DRIVER(cuMemCreate(&memory, piece, &properties, 0));
  DRIVER(cuMemMap(place, piece, 0, memory, 0));
  DRIVER(cuMemSetAccess(place, piece, &access, 1));
  int* end = reinterpret_cast<int*>(place + piece);
  Add<<<1, 32>>>(end - 32);
  CALL(cudaDeviceSynchronize());
  cudaFunction_t add;
  CALL(cudaGetFuncBySymbol(&add, reinterpret_cast<const void*>(Add)));
  int* start = end - 32;
  void* arguments[] = {&start};
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 64;
  const auto function = reinterpret_cast<CUfunction>(add);
  DRIVER(cuLaunchKernelEx(&config, function, arguments, nullptr));
  EXPECT(cuLaunchKernelEx(&config, function, arguments, nullptr) != CUDA_SUCCESS);
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) != CUDA_SUCCESS);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress || cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  return Finish();
}
