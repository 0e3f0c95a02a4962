// Name that programs include: what a launch refuses.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDA_AWBARRIER_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDA_AWBARRIER_H_

#include "heddle_cuda_asynchronous.h"

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDA_AWBARRIER_H_
