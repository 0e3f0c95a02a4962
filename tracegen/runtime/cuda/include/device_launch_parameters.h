// Built-in variables of kernels (threadIdx and others) are always there.
#ifndef __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "vector_types.h"

#endif  // __DEVICE_LAUNCH_PARAMETERS_H__
