// The public headers of the CUDA runtime and driver, with their functions visible to shared libraries: the parts of one
// process (a program, its plug-ins) must share one runtime.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_API_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_API_H_

#pragma GCC visibility push(default)
#include "tracegen/runtime/cuda/include/cuda.h"
#include "tracegen/runtime/cuda/include/cuda_runtime_api.h"
#pragma GCC visibility pop

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_API_H_
