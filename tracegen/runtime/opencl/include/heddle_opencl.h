// OpenCL C's built-in functions for capture, included before every OpenCL source. Types come from clang's base header.
// What a source does not use is left out by macros (HEDDLE_OPENCL_WITHOUT_...), which saves most of the compiler's
// time. What a PTX instruction computes becomes that instruction; other math stays one call without side effects.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_H_

#include <opencl-c-base.h>

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define cl_khr_fp64 1
#define cl_khr_global_int32_base_atomics 1
#define cl_khr_local_int32_base_atomics 1
#define cl_khr_global_int32_extended_atomics 1
#define cl_khr_local_int32_extended_atomics 1
#define cl_khr_byte_addressable_store 1
#define __IMAGE_SUPPORT__ 1

#define HEDDLE_CL static inline __attribute__((overloadable, always_inline))

// clang-format off: each uses what the one before it defines
#include "heddle_opencl_geometry.h"
#include "heddle_opencl_math.h"
#include "heddle_opencl_integer.h"
#include "heddle_opencl_common.h"
#ifndef HEDDLE_OPENCL_WITHOUT_MORE_MATH
#include "heddle_opencl_more_math.h"
#endif
#ifndef HEDDLE_OPENCL_WITHOUT_RELATIONS
#include "heddle_opencl_relational.h"
#endif
#ifndef HEDDLE_OPENCL_WITHOUT_DATA
#include "heddle_opencl_data.h"
#endif
#ifndef HEDDLE_OPENCL_WITHOUT_CONVERSIONS
#include "heddle_opencl_convert.h"
#endif
#ifndef HEDDLE_OPENCL_WITHOUT_HALF
#include "heddle_opencl_half.h"
#endif
#ifndef HEDDLE_OPENCL_WITHOUT_GROUP
#include "heddle_opencl_group.h"
#endif
#ifndef HEDDLE_OPENCL_WITHOUT_IMAGES
#include "heddle_opencl_image.h"
#endif
// clang-format on

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_H_
