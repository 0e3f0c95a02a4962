// Name that programs include; nothing to configure.
#ifndef HEDDLE_HOST_CONFIG_H_
#define HEDDLE_HOST_CONFIG_H_

#include "host_defines.h"

#endif  // HEDDLE_HOST_CONFIG_H_
