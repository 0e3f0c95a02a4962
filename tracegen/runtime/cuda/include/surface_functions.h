// Name that programs include: device functions are there in every .cu file.
#ifndef HEDDLE_SURFACE_FUNCTIONS_H_
#define HEDDLE_SURFACE_FUNCTIONS_H_

#include "vector_types.h"

#endif  // HEDDLE_SURFACE_FUNCTIONS_H_
