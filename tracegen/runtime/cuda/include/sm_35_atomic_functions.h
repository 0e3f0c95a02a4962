// Name that programs include: device functions are there in every .cu file.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_SM_35_ATOMIC_FUNCTIONS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_SM_35_ATOMIC_FUNCTIONS_H_

#include "vector_types.h"

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_SM_35_ATOMIC_FUNCTIONS_H_
