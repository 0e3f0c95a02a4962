// Texture and surface references of modules of the driver API.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_DRIVER_DRIVER_TEXTURES_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_DRIVER_DRIVER_TEXTURES_H_

#include "tracegen/runtime/cuda/api.h"

namespace heddle::cuda {

// Gives up the references of a module that is about to be unloaded. With the Guard held.
void ForgetReferences(CUmodule module);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_DRIVER_DRIVER_TEXTURES_H_
