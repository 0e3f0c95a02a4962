// Name that programs include; the profiler's functions are in cuda_runtime_api.h.
#ifndef HEDDLE_CUDA_PROFILER_API_H_
#define HEDDLE_CUDA_PROFILER_API_H_

#include "cuda_runtime_api.h"

#endif  // HEDDLE_CUDA_PROFILER_API_H_
