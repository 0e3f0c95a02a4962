// Name that programs include.
#ifndef HEDDLE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_
#define HEDDLE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_

#ifdef __CUDA__
#include "heddle_cuda_groups.h"
#endif

#endif  // HEDDLE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_
