// Name that programs include: device functions are there in every .cu file.
#ifndef HEDDLE_TEXTURE_FETCH_FUNCTIONS_H_
#define HEDDLE_TEXTURE_FETCH_FUNCTIONS_H_

#include "vector_types.h"

#endif  // HEDDLE_TEXTURE_FETCH_FUNCTIONS_H_
