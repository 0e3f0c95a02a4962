// Name that programs include.
#ifndef HEDDLE_CRT_HOST_DEFINES_H_
#define HEDDLE_CRT_HOST_DEFINES_H_

#include "../host_defines.h"

#endif  // HEDDLE_CRT_HOST_DEFINES_H_
