// Attributes of the CUDA language. In plain C and C++ they mean nothing.
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#ifdef __CUDA__
#ifndef __host__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
#define __launch_bounds__(...)
#endif

// A managed variable is a device variable, whose contents the runtime copies to the host's variable of that name after
// each launch, and back before each (launches are synchronous); the section is how it finds them. Whoever reads the
// device code finds the annotation.
#undef __managed__
#if defined(__CUDA__) && defined(__CUDA_ARCH__)
#define __managed__ __attribute__((device, annotate("heddle.managed")))
#elif defined(__CUDA__)
#define __managed__ __attribute__((device, section("heddle_managed")))
#else
#define __managed__
#endif

#ifndef __align__
#define __align__(n) __attribute__((aligned(n)))
#endif
#ifndef __grid_constant__
#define __grid_constant__
#endif
#ifndef CUDARTAPI
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB
#define CUDART_DEVICE
#define __cudart_builtin__
#define __device_builtin__
#define __builtin_align__(n) __align__(n)
#define __specialization_static static
#endif

#endif  // __HOST_DEFINES_H__
