// Name that programs include; the profiler's functions are in cuda_runtime_api.h.
#ifndef __CUDA_PROFILER_H__
#define __CUDA_PROFILER_H__

#include "cuda_runtime_api.h"

#endif  // __CUDA_PROFILER_H__
