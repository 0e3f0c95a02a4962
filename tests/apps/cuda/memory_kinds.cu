// Memory of every kind: pitched, 3D, page-locked, registered, managed; fills; what pointers say of themselves.
#include <string.h>

#include "check.h"

__global__ void Scale(float* data, size_t pitch, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) reinterpret_cast<float*>(reinterpret_cast<char*>(data) + y * pitch)[x] *= 2.0f;
}

__global__ void Increment(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++data[i];
}

void Pitched() {
  const int width = 33, height = 7;
  float host[height][width], back[height][width];
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) host[y][x] = y * 100 + x;
  }
  float* device;
  size_t pitch;
  CALL(cudaMallocPitch(&device, &pitch, width * sizeof(float), height));
  EXPECT(pitch >= width * sizeof(float) && pitch % 32 == 0);
  CALL(cudaMemcpy2D(device, pitch, host, sizeof(host[0]), sizeof(host[0]), height, cudaMemcpyHostToDevice));
  Scale<<<dim3(2, 1), dim3(32, 8)>>>(device, pitch, width, height);
  CALL(cudaMemcpy2D(back, sizeof(back[0]), device, pitch, sizeof(back[0]), height, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) EXPECT(back[y][x] == 2 * host[y][x]);
  }
  CALL(cudaMemset2D(device, pitch, 0xff, 8, height));
  CALL(cudaMemcpy2D(back, sizeof(back[0]), device, pitch, sizeof(back[0]), height, cudaMemcpyDeviceToHost));
  unsigned int bits;
  memcpy(&bits, &back[3][1], sizeof(bits));
  EXPECT(bits == 0xffffffffu && back[3][2] == 2 * host[3][2]);
  EXPECT(cudaMemcpy2D(device, 8, host, 132, 132, height, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
  CALL(cudaFree(device));
}

void Volume() {
  const cudaExtent extent = make_cudaExtent(5 * sizeof(int), 4, 3);
  cudaPitchedPtr device;
  CALL(cudaMalloc3D(&device, extent));
  int host[3][4][5], back[3][4][5];
  for (int i = 0; i < 60; ++i) host[0][0][i] = i;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host, sizeof(host[0][0]), 5, 4);
  copy.dstPtr = device;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CALL(cudaMemcpy3D(&copy));
  cudaMemcpy3DParms part = {};
  memset(back, 0, sizeof(back));
  part.srcPtr = device;
  part.srcPos = make_cudaPos(sizeof(int), 1, 1);
  part.dstPtr = make_cudaPitchedPtr(back, sizeof(back[0][0]), 5, 4);
  part.extent = make_cudaExtent(2 * sizeof(int), 2, 2);
  part.kind = cudaMemcpyDeviceToHost;
  CALL(cudaMemcpy3D(&part));
  for (int z = 0; z < 2; ++z) {
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < 3; ++x) EXPECT(back[z][y][x] == (x < 2 ? host[z + 1][y + 1][x + 1] : 0));
    }
  }
  CALL(cudaFree(device.ptr));
}

void PageLocked() {
  const int n = 100;
  int* host;
  CALL(cudaHostAlloc(&host, n * sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < n; ++i) host[i] = i;
  int* device;
  CALL(cudaHostGetDevicePointer(&device, host, 0));
  Increment<<<1, 128>>>(device, n);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT(host[i] == i + 1);
  cudaPointerAttributes attributes;
  CALL(cudaPointerGetAttributes(&attributes, host));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  CALL(cudaFreeHost(host));
}

void Registered() {
  const int n = 3000;
  int* host = static_cast<int*>(malloc((n + 8) * sizeof(int)));
  int* used = host + 5;
  for (int i = 0; i < n; ++i) used[i] = 3 * i;
  CALL(cudaHostRegister(used, n * sizeof(int), cudaHostRegisterMapped));
  EXPECT(cudaHostRegister(used, 4, cudaHostRegisterMapped) == cudaErrorHostMemoryAlreadyRegistered);
  int* device;
  CALL(cudaHostGetDevicePointer(&device, used, 0));
  Increment<<<(n + 127) / 128, 128>>>(device, n);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT(used[i] == 3 * i + 1);
  CALL(cudaHostUnregister(used));
  for (int i = 0; i < n; ++i) EXPECT(used[i] == 3 * i + 1);
  EXPECT(cudaHostUnregister(used) == cudaErrorHostMemoryNotRegistered);
  int local[64];
  EXPECT(cudaHostRegister(local, sizeof(local), 0) == cudaErrorNotSupported);  // see docs/how-to/capturing.md
  cudaGetLastError();
  free(host);
}

void Managed() {
  const int n = 64;
  int* data;
  CALL(cudaMallocManaged(&data, n * sizeof(int)));
  for (int i = 0; i < n; ++i) data[i] = -i;
  CALL(cudaMemPrefetchAsync(data, n * sizeof(int), 0));
  const cudaMemLocation here = {cudaMemLocationTypeDevice, 0};  // as from CUDA 13 on
  CALL(cudaMemPrefetchAsync(data, n * sizeof(int), here, 0));
  CALL(cudaMemAdvise(data, n * sizeof(int), cudaMemAdviseSetPreferredLocation, here));
  Increment<<<1, n>>>(data, n);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT(data[i] == 1 - i);
  CALL(cudaFree(data));
}

void Pools() {
  int supported;
  CALL(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  EXPECT(supported == 1);
  cudaMemPool_t pool, current;
  CALL(cudaDeviceGetDefaultMemPool(&pool, 0));
  CALL(cudaDeviceGetMemPool(&current, 0));
  EXPECT(pool == current && cudaDeviceGetDefaultMemPool(&pool, 1) == cudaErrorInvalidDevice);
  unsigned long long threshold = ~0ull, kept = 0;
  CALL(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  CALL(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
  EXPECT(kept == threshold);
  int reuse = 0;
  CALL(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
  CALL(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &reuse));
  EXPECT(reuse == 1);
  CALL(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
  EXPECT(reuse == 0);
  EXPECT(cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(99), &reuse) == cudaErrorInvalidValue);
  int* data;
  int host[70] = {};
  EXPECT(cudaMallocFromPoolAsync(&data, sizeof(host), nullptr, 0) == cudaErrorInvalidValue);
  CALL(cudaMallocFromPoolAsync(&data, sizeof(host), pool, 0));
  CALL(cudaMemcpyAsync(data, host, sizeof(host), cudaMemcpyHostToDevice, 0));
  Increment<<<2, 64>>>(data, 70);
  CALL(cudaMemcpyAsync(host, data, sizeof(host), cudaMemcpyDeviceToHost, 0));
  CALL(cudaFreeAsync(data, 0));
  CALL(cudaStreamSynchronize(0));
  for (int i = 0; i < 70; ++i) EXPECT(host[i] == 1);
  CALL(cudaMemPoolTrimTo(pool, 0));
  cudaGetLastError();
}

// Pools of the program's own, and who reaches their memory: the one device.
void OwnPools() {
  cudaMemPool_t pool, standard, current;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  CALL(cudaMemPoolCreate(&pool, &properties));
  CALL(cudaDeviceGetDefaultMemPool(&standard, 0));
  EXPECT(pool != standard);
  CALL(cudaDeviceSetMemPool(0, pool));
  CALL(cudaDeviceGetMemPool(&current, 0));
  EXPECT(current == pool);
  cudaMemAccessDesc access = {};
  access.location.type = cudaMemLocationTypeDevice;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  CALL(cudaMemPoolSetAccess(pool, &access, 1));
  CALL(cudaMemPoolSetAccess(standard, &access, 1));
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  CALL(cudaMemPoolGetAccess(&flags, pool, &access.location));
  EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
  access.flags = cudaMemAccessFlagsProtNone;
  EXPECT(cudaMemPoolSetAccess(pool, &access, 1) == cudaErrorInvalidValue);
  access.location.id = 1;
  EXPECT(cudaMemPoolSetAccess(pool, &access, 1) == cudaErrorInvalidDevice);
  int host[70] = {}, *data;
  CALL(cudaMallocAsync(&data, sizeof(host), pool, 0));
  CALL(cudaMemsetAsync(data, 0, sizeof(host), 0));
  Increment<<<2, 64>>>(data, 70);
  CALL(cudaMemcpyAsync(host, data, sizeof(host), cudaMemcpyDeviceToHost, 0));
  for (int i = 0; i < 70; ++i) EXPECT(host[i] == 1);
  CALL(cudaFreeAsync(data, 0));
  CALL(cudaMemPoolDestroy(pool));
  EXPECT(cudaMemPoolDestroy(standard) == cudaErrorInvalidValue);
  CALL(cudaDeviceGetMemPool(&current, 0));
  EXPECT(current == standard);
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  EXPECT(cudaMemPoolCreate(&pool, &properties) == cudaErrorNotSupported);
  cudaGetLastError();
}

// Processes do not share a device's memory: programs are told, and may go on without.
static void Shared() {
  void* memory;
  cudaIpcMemHandle_t handle;
  CALL(cudaMalloc(&memory, 64));
  int handle_types = -1;
  CALL(cudaDeviceGetAttribute(&handle_types, cudaDevAttrMemoryPoolSupportedHandleTypes, 0));
  EXPECT(handle_types == 0);
  EXPECT(cudaIpcGetMemHandle(&handle, memory) == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaErrorNotSupported);
  CALL(cudaMemset(memory, 0, 64));
  CALL(cudaFree(memory));
}

int main() {
  cudaGetLastError();
  Pitched();
  Volume();
  PageLocked();
  Registered();
  Managed();
  Pools();
  OwnPools();
  Shared();
  size_t free_before, free_after, total;
  CALL(cudaMemGetInfo(&free_before, &total));
  void* block;
  CALL(cudaMalloc(&block, 1 << 20));
  CALL(cudaMemGetInfo(&free_after, &total));
  EXPECT(free_after + (1 << 20) <= free_before && free_before <= total);
  CALL(cudaFree(block));
  return Finish();
}
