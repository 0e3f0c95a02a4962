// Name that programs include: what a launch refuses.
#ifndef HEDDLE_CUDA_PIPELINE_H_
#define HEDDLE_CUDA_PIPELINE_H_

#include "heddle_cuda_asynchronous.h"

#endif  // HEDDLE_CUDA_PIPELINE_H_
