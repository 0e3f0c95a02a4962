// Name that programs include.
#ifndef HEDDLE_CUDA_BF16_H_
#define HEDDLE_CUDA_BF16_H_

#ifdef __CUDA__
#include "heddle_cuda_bfloat16.h"
#endif

#endif  // HEDDLE_CUDA_BF16_H_
