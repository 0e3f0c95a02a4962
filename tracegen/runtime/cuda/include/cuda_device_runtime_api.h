// What kernels call to launch kernels. Thrust and CUB call cudaLaunchDevice in functions for hosts and devices: a
// kernel that gets there is refused when it is launched, as there is no such function.
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "cuda_runtime_api.h"

#ifdef __CUDA__
extern "C" __device__ void* cudaGetParameterBuffer(size_t alignment, size_t size);
extern "C" __device__ cudaError_t cudaLaunchDevice(void* function, void* parameters, dim3 grid, dim3 block,
                                                   unsigned int shared_bytes, cudaStream_t stream);
// cudaDeviceSynchronize in kernels, from CUDA 11.6 on.
extern "C" __device__ cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance(void);
// Of launches with cudaLaunchAttributeProgrammaticStreamSerialization: they start when the one before has ended, so
// that there is nothing to wait for.
static __forceinline__ __device__ void cudaTriggerProgrammaticLaunchCompletion() {}
static __forceinline__ __device__ void cudaGridDependencySynchronize() {}
#include "heddle_cuda_child.h"
#endif

#endif  // __CUDA_DEVICE_RUNTIME_API_H__
