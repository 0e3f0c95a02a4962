// OpenCL C's built-in functions for capture, included before every OpenCL source. Types come from clang's base header.
// What a PTX instruction computes becomes that instruction; other math stays one call without side effects.
#ifndef HEDDLE_OPENCL_H_
#define HEDDLE_OPENCL_H_

#include <opencl-c-base.h>

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define cl_khr_fp64 1
#define cl_khr_global_int32_base_atomics 1
#define cl_khr_local_int32_base_atomics 1
#define cl_khr_global_int32_extended_atomics 1
#define cl_khr_local_int32_extended_atomics 1
#define cl_khr_int64_base_atomics 1
#define cl_khr_int64_extended_atomics 1
#define cl_khr_byte_addressable_store 1
#define cl_khr_3d_image_writes 1
#define __IMAGE_SUPPORT__ 1
#define __kernel_exec(x, typen) kernel __attribute__((work_group_size_hint(x, 1, 1))) __attribute__((vec_type_hint(typen)))

#define HEDDLE_CL static inline __attribute__((overloadable, always_inline))

// clang-format off: each uses what the one before it defines
#include "heddle_opencl_geometry.h"
#include "heddle_opencl_math.h"
#include "heddle_opencl_integer.h"
#include "heddle_opencl_common.h"
#include "heddle_opencl_more_math.h"
#include "heddle_opencl_relational.h"
#include "heddle_opencl_data.h"
#include "heddle_opencl_convert.h"
#include "heddle_opencl_half.h"
#include "heddle_opencl_group.h"
#include "heddle_opencl_image.h"
// clang-format on

#endif  // HEDDLE_OPENCL_H_
