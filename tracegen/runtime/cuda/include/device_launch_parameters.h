// Built-in variables of kernels (threadIdx and others) are always there.
#ifndef HEDDLE_DEVICE_LAUNCH_PARAMETERS_H_
#define HEDDLE_DEVICE_LAUNCH_PARAMETERS_H_

#include "vector_types.h"

#endif  // HEDDLE_DEVICE_LAUNCH_PARAMETERS_H_
