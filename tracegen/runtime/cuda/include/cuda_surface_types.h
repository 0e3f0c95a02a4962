// Name that programs include.
#ifndef HEDDLE_CUDA_SURFACE_TYPES_H_
#define HEDDLE_CUDA_SURFACE_TYPES_H_

#include "surface_types.h"

#endif  // HEDDLE_CUDA_SURFACE_TYPES_H_
