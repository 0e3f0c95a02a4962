// All types of the CUDA runtime API.
#ifndef HEDDLE_BUILTIN_TYPES_H_
#define HEDDLE_BUILTIN_TYPES_H_

#include "driver_types.h"
#include "surface_types.h"
#include "texture_types.h"
#include "vector_types.h"

#endif  // HEDDLE_BUILTIN_TYPES_H_
