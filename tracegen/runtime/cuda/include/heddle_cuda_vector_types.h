// CUDA's vector types with their makers, and dim3.
#ifndef HEDDLE_CUDA_VECTOR_TYPES_H_
#define HEDDLE_CUDA_VECTOR_TYPES_H_

#include "vector_functions.h"
#include "vector_types.h"

#endif  // HEDDLE_CUDA_VECTOR_TYPES_H_
