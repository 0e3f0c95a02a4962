// Surface references and objects. On the device a reference is one 64-bit value, the surface object bound to it.
#ifndef __SURFACE_TYPES_H__
#define __SURFACE_TYPES_H__

#include "driver_types.h"

#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceTypeCubemap 0x0C
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2

enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
enum cudaSurfaceFormatMode { cudaFormatModeForced = 0, cudaFormatModeAuto = 1 };

struct __attribute__((aligned(8))) surfaceReference {
  struct cudaChannelFormatDesc channelDesc;
};

// The address of a HeddleImage (device_image.h) in device memory.
typedef unsigned long long cudaSurfaceObject_t;

#ifdef __CUDA__
template <class T, int kType = cudaSurfaceType1D>
struct __attribute__((device_builtin_surface_type)) surface : public surfaceReference {
  surface() : surfaceReference{} {}
};
template <int kType>
struct __attribute__((device_builtin_surface_type)) surface<void, kType> : public surfaceReference {
  surface() : surfaceReference{} {}
};
#endif  // __CUDA__

#endif  // __SURFACE_TYPES_H__
