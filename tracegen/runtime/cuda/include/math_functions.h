// Name that programs include: device functions are there in every .cu file.
#ifndef __MATH_FUNCTIONS_H__
#define __MATH_FUNCTIONS_H__

#include "vector_types.h"

#endif  // __MATH_FUNCTIONS_H__
