// Name that programs include.
#ifndef HEDDLE_CUDA_TEXTURE_TYPES_H_
#define HEDDLE_CUDA_TEXTURE_TYPES_H_

#include "texture_types.h"

#endif  // HEDDLE_CUDA_TEXTURE_TYPES_H_
