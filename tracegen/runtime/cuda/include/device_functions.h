// Name that programs include: device functions are there in every .cu file.
#ifndef __DEVICE_FUNCTIONS_H__
#define __DEVICE_FUNCTIONS_H__

#include "vector_types.h"

#endif  // __DEVICE_FUNCTIONS_H__
