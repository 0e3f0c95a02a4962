// Name that programs include.
#ifndef HEDDLE_CUDA_DEVICE_RUNTIME_API_H_
#define HEDDLE_CUDA_DEVICE_RUNTIME_API_H_

#include "cuda_runtime_api.h"

#endif  // HEDDLE_CUDA_DEVICE_RUNTIME_API_H_
