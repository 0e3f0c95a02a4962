// Name that programs include.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDA_FP8_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDA_FP8_H_

#ifdef __CUDA__
#include "heddle_cuda_fp8.h"
#endif

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDA_FP8_H_
