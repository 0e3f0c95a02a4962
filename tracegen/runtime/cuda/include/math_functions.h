// Name that programs include: device functions are there in every .cu file.
#ifndef HEDDLE_MATH_FUNCTIONS_H_
#define HEDDLE_MATH_FUNCTIONS_H_

#include "vector_types.h"

#endif  // HEDDLE_MATH_FUNCTIONS_H_
