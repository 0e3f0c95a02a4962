// Texture and surface references and objects.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_TEXTURES_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_TEXTURES_H_

#include "tracegen/runtime/cuda/api.h"
#include "tracegen/runtime/protocol/device_image.h"

namespace heddle::cuda {

// The descriptor of a resource that is read as `description` says; null: of a surface.
cudaError_t MakeImage(const cudaResourceDesc& resource, const cudaTextureDesc* description, HeddleImage* image);

// Brings the descriptors of bound texture references up to date: programs set addressing and filtering in the reference
// itself, also after binding it. Before each launch, with the Guard held.
void RefreshTextureReferences();

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_TEXTURES_H_
