// Name that programs include: device functions are there in every .cu file.
#ifndef HEDDLE_SM_35_INTRINSICS_H_
#define HEDDLE_SM_35_INTRINSICS_H_

#include "vector_types.h"

#endif  // HEDDLE_SM_35_INTRINSICS_H_
