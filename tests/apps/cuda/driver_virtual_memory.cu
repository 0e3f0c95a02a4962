// Addresses and memory apart: a vector that grows in place and by moving, and what is refused.
#include <cuda.h>

#include "check.h"

#define DRIVER(call) EXPECT((call) == CUDA_SUCCESS)

__global__ void Add(int* values, int count, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += by;
}

int main() {
  DRIVER(cuInit(0));
  int supported = 0;
  DRIVER(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  EXPECT(supported == 1);
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = 0;
  size_t piece = 0, free_before, free_after, total;
  DRIVER(cuMemGetAllocationGranularity(&piece, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT(piece == 2 << 20);
  DRIVER(cuMemGetInfo(&free_before, &total));
  CUdeviceptr place = 0, next = 0;
  DRIVER(cuMemAddressReserve(&place, 4 * piece, 0, 0, 0));
  EXPECT(place % piece == 0);
  EXPECT(cuMemAddressReserve(&next, 5, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  CUmemGenericAllocationHandle first, second;
  DRIVER(cuMemCreate(&first, piece, &properties, 0));
  // Memory that is to be compressed is not, and says so.
  properties.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
  DRIVER(cuMemCreate(&second, 2 * piece, &properties, 0));
  CUmemAllocationProp given = {};
  DRIVER(cuMemGetAllocationPropertiesFromHandle(&given, second));
  EXPECT(given.allocFlags.compressionType == CU_MEM_ALLOCATION_COMP_NONE);
  properties.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE;
  EXPECT(cuMemCreate(&second, piece + 1, &properties, 0) == CUDA_ERROR_INVALID_VALUE);
  DRIVER(cuMemMap(place, piece, 0, first, 0));
  EXPECT(cuMemMap(place, piece, 0, second, 0) == CUDA_ERROR_INVALID_VALUE);                  // taken
  EXPECT(cuMemMap(place + piece, piece, 0, first, 0) == CUDA_ERROR_NOT_SUPPORTED);           // twice
  EXPECT(cuMemMap(place + 3 * piece, 2 * piece, 0, second, 0) == CUDA_ERROR_INVALID_VALUE);  // beyond the end
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  EXPECT(cuMemcpyHtoD(place, &supported, sizeof(int)) == CUDA_ERROR_INVALID_VALUE);  // not allowed yet
  DRIVER(cuMemSetAccess(place, piece, &access, 1));
  const int in_piece = static_cast<int>(piece / sizeof(int));
  int* values = reinterpret_cast<int*>(place);
  Add<<<in_piece / 1024, 1024>>>(values, in_piece, 5);
  DRIVER(cuCtxSynchronize());
  // Grows in place: kernels and copies go over both pieces.
  DRIVER(cuMemMap(place + piece, 2 * piece, 0, second, 0));
  DRIVER(cuMemSetAccess(place + piece, 2 * piece, &access, 1));
  Add<<<3 * in_piece / 1024, 1024>>>(values, 3 * in_piece, 2);
  DRIVER(cuCtxSynchronize());
  int* host = static_cast<int*>(malloc(3 * piece));
  DRIVER(cuMemcpyDtoH(host, place, 3 * piece));
  EXPECT(host[0] == 7 && host[in_piece - 1] == 7 && host[in_piece] == 2 && host[3 * in_piece - 1] == 2);
  EXPECT(cuMemcpyDtoH(host, place + piece, 3 * piece) == CUDA_ERROR_INVALID_VALUE);
  unsigned long long flags = 0;
  DRIVER(cuMemGetAccess(&flags, &properties.location, place + 5));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  DRIVER(cuMemGetInfo(&free_after, &total));
  EXPECT(free_before - free_after == 3 * piece);
  // Moves: contents stay with the memory.
  CUmemGenericAllocationHandle again;
  DRIVER(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(place + piece)));
  EXPECT(again == second);
  DRIVER(cuMemRelease(again));
  EXPECT(cuMemUnmap(place, 2 * piece) == CUDA_ERROR_INVALID_VALUE);  // half of a mapping
  EXPECT(cuMemAddressFree(place, 4 * piece) == CUDA_ERROR_INVALID_VALUE);
  DRIVER(cuMemUnmap(place, 3 * piece));
  DRIVER(cuMemAddressReserve(&next, 3 * piece, 0, place + 4 * piece, 0));
  EXPECT(next == place + 4 * piece);
  DRIVER(cuMemMap(next, 2 * piece, 0, second, 0));
  DRIVER(cuMemMap(next + 2 * piece, piece, 0, first, 0));
  DRIVER(cuMemSetAccess(next, 3 * piece, &access, 1));
  DRIVER(cuMemcpyDtoH(host, next, 3 * piece));
  EXPECT(host[0] == 2 && host[2 * in_piece - 1] == 2 && host[2 * in_piece] == 7);
  // What is not mapped keeps its contents, too.
  DRIVER(cuMemUnmap(next, 2 * piece));
  DRIVER(cuMemMap(next, piece, 0, second, 0));
  DRIVER(cuMemSetAccess(next, piece, &access, 1));
  Add<<<in_piece / 1024, 1024>>>(reinterpret_cast<int*>(next), in_piece, 40);
  DRIVER(cuCtxSynchronize());
  DRIVER(cuMemUnmap(next, piece));
  DRIVER(cuMemMap(next, 2 * piece, 0, second, 0));
  DRIVER(cuMemSetAccess(next, 2 * piece, &access, 1));
  DRIVER(cuMemcpyDtoH(host, next, 2 * piece));
  EXPECT(host[0] == 42 && host[in_piece - 1] == 42 && host[in_piece] == 2 && host[2 * in_piece - 1] == 2);
  DRIVER(cuMemRelease(first));
  DRIVER(cuMemRelease(second));
  EXPECT(cuMemRelease(second) == CUDA_ERROR_INVALID_VALUE);
  int descriptor = -1;
  EXPECT(cuMemExportToShareableHandle(&descriptor, second, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) ==
         CUDA_ERROR_NOT_SUPPORTED);
  Add<<<1, 1024>>>(reinterpret_cast<int*>(next), 1024, 1);
  DRIVER(cuCtxSynchronize());
  DRIVER(cuMemUnmap(next, 3 * piece));
  DRIVER(cuMemAddressFree(next, 3 * piece));
  DRIVER(cuMemAddressFree(place, 4 * piece));
  DRIVER(cuMemGetInfo(&free_after, &total));
  EXPECT(free_before == free_after);
  free(host);
  return Finish();
}
