// The driver API: a module of its own, made by heddle-nvcc -cubin, and launches of both kinds.
// module: driver_api_module.cu
#include <cuda.h>
#include <string.h>

#include "check.h"

#define DRIVER(call)                                              \
  do {                                                            \
    CUresult driver_result = (call);                              \
    if (driver_result != CUDA_SUCCESS) {                          \
      const char* text;                                           \
      cuGetErrorString(driver_result, &text);                     \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text); \
      return 1;                                                   \
    }                                                             \
  } while (0)

// So many that two blocks of more than 256 threads do not fit.
size_t SharedBytes(int threads) { return threads > 256 ? 49 << 10 : 16 << 10; }

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "driver_api_module.cubin";
  DRIVER(cuInit(0));
  int count;
  DRIVER(cuDeviceGetCount(&count));
  CUdevice device;
  DRIVER(cuDeviceGet(&device, 0));
  char name[100];
  DRIVER(cuDeviceGetName(name, sizeof(name), device));
  int major, minor;
  DRIVER(cuDeviceComputeCapability(&major, &minor, device));
  EXPECT(count == 1 && strlen(name) > 0);
  CUcontext context;
  DRIVER(cuCtxCreate(&context, 0, device));
  size_t free_bytes, total;
  DRIVER(cuMemGetInfo(&free_bytes, &total));
  EXPECT(free_bytes <= total);
  CUmodule module;
  EXPECT(cuModuleLoadData(&module, "not device code, but text that is long enough to be looked at") ==
         CUDA_ERROR_INVALID_IMAGE);
  DRIVER(cuModuleLoad(&module, path));
  CUfunction scale;
  DRIVER(cuModuleGetFunction(&scale, module, "Scale"));
  EXPECT(cuModuleGetFunction(&scale, module, "NoSuch") == CUDA_ERROR_NOT_FOUND);
  const int n = 40;
  float host[n], back[n];
  for (int i = 0; i < n; ++i) host[i] = i;
  CUdeviceptr data;
  DRIVER(cuMemAlloc(&data, sizeof(host)));
  DRIVER(cuMemcpyHtoD(data, host, sizeof(host)));
  float factor = 3;
  int length = n;
  void* arguments[] = {&data, &factor, &length};
  DRIVER(cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  struct {
    CUdeviceptr data;
    float factor;
    int length;
  } packed = {data, 2, n};
  size_t size = 12;  // lacks the last argument
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  EXPECT(cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, extra) == CUDA_ERROR_INVALID_VALUE);
  size = sizeof(packed);
  DRIVER(cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
  DRIVER(cuFuncSetBlockShape(scale, 64, 1, 1));
  DRIVER(cuParamSetv(scale, 0, &data, sizeof(data)));
  DRIVER(cuParamSetf(scale, 8, 0.5f));
  DRIVER(cuParamSeti(scale, 12, n));
  DRIVER(cuParamSetSize(scale, 16));
  DRIVER(cuLaunch(scale));
  DRIVER(cuMemcpyDtoH(back, data, sizeof(back)));
  CUdeviceptr bias;
  size_t bias_bytes;
  DRIVER(cuModuleGetGlobal(&bias, &bias_bytes, module, "bias"));
  EXPECT(bias_bytes == sizeof(float));
  for (int i = 0; i < n; ++i) EXPECT(back[i] == ((host[i] * 3 + 1) * 2 + 1) * 0.5f + 1);
  DRIVER(cuMemsetD32(bias, 0, 1));
  DRIVER(cuLaunch(scale));
  float first;
  DRIVER(cuMemcpyDtoH(&first, data, sizeof(first)));
  EXPECT(first == back[0] * 0.5f);
  int threads;
  DRIVER(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
  EXPECT(threads == 1024);
  int compute_mode, grid_size;
  DRIVER(cuDeviceGetAttribute(&compute_mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device));
  EXPECT(compute_mode == CU_COMPUTEMODE_DEFAULT);
  int layers = 0, peers = -1;
  DRIVER(cuDeviceGetAttribute(&layers, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, device));
  EXPECT(layers == 2048);
  DRIVER(cuDeviceGetAttribute(&peers, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, device));
  DRIVER(cuDeviceCanAccessPeer(&peers, device, device));
  EXPECT(cuDeviceGetP2PAttribute(&peers, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, device, device) ==
         CUDA_ERROR_INVALID_DEVICE);
  EXPECT(peers == 0 && cuCtxEnablePeerAccess(context, 0) == CUDA_ERROR_INVALID_DEVICE);
  // A V100 has 80 multiprocessors, with 2048 threads and 96 KiB of shared memory each.
  DRIVER(cuOccupancyMaxPotentialBlockSize(&grid_size, &threads, scale, NULL, 0, 0));
  EXPECT(grid_size == 160 && threads == 1024);
  DRIVER(cuOccupancyMaxPotentialBlockSize(&grid_size, &threads, scale, NULL, 40 << 10, 500));
  EXPECT(grid_size == 160 && threads == 500);
  DRIVER(cuOccupancyMaxPotentialBlockSize(&grid_size, &threads, scale, SharedBytes, 0, 0));
  EXPECT(grid_size == 480 && threads == 256);

  // Rows 1 and 2 of 4, columns 2 to 4 of 10, through pitched memory and registered memory of the host.
  CUdeviceptr rows;
  size_t pitch;
  DRIVER(cuMemAllocPitch(&rows, &pitch, 10 * sizeof(float), 4, 4));
  CUDA_MEMCPY2D copy;
  memset(&copy, 0, sizeof(copy));
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = rows;
  copy.dstPitch = pitch;
  copy.WidthInBytes = 10 * sizeof(float);
  copy.Height = 4;
  DRIVER(cuMemcpy2D(&copy));
  memset(&copy, 0, sizeof(copy));
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = rows;
  copy.srcPitch = pitch;
  copy.srcXInBytes = 2 * sizeof(float);
  copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = back;
  copy.WidthInBytes = 3 * sizeof(float);
  copy.Height = 2;
  DRIVER(cuMemcpy2DAsync(&copy, NULL));
  for (int i = 0; i < 6; ++i) EXPECT(back[i] == host[10 * (1 + i / 3) + 2 + i % 3]);
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE);
  size_t heap;
  DRIVER(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 1 << 24));
  unsigned int version = 0;
  DRIVER(cuCtxGetApiVersion(nullptr, &version));
  EXPECT(version >= 1000);
  EXPECT(cuCtxGetApiVersion(nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
  DRIVER(cuCtxGetLimit(&heap, CU_LIMIT_MALLOC_HEAP_SIZE));
  EXPECT(heap == 1 << 24);
  static float registered[n];
  DRIVER(cuMemHostRegister(registered, sizeof(registered), 0));
  DRIVER(cuMemHostUnregister(registered));
  DRIVER(cuMemFree(rows));
  DRIVER(cuMemFree(data));
  DRIVER(cuModuleUnload(module));
  EXPECT(cuModuleGetFunction(&scale, module, "Scale") == CUDA_ERROR_INVALID_HANDLE);
  DRIVER(cuCtxDestroy(context));
  return Finish();
}
