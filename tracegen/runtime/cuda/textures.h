// Texture and surface references and objects.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_TEXTURES_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_TEXTURES_H_

namespace heddle::cuda {

// Brings the descriptors of bound texture references up to date: programs set addressing and filtering in the reference
// itself, also after binding it. Before each launch, with the Guard held.
void RefreshTextureReferences();

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_TEXTURES_H_
