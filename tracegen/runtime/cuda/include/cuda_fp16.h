// Name that programs include.
#ifndef HEDDLE_CUDA_FP16_H_
#define HEDDLE_CUDA_FP16_H_

#ifdef __CUDA__
#include "heddle_cuda_half.h"
#endif

#endif  // HEDDLE_CUDA_FP16_H_
