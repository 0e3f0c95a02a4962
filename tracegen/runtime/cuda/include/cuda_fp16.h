// Name that programs include.
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#ifdef __CUDA__
#include "heddle_cuda_half.h"
#endif

#endif  // __CUDA_FP16_H__
