// Name that programs include (Thrust does): occupancy is computed by the runtime's cudaOccupancy... functions. The
// toolkit's stand-alone calculator, cudaOcc..., is not there.
#ifndef __CUDA_OCCUPANCY_H__
#define __CUDA_OCCUPANCY_H__

#include "cuda_runtime_api.h"

#endif  // __CUDA_OCCUPANCY_H__
