// What kernels call to launch kernels. The host's half of a source only has to see the declarations, in device
// functions of templates that it never uses (Thrust and CUB have them); the device's half has none, so that a kernel
// that does launch others fails to compile.
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "cuda_runtime_api.h"

#if defined(__CUDA__) && !defined(__CUDA_ARCH__)
extern "C" __device__ void* cudaGetParameterBuffer(size_t alignment, size_t size);
extern "C" __device__ cudaError_t cudaLaunchDevice(void* function, void* parameters, dim3 grid, dim3 block,
                                                   unsigned int shared_bytes, cudaStream_t stream);
#endif

#endif  // __CUDA_DEVICE_RUNTIME_API_H__
