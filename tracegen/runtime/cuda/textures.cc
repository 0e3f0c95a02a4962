#include "tracegen/runtime/cuda/textures.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "tracegen/runtime/cuda/arrays.h"
#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/device_model.h"
#include "tracegen/runtime/cuda/memory.h"
#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

HeddleImage* ImageAt(uint64_t address) { return reinterpret_cast<HeddleImage*>(address); }

// The type of a channel: integers read as numbers between 0 and 1 (or -1 and 1) if `normalized_float`. False if such a
// read is not possible.
bool ChannelType(const cudaChannelFormatDesc& format, bool normalized_float, uint32_t* type) {
  const int size = format.x == 8 ? 0 : format.x == 16 ? 1 : 2;
  switch (format.f) {
    case cudaChannelFormatKindSigned:
      *type = (normalized_float ? HEDDLE_CHANNEL_SNORM_8 : HEDDLE_CHANNEL_SIGNED_8) + size;
      return !normalized_float || size < 2;
    case cudaChannelFormatKindUnsigned:
      *type = (normalized_float ? HEDDLE_CHANNEL_UNORM_8 : HEDDLE_CHANNEL_UNSIGNED_8) + size;
      return !normalized_float || size < 2;
    case cudaChannelFormatKindFloat:
      *type = format.x == 16 ? HEDDLE_CHANNEL_HALF : HEDDLE_CHANNEL_FLOAT;
      return format.x >= 16;
    default:
      return false;
  }
}

// Format and texel size; geometry is the caller's.
cudaError_t FillFormat(const cudaChannelFormatDesc& format, bool normalized_float, HeddleImage* image) {
  image->texel_bytes = TexelBytes(format);
  if (image->texel_bytes == 0) return Fail(cudaErrorInvalidChannelDescriptor);
  if (!ChannelType(format, normalized_float, &image->channel_type)) return Fail(cudaErrorInvalidNormSetting);
  const int channels = 1 + (format.y != 0) + (format.z != 0) + (format.w != 0);
  image->channel_order = HEDDLE_ORDER_R + channels - 1;
  image->missing_alpha_is_zero = 1;
  return cudaSuccess;
}

cudaError_t FillFromArray(const cudaArray* array, bool normalized_float, HeddleImage* image) {
  if (!IsArray(array)) return Fail(cudaErrorInvalidResourceHandle);
  const bool layered = (array->flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
  image->data = array->address;
  image->row_bytes = array->pitch;
  image->slice_bytes = array->slice_bytes;
  image->width = static_cast<uint32_t>(array->extent.width);
  image->height = static_cast<uint32_t>(array->rows());
  image->depth = layered ? 1 : static_cast<uint32_t>(array->slices());
  image->layers = layered ? static_cast<uint32_t>(array->slices()) : 1;
  return FillFormat(array->format, normalized_float, image);
}

cudaError_t FillFromMemory(const void* pointer, const cudaChannelFormatDesc& format, uint64_t width, uint64_t height,
                           uint64_t pitch, bool normalized_float, HeddleImage* image) {
  image->data = reinterpret_cast<uint64_t>(pointer);
  image->row_bytes = pitch;
  image->slice_bytes = pitch * height;
  image->width = static_cast<uint32_t>(width);
  image->height = static_cast<uint32_t>(height);
  image->depth = image->layers = 1;
  return FillFormat(format, normalized_float, image);
}

cudaError_t FillSampler(const cudaTextureDesc& description, HeddleImage* image) {
  HeddleSampler& sampler = image->sampler;
  for (int i = 0; i < 3; ++i) sampler.address_mode[i] = static_cast<uint32_t>(description.addressMode[i]);
  sampler.filter_mode = static_cast<uint32_t>(description.filterMode);
  sampler.level_filter = static_cast<uint32_t>(description.mipmapFilterMode);
  sampler.normalized = description.normalizedCoords != 0 ? 1 : 0;
  std::memcpy(sampler.border, description.borderColor, sizeof(sampler.border));
  sampler.level_bias = description.mipmapLevelBias;
  sampler.min_level = description.minMipmapLevelClamp;
  sampler.max_level = description.maxMipmapLevelClamp;
  const bool reads_float = image->channel_type >= HEDDLE_CHANNEL_SNORM_8;
  if (description.filterMode == cudaFilterModeLinear && !reads_float) return Fail(cudaErrorInvalidFilterSetting);
  return cudaSuccess;
}

cudaTextureDesc DescriptionOf(const textureReference& reference, bool normalized_float) {
  cudaTextureDesc description = {};
  std::copy(reference.addressMode, reference.addressMode + 3, description.addressMode);
  description.filterMode = reference.filterMode;
  description.readMode = normalized_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  description.normalizedCoords = reference.normalized;
  description.mipmapFilterMode = reference.mipmapFilterMode;
  description.mipmapLevelBias = reference.mipmapLevelBias;
  description.minMipmapLevelClamp = reference.minMipmapLevelClamp;
  description.maxMipmapLevelClamp = reference.maxMipmapLevelClamp;
  return description;
}

// A texture or surface object: its descriptor's address is its handle.
struct Object {
  cudaResourceDesc resource;
  cudaTextureDesc description;
};
std::map<uint64_t, Object>& Objects() {
  static auto& objects = *new std::map<uint64_t, Object>;
  return objects;
}

cudaError_t FillFromResource(const cudaResourceDesc& resource, bool normalized_float, HeddleImage* image) {
  switch (resource.resType) {
    case cudaResourceTypeArray:
      return FillFromArray(resource.res.array.array, normalized_float, image);
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      const uint32_t texel = TexelBytes(linear.desc);
      if (texel == 0) return Fail(cudaErrorInvalidChannelDescriptor);
      return FillFromMemory(linear.devPtr, linear.desc, linear.sizeInBytes / texel, 1, linear.sizeInBytes,
                            normalized_float, image);
    }
    case cudaResourceTypePitch2D: {
      const auto& pitched = resource.res.pitch2D;
      return FillFromMemory(pitched.devPtr, pitched.desc, pitched.width, pitched.height, pitched.pitchInBytes,
                            normalized_float, image);
    }
    default:
      Explain("cudaCreateTextureObject", "mipmapped arrays are not supported");
      return Fail(cudaErrorNotSupported);
  }
}

cudaError_t CreateObject(const char* call, unsigned long long* handle, const cudaResourceDesc* resource,
                         const cudaTextureDesc* description) {
  if (handle == nullptr || resource == nullptr) return Fail(cudaErrorInvalidValue);
  HeddleImage image = {};
  Object object = {*resource, {}};
  if (description != nullptr) object.description = *description;
  cudaError_t error = MakeImage(*resource, description, &image);
  uint64_t address = 0;
  if (error == cudaSuccess) error = Allocate(call, sizeof(image), MemoryKind::kInternal, &address);
  if (error != cudaSuccess) return error;
  *ImageAt(address) = image;
  Objects()[address] = object;
  *handle = address;
  return cudaSuccess;
}

cudaError_t DestroyObject(const char* call, uint64_t handle) {
  if (handle == 0) return cudaSuccess;
  if (Objects().erase(handle) == 0) return Fail(cudaErrorInvalidValue);
  return Free(call, handle, MemoryKind::kInternal);
}

// A texture or surface reference that is bound: its descriptor and the variable on the device that holds its address.
struct Binding {
  const textureReference* reference;  // null for a surface
  bool normalized_float;
  uint64_t descriptor;
  uint64_t variable;
};
std::map<const void*, Binding>& Bindings() {
  static auto& bindings = *new std::map<const void*, Binding>;
  return bindings;
}

// Puts `image` behind the reference at `host`.
cudaError_t Bind(const char* call, const void* host, const textureReference* reference, const HeddleImage& image) {
  if (cudaError_t error = ContextError(call); error != cudaSuccess) return Fail(error);
  const Variable* variable = nullptr;
  const device::VariableInfo* place = nullptr;
  if (cudaError_t error = CodeRegistry::Get().Locate(call, host, &variable, &place); error != cudaSuccess) {
    return Fail(cudaErrorInvalidTexture);
  }
  auto found = Bindings().find(host);
  if (found == Bindings().end()) {
    Binding binding = {reference, variable->normalized_float, 0, place->address};
    cudaError_t error = Allocate(call, sizeof(image), MemoryKind::kInternal, &binding.descriptor);
    if (error != cudaSuccess) return error;
    found = Bindings().emplace(host, binding).first;
  }
  *ImageAt(found->second.descriptor) = image;
  std::memcpy(reinterpret_cast<void*>(found->second.variable), &found->second.descriptor, sizeof(uint64_t));
  return cudaSuccess;
}

bool IsNormalizedFloat(const void* host) {
  const Variable* variable = CodeRegistry::Get().FindVariable(host);
  return variable != nullptr && variable->normalized_float;
}

cudaError_t BindMemory(const char* call, size_t* offset, const textureReference* texture, const void* pointer,
                       const cudaChannelFormatDesc* format, uint64_t width, uint64_t height, uint64_t pitch) {
  if (texture == nullptr || format == nullptr) return Fail(cudaErrorInvalidValue);
  if (offset != nullptr) *offset = 0;
  HeddleImage image = {};
  const bool normalized = IsNormalizedFloat(texture);
  cudaError_t error = FillFromMemory(pointer, *format, width, height, pitch, normalized, &image);
  if (error == cudaSuccess) error = FillSampler(DescriptionOf(*texture, normalized), &image);
  return error == cudaSuccess ? Bind(call, texture, texture, image) : error;
}

}  // namespace

cudaError_t MakeImage(const cudaResourceDesc& resource, const cudaTextureDesc* description, HeddleImage* image) {
  *image = {};
  const bool normalized = description != nullptr && description->readMode == cudaReadModeNormalizedFloat;
  const cudaError_t error = FillFromResource(resource, normalized, image);
  return error == cudaSuccess && description != nullptr ? FillSampler(*description, image) : error;
}

void RefreshTextureReferences() {
  for (const auto& [host, binding] : Bindings()) {
    if (binding.reference == nullptr) continue;
    FillSampler(DescriptionOf(*binding.reference, binding.normalized_float), ImageAt(binding.descriptor));
  }
}

}  // namespace heddle::cuda

using heddle::cuda::Fail;
using heddle::cuda::Guard;

extern "C" {

cudaError_t cudaBindTexture(size_t* offset, const textureReference* texture, const void* pointer,
                            const cudaChannelFormatDesc* format, size_t size) {
  const Guard guard;
  const uint32_t texel = format == nullptr ? 0 : heddle::cuda::TexelBytes(*format);
  if (texel == 0) return Fail(cudaErrorInvalidChannelDescriptor);
  // Without a size the texture reaches to the end of the allocation.
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const heddle::cuda::Allocation* allocation = heddle::cuda::FindAllocation(address);
  if (allocation == nullptr) return Fail(cudaErrorInvalidValue);
  const size_t rest = allocation->bytes - (address - allocation->address);
  const size_t bytes = size > rest ? rest : size;
  return heddle::cuda::BindMemory("cudaBindTexture", offset, texture, pointer, format, bytes / texel, 1, bytes);
}

cudaError_t cudaBindTexture2D(size_t* offset, const textureReference* texture, const void* pointer,
                              const cudaChannelFormatDesc* format, size_t width, size_t height, size_t pitch) {
  const Guard guard;
  return heddle::cuda::BindMemory("cudaBindTexture2D", offset, texture, pointer, format, width, height, pitch);
}

cudaError_t cudaBindTextureToArray(const textureReference* texture, cudaArray_const_t array,
                                   const cudaChannelFormatDesc*) {
  const Guard guard;
  if (texture == nullptr) return Fail(cudaErrorInvalidValue);
  HeddleImage image = {};
  const bool normalized = heddle::cuda::IsNormalizedFloat(texture);
  cudaError_t error = heddle::cuda::FillFromArray(array, normalized, &image);
  if (error == cudaSuccess) {
    error = heddle::cuda::FillSampler(heddle::cuda::DescriptionOf(*texture, normalized), &image);
  }
  return error == cudaSuccess ? heddle::cuda::Bind("cudaBindTextureToArray", texture, texture, image) : error;
}

cudaError_t cudaBindSurfaceToArray(const surfaceReference* surface, cudaArray_const_t array,
                                   const cudaChannelFormatDesc*) {
  const Guard guard;
  if (surface == nullptr) return Fail(cudaErrorInvalidValue);
  HeddleImage image = {};
  const cudaError_t error = heddle::cuda::FillFromArray(array, false, &image);
  return error == cudaSuccess ? heddle::cuda::Bind("cudaBindSurfaceToArray", surface, nullptr, image) : error;
}

cudaError_t cudaUnbindTexture(const textureReference* texture) {
  const Guard guard;
  if (cudaError_t error = heddle::cuda::ContextError("cudaUnbindTexture"); error != cudaSuccess) return Fail(error);
  auto found = heddle::cuda::Bindings().find(texture);
  if (found == heddle::cuda::Bindings().end()) return cudaSuccess;
  std::memset(reinterpret_cast<void*>(found->second.variable), 0, sizeof(uint64_t));
  const uint64_t descriptor = found->second.descriptor;
  heddle::cuda::Bindings().erase(found);
  return heddle::cuda::Free("cudaUnbindTexture", descriptor, heddle::cuda::MemoryKind::kInternal);
}

cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const textureReference* texture) {
  const Guard guard;
  if (offset == nullptr || heddle::cuda::Bindings().count(texture) == 0) return Fail(cudaErrorInvalidTextureBinding);
  *offset = 0;
  return cudaSuccess;
}

cudaError_t cudaGetTextureReference(const textureReference** texture, const void* symbol) {
  const Guard guard;
  const heddle::cuda::Variable* variable = heddle::cuda::CodeRegistry::Get().FindVariable(symbol);
  if (texture == nullptr || variable == nullptr || variable->kind != heddle::cuda::VariableKind::kTexture) {
    return Fail(cudaErrorInvalidTexture);
  }
  *texture = static_cast<const textureReference*>(variable->host);
  return cudaSuccess;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const cudaResourceViewDesc* view) {
  const Guard guard;
  if (description == nullptr) return Fail(cudaErrorInvalidValue);
  if (view != nullptr) {
    heddle::cuda::Explain("cudaCreateTextureObject", "resource views are not supported");
    return Fail(cudaErrorNotSupported);
  }
  return heddle::cuda::CreateObject("cudaCreateTextureObject", texture, resource, description);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  const Guard guard;
  return heddle::cuda::DestroyObject("cudaDestroyTextureObject", texture);
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture) {
  const Guard guard;
  auto found = heddle::cuda::Objects().find(texture);
  if (resource == nullptr || found == heddle::cuda::Objects().end()) return Fail(cudaErrorInvalidValue);
  *resource = found->second.resource;
  return cudaSuccess;
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description, cudaTextureObject_t texture) {
  const Guard guard;
  auto found = heddle::cuda::Objects().find(texture);
  if (description == nullptr || found == heddle::cuda::Objects().end()) return Fail(cudaErrorInvalidValue);
  *description = found->second.description;
  return cudaSuccess;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
  const Guard guard;
  if (resource == nullptr || resource->resType != cudaResourceTypeArray) return Fail(cudaErrorInvalidValue);
  return heddle::cuda::CreateObject("cudaCreateSurfaceObject", surface, resource, nullptr);
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  const Guard guard;
  return heddle::cuda::DestroyObject("cudaDestroySurfaceObject", surface);
}

}  // extern "C"
