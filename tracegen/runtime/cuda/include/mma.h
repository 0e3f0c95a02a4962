// Name that programs include.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_MMA_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_MMA_H_

#ifdef __CUDA__
#include "heddle_cuda_mma.h"
#endif

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_MMA_H_
