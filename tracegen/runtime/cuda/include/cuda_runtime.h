// The CUDA runtime API with its C++ overloads. heddle-nvcc includes it before every .cu file, after the language itself
// (heddle_cuda.h); C and C++ files include it themselves.
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "channel_descriptor.h"
#include "cuda_device_runtime_api.h"
#include "cuda_runtime_api.h"
#include "driver_types.h"
#include "host_defines.h"
#include "vector_functions.h"
#include "vector_types.h"

#ifdef __CUDA__
#ifndef __CUDACC_RTC__
#include "heddle_cuda_host.h"
#endif
// What nvcc knows of its extended lambdas: here they are lambdas like others, whose result the host may ask for.
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false
#endif

#ifdef __cplusplus
// Also of pointers and symbols that are const or volatile.
template <class T>
inline __host__ void** HeddleAnyPointer(T** pointer) {
  return (void**)pointer;
}
template <class T>
inline __host__ const void* HeddleAnySymbol(const T& symbol) {
  return (const void*)&symbol;
}

// Every overload does what the function of that name in cuda_runtime_api.h does, with the type of a pointer, a symbol
// or a kernel taken as it is.
template <class T>
inline __host__ cudaError_t cudaMalloc(T** pointer, size_t size) {
  return ::cudaMalloc(HeddleAnyPointer(pointer), size);
}
template <class T>
inline __host__ cudaError_t cudaMallocHost(T** pointer, size_t size, unsigned int flags = cudaHostAllocDefault) {
  return ::cudaHostAlloc(HeddleAnyPointer(pointer), size, flags);
}
inline __host__ cudaError_t cudaMallocHost(void** pointer, size_t size, unsigned int flags) {
  return ::cudaHostAlloc(pointer, size, flags);
}
template <class T>
inline __host__ cudaError_t cudaHostAlloc(T** pointer, size_t size, unsigned int flags) {
  return ::cudaHostAlloc(HeddleAnyPointer(pointer), size, flags);
}
template <class T>
inline __host__ cudaError_t cudaHostGetDevicePointer(T** device_pointer, void* host_pointer, unsigned int flags) {
  return ::cudaHostGetDevicePointer(HeddleAnyPointer(device_pointer), host_pointer, flags);
}
template <class T>
inline __host__ cudaError_t cudaMallocManaged(T** pointer, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged(HeddleAnyPointer(pointer), size, flags);
}
template <class T>
inline __host__ cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaStream_t stream) {
  return ::cudaMallocAsync(HeddleAnyPointer(pointer), size, stream);
}
template <class T>
inline __host__ cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(HeddleAnyPointer(pointer), size, pool, stream);
}
template <class T>
inline __host__ cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(HeddleAnyPointer(pointer), size, pool, stream);
}
template <class T>
inline __host__ cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch(HeddleAnyPointer(pointer), pitch, width, height);
}
// The forms of CUDA 13, in which a place is more than the number of a device.
inline __host__ cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, cudaMemLocation location,
                                                 unsigned int, cudaStream_t stream = 0) {
  return ::cudaMemPrefetchAsync(pointer, count, location.id, stream);
}
inline __host__ cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice,
                                          cudaMemLocation location) {
  return ::cudaMemAdvise(pointer, count, advice, location.id);
}
inline __host__ cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}

template <class T>
inline __host__ cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t count, size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol(HeddleAnySymbol(symbol), from, count, offset, kind);
}
template <class T>
inline __host__ cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t count, size_t offset = 0,
                                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(to, HeddleAnySymbol(symbol), count, offset, kind);
}
template <class T>
inline __host__ cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t count, size_t offset = 0,
                                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                    cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync(HeddleAnySymbol(symbol), from, count, offset, kind, stream);
}
template <class T>
inline __host__ cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t count, size_t offset = 0,
                                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                      cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(to, HeddleAnySymbol(symbol), count, offset, kind, stream);
}
template <class T>
inline __host__ cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return ::cudaGetSymbolAddress(pointer, HeddleAnySymbol(symbol));
}
template <class T>
inline __host__ cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
  return ::cudaGetSymbolSize(size, HeddleAnySymbol(symbol));
}

template <class T>
inline __host__ cudaError_t cudaLaunchKernel(T* function, dim3 grid, dim3 block, void** arguments,
                                             size_t shared_bytes = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchKernel(reinterpret_cast<const void*>(function), grid, block, arguments, shared_bytes, stream);
}
// Arguments are converted to the kernel's parameters, as in a launch with <<<>>>.
template <typename... Parameters, typename... Arguments>
inline __host__ cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                                               Arguments&&... arguments) {
  const auto launch = [&](Parameters... converted) {
    void* pointers[sizeof...(Parameters) + 1] = {
        const_cast<void*>(static_cast<const volatile void*>(__builtin_addressof(converted)))...};
    return ::cudaLaunchKernelExC(config, reinterpret_cast<const void*>(kernel), pointers);
  };
  return launch(static_cast<Arguments&&>(arguments)...);
}
template <class T>
inline __host__ cudaError_t cudaLaunchCooperativeKernel(T* function, dim3 grid, dim3 block, void** arguments,
                                                        size_t shared_bytes = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(function), grid, block, arguments, shared_bytes,
                                       stream);
}
template <class T>
inline __host__ cudaError_t cudaSetupArgument(T argument, size_t offset) {
  return ::cudaSetupArgument(&argument, sizeof(T), offset);
}
template <class T>
inline __host__ cudaError_t cudaLaunch(T* function) {
  return ::cudaLaunch(reinterpret_cast<const void*>(function));
}
template <class T>
inline __host__ cudaError_t cudaFuncSetCacheConfig(T* function, cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig(reinterpret_cast<const void*>(function), config);
}
template <class T>
inline __host__ cudaError_t cudaFuncSetSharedMemConfig(T* function, cudaSharedMemConfig config) {
  return ::cudaFuncSetSharedMemConfig(reinterpret_cast<const void*>(function), config);
}
template <class T>
inline __host__ cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* function) {
  return ::cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(function));
}
template <class T>
inline __host__ cudaError_t cudaFuncSetAttribute(T* function, cudaFuncAttribute attribute, int value) {
  return ::cudaFuncSetAttribute(reinterpret_cast<const void*>(function), attribute, value);
}
template <class T>
inline __host__ cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T function, int block_size,
                                                                          size_t dynamic_shared_bytes) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(function), block_size,
                                                         dynamic_shared_bytes);
}
template <class T>
inline __host__ cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T function,
                                                                                   int block_size,
                                                                                   size_t dynamic_shared_bytes,
                                                                                   unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, reinterpret_cast<const void*>(function),
                                                                  block_size, dynamic_shared_bytes, flags);
}
template <class T>
inline __host__ cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, T* function,
                                                           const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxActiveClusters(clusters, reinterpret_cast<const void*>(function), config);
}
template <class T>
inline __host__ cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, T* function,
                                                                 const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxPotentialClusterSize(blocks, reinterpret_cast<const void*>(function), config);
}
// The block size with the most threads per multiprocessor (the largest such), and the smallest grid that fills the
// device with such blocks.
template <class Function, class BlockSizeToSharedBytes>
inline __host__ cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid_size, int* block_size,
                                                                           Function function,
                                                                           BlockSizeToSharedBytes shared_bytes,
                                                                           int block_size_limit = 0) {
  int device = 0, multiprocessors = 0, warp = 0;
  cudaFuncAttributes attributes;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, function);
  if (error != cudaSuccess) return error;
  int limit = attributes.maxThreadsPerBlock;
  if (block_size_limit > 0 && block_size_limit < limit) limit = block_size_limit;
  int best_threads = 0;
  for (int size = (limit + warp - 1) / warp * warp; size > 0; size -= warp) {
    const int threads = size < limit ? size : limit;
    int blocks = 0;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads,
                                                          static_cast<size_t>(shared_bytes(threads)));
    if (error != cudaSuccess) return error;
    if (blocks * threads > best_threads) {
      best_threads = blocks * threads;
      *block_size = threads;
      *min_grid_size = blocks * multiprocessors;
    }
  }
  return cudaSuccess;
}
template <class Function>
inline __host__ cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid_size, int* block_size, Function function,
                                                               size_t dynamic_shared_bytes = 0,
                                                               int block_size_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      min_grid_size, block_size, function, [=](int) { return dynamic_shared_bytes; }, block_size_limit);
}

#ifdef __CUDA__
template <class T, int kType, enum cudaTextureReadMode kMode>
inline __host__ cudaError_t cudaBindTexture(size_t* offset, const texture<T, kType, kMode>& reference,
                                            const void* pointer, const cudaChannelFormatDesc& format,
                                            size_t size = UINT_MAX) {
  return ::cudaBindTexture(offset, &reference, pointer, &format, size);
}
template <class T, int kType, enum cudaTextureReadMode kMode>
inline __host__ cudaError_t cudaBindTexture(size_t* offset, const texture<T, kType, kMode>& reference,
                                            const void* pointer, size_t size = UINT_MAX) {
  return ::cudaBindTexture(offset, &reference, pointer, &reference.channelDesc, size);
}
template <class T, int kType, enum cudaTextureReadMode kMode>
inline __host__ cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, kType, kMode>& reference,
                                              const void* pointer, const cudaChannelFormatDesc& format, size_t width,
                                              size_t height, size_t pitch) {
  return ::cudaBindTexture2D(offset, &reference, pointer, &format, width, height, pitch);
}
template <class T, int kType, enum cudaTextureReadMode kMode>
inline __host__ cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, kType, kMode>& reference,
                                              const void* pointer, size_t width, size_t height, size_t pitch) {
  return ::cudaBindTexture2D(offset, &reference, pointer, &reference.channelDesc, width, height, pitch);
}
template <class T, int kType, enum cudaTextureReadMode kMode>
inline __host__ cudaError_t cudaBindTextureToArray(const texture<T, kType, kMode>& reference, cudaArray_const_t array,
                                                   const cudaChannelFormatDesc& format) {
  return ::cudaBindTextureToArray(&reference, array, &format);
}
template <class T, int kType, enum cudaTextureReadMode kMode>
inline __host__ cudaError_t cudaBindTextureToArray(const texture<T, kType, kMode>& reference, cudaArray_const_t array) {
  cudaChannelFormatDesc format;
  const cudaError_t error = ::cudaGetChannelDesc(&format, array);
  return error == cudaSuccess ? ::cudaBindTextureToArray(&reference, array, &format) : error;
}
template <class T, int kType, enum cudaTextureReadMode kMode>
inline __host__ cudaError_t cudaUnbindTexture(const texture<T, kType, kMode>& reference) {
  return ::cudaUnbindTexture(&reference);
}
template <class T, int kType, enum cudaTextureReadMode kMode>
inline __host__ cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const texture<T, kType, kMode>& reference) {
  return ::cudaGetTextureAlignmentOffset(offset, &reference);
}
template <class T, int kType>
inline __host__ cudaError_t cudaBindSurfaceToArray(const surface<T, kType>& reference, cudaArray_const_t array,
                                                   const cudaChannelFormatDesc& format) {
  return ::cudaBindSurfaceToArray(&reference, array, &format);
}
template <class T, int kType>
inline __host__ cudaError_t cudaBindSurfaceToArray(const surface<T, kType>& reference, cudaArray_const_t array) {
  cudaChannelFormatDesc format;
  const cudaError_t error = ::cudaGetChannelDesc(&format, array);
  return error == cudaSuccess ? ::cudaBindSurfaceToArray(&reference, array, &format) : error;
}
#endif  // __CUDA__
#endif  // __cplusplus

#endif  // __CUDA_RUNTIME_H__
