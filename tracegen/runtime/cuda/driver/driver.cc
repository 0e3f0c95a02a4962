// Devices, contexts, memory, streams and events of the driver API, on top of the runtime API.
#include <cstdio>
#include <cstring>

#include "tracegen/runtime/cuda/memory.h"
#include "tracegen/runtime/cuda/state.h"

using heddle::cuda::Guard;

struct CUctx_st {};

namespace {

// The numbers of errors are the same.
CUresult Result(cudaError_t error) { return static_cast<CUresult>(error); }

// The only context there is.
CUcontext TheContext() {
  static CUctx_st context;
  return &context;
}

void* Pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

CUresult SetWords(const char* call, CUdeviceptr pointer, unsigned int value, int value_bytes, size_t count,
                  CUstream stream) {
  const Guard guard;
  return Result(heddle::cuda::Fill(call, {Pointer(pointer), 0, 0}, static_cast<int>(value), value_bytes,
                                   {count * value_bytes, 1, 1}, stream));
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return Result(cudaFree(nullptr));
}
CUresult cuDriverGetVersion(int* version) { return Result(cudaDriverGetVersion(version)); }
CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = cudaGetErrorName(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (ordinal != 0) return CUDA_ERROR_INVALID_DEVICE;
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) { return Result(cudaGetDeviceCount(count)); }
CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  cudaDeviceProp properties;
  const CUresult result = Result(cudaGetDeviceProperties(&properties, device));
  if (result == CUDA_SUCCESS) std::snprintf(name, static_cast<size_t>(length), "%s", properties.name);
  return result;
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  cudaDeviceProp properties;
  const CUresult result = Result(cudaGetDeviceProperties(&properties, device));
  if (result == CUDA_SUCCESS) *bytes = properties.totalGlobalMem;
  return result;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaDeviceProp properties;
  if (cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess) return Result(error);
  // Those that the runtime does not have.
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS:
      *value = properties.maxTexture2DLayered[attribute - CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH];
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS:
      *value = properties.maxTexture1DLayered[attribute - CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH];
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
      *value = 1;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
      *value = 0;
      return CUDA_SUCCESS;
    default:
      break;
  }
  return Result(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  const CUresult result = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  return result != CUDA_SUCCESS ? result
                                : cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

CUresult cuCtxCreate(CUcontext* context, unsigned int, CUdevice device) {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  *context = TheContext();
  return Result(cudaFree(nullptr));
}
CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int, unsigned int flags, CUdevice device) {
  return cuCtxCreate(context, flags, device);
}
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned int flags, CUdevice device) {
  return cuCtxCreate(context, flags, device);
}
CUresult cuCtxDestroy(CUcontext context) { return context == TheContext() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT; }
CUresult cuCtxAttach(CUcontext* context, unsigned int) { return cuCtxGetCurrent(context); }
CUresult cuCtxDetach(CUcontext context) { return cuCtxDestroy(context); }
CUresult cuCtxPushCurrent(CUcontext context) { return cuCtxDestroy(context); }
CUresult cuCtxPopCurrent(CUcontext* context) {
  if (context != nullptr) *context = TheContext();
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(CUcontext* context) { return cuCtxPopCurrent(context); }
CUresult cuCtxGetDevice(CUdevice* device) { return cuDeviceGet(device, 0); }
CUresult cuCtxSynchronize() { return Result(cudaDeviceSynchronize()); }
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return Result(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config)));
}
CUresult cuCtxGetApiVersion(CUcontext, unsigned int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  int number = 0;
  const CUresult result = Result(cudaDriverGetVersion(&number));
  *version = static_cast<unsigned int>(number);
  return result;
}
CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return Result(cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)));
}
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return Result(cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value));
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) { return cuCtxCreate(context, 0, device); }
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxReset(CUdevice) { return Result(cudaDeviceReset()); }

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return Result(cudaDeviceCanAccessPeer(can, device, peer));
}
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer) {
  return Result(cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(attribute), device, peer));
}
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned int) { return CUDA_ERROR_INVALID_DEVICE; }
CUresult cuCtxDisablePeerAccess(CUcontext) { return CUDA_ERROR_INVALID_DEVICE; }

CUresult cuMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return Result(cudaMemGetInfo(free_bytes, total_bytes));
}
CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return Result(cudaMalloc(reinterpret_cast<void**>(pointer), bytes));
}
CUresult cuMemAllocPitch(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height, unsigned int) {
  return Result(cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height));
}
CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned int flags) {
  return Result(cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags));
}
CUresult cuMemFree(CUdeviceptr pointer) {
  return pointer == 0 ? CUDA_ERROR_INVALID_VALUE : Result(cudaFree(Pointer(pointer)));
}
CUresult cuMemAllocHost(void** pointer, size_t bytes) { return Result(cudaMallocHost(pointer, bytes)); }
CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  return Result(cudaHostAlloc(pointer, bytes, flags));
}
CUresult cuMemFreeHost(void* pointer) { return Result(cudaFreeHost(pointer)); }
CUresult cuMemHostGetDevicePointer(CUdeviceptr* device_pointer, void* pointer, unsigned int flags) {
  return Result(cudaHostGetDevicePointer(reinterpret_cast<void**>(device_pointer), pointer, flags));
}
CUresult cuMemHostRegister(void* pointer, size_t bytes, unsigned int flags) {
  return Result(cudaHostRegister(pointer, bytes, flags));
}
CUresult cuMemHostUnregister(void* pointer) { return Result(cudaHostUnregister(pointer)); }
CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr pointer) {
  const Guard guard;
  const heddle::cuda::Allocation* allocation = heddle::cuda::FindAllocation(pointer);
  if (allocation == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = allocation->address;
  if (bytes != nullptr) *bytes = allocation->bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return Result(cudaMemcpy(Pointer(to), Pointer(from), bytes, cudaMemcpyDefault));
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return Result(cudaMemcpy(Pointer(to), from, bytes, cudaMemcpyHostToDevice));
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return Result(cudaMemcpy(to, Pointer(from), bytes, cudaMemcpyDeviceToHost));
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return Result(cudaMemcpy(Pointer(to), Pointer(from), bytes, cudaMemcpyDeviceToDevice));
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return Result(cudaMemcpyAsync(Pointer(to), Pointer(from), bytes, cudaMemcpyDefault, stream));
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return Result(cudaMemcpyAsync(Pointer(to), from, bytes, cudaMemcpyHostToDevice, stream));
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return Result(cudaMemcpyAsync(to, Pointer(from), bytes, cudaMemcpyDeviceToHost, stream));
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return Result(cudaMemcpyAsync(Pointer(to), Pointer(from), bytes, cudaMemcpyDeviceToDevice, stream));
}
CUresult cuMemsetD8(CUdeviceptr pointer, unsigned char value, size_t count) {
  return SetWords("cuMemsetD8", pointer, value, 1, count, nullptr);
}
CUresult cuMemsetD16(CUdeviceptr pointer, unsigned short value, size_t count) {
  return SetWords("cuMemsetD16", pointer, value, 2, count, nullptr);
}
CUresult cuMemsetD32(CUdeviceptr pointer, unsigned int value, size_t count) {
  return SetWords("cuMemsetD32", pointer, value, 4, count, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream) {
  return SetWords("cuMemsetD8Async", pointer, value, 1, count, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count, CUstream stream) {
  return SetWords("cuMemsetD32Async", pointer, value, 4, count, stream);
}

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return Result(cudaStreamCreateWithFlags(stream, flags));
}
CUresult cuStreamDestroy(CUstream stream) { return Result(cudaStreamDestroy(stream)); }
CUresult cuStreamSynchronize(CUstream stream) { return Result(cudaStreamSynchronize(stream)); }
CUresult cuStreamQuery(CUstream stream) { return Result(cudaStreamQuery(stream)); }
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  return Result(cudaStreamWaitEvent(stream, event, flags));
}
CUresult cuEventCreate(CUevent* event, unsigned int flags) { return Result(cudaEventCreateWithFlags(event, flags)); }
CUresult cuEventDestroy(CUevent event) { return Result(cudaEventDestroy(event)); }
CUresult cuEventRecord(CUevent event, CUstream stream) { return Result(cudaEventRecord(event, stream)); }
CUresult cuEventSynchronize(CUevent event) { return Result(cudaEventSynchronize(event)); }
CUresult cuEventQuery(CUevent event) { return Result(cudaEventQuery(event)); }
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return Result(cudaEventElapsedTime(milliseconds, start, end));
}

}  // extern "C"
