// Name that programs include.
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#ifdef __CUDA__
#include "heddle_cuda_groups.h"
#endif

#endif  // _COOPERATIVE_GROUPS_H_
