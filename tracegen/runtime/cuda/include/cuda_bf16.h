// Name that programs include.
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#ifdef __CUDA__
#include "heddle_cuda_bfloat16.h"
#endif

#endif  // __CUDA_BF16_H__
