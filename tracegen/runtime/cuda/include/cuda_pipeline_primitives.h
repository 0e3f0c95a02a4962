// Name that programs include: what a launch refuses.
#ifndef HEDDLE_CUDA_PIPELINE_PRIMITIVES_H_
#define HEDDLE_CUDA_PIPELINE_PRIMITIVES_H_

#include "heddle_cuda_asynchronous.h"

#endif  // HEDDLE_CUDA_PIPELINE_PRIMITIVES_H_
