// Arrays, texture and surface objects, and references of modules, of the driver API: other words for the runtime's.
#include "tracegen/runtime/cuda/driver/driver_textures.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tracegen/runtime/cuda/arrays.h"
#include "tracegen/runtime/cuda/memory.h"
#include "tracegen/runtime/cuda/state.h"
#include "tracegen/runtime/cuda/textures.h"
#include "tracegen/runtime/protocol/device_image.h"

// A texture or surface reference of a module. On the device it is a variable that holds the address of a descriptor.
struct CUtexref_st {
  uint64_t variable = 0;
  uint64_t descriptor = 0;  // 0 until something is bound
  bool bound = false;
  bool surface = false;
  cudaResourceDesc resource = {};
  cudaTextureDesc description = {};
  unsigned int flags = 0;             // CU_TRSF_...
  cudaChannelFormatDesc format = {};  // of linear memory; x is 0 until it is set
};

namespace heddle::cuda {
namespace {

// Numbers above those of arguments are the same in both APIs; the runtime's reasons for a refused argument are one.
CUresult Result(cudaError_t error) {
  const bool reason = error >= cudaErrorInvalidConfiguration && error < cudaErrorNoDevice;
  return reason ? CUDA_ERROR_INVALID_VALUE : static_cast<CUresult>(error);
}

cudaArray_t Array(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }

// False if there is no such format.
bool ReadFormat(CUarray_format format, unsigned int channels, cudaChannelFormatDesc* out) {
  if (channels != 1 && channels != 2 && channels != 4) return false;
  int bits = 0;
  cudaChannelFormatKind kind = cudaChannelFormatKindUnsigned;
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_UNSIGNED_INT32:
      bits = 8 << (format - CU_AD_FORMAT_UNSIGNED_INT8);
      break;
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT32:
      bits = 8 << (format - CU_AD_FORMAT_SIGNED_INT8);
      kind = cudaChannelFormatKindSigned;
      break;
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_FLOAT:
      bits = format == CU_AD_FORMAT_HALF ? 16 : 32;
      kind = cudaChannelFormatKindFloat;
      break;
    default:
      return false;
  }
  *out = {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
  return true;
}

void WriteFormat(const cudaChannelFormatDesc& format, CUarray_format* out, unsigned int* channels) {
  const int size = format.x == 8 ? 0 : format.x == 16 ? 1 : 2;
  int number = CU_AD_FORMAT_UNSIGNED_INT8 + size;
  if (format.f == cudaChannelFormatKindSigned) number = CU_AD_FORMAT_SIGNED_INT8 + size;
  if (format.f == cudaChannelFormatKindFloat) number = format.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
  *out = static_cast<CUarray_format>(number);
  *channels = 1u + (format.y != 0) + (format.z != 0) + (format.w != 0);
}

bool ReadResource(const CUDA_RESOURCE_DESC& from, cudaResourceDesc* to) {
  *to = {};
  to->resType = static_cast<cudaResourceType>(from.resType);
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      to->res.array.array = Array(from.res.array.hArray);
      return true;
    case CU_RESOURCE_TYPE_LINEAR:
      to->res.linear.devPtr = reinterpret_cast<void*>(from.res.linear.devPtr);
      to->res.linear.sizeInBytes = from.res.linear.sizeInBytes;
      return ReadFormat(from.res.linear.format, from.res.linear.numChannels, &to->res.linear.desc);
    case CU_RESOURCE_TYPE_PITCH2D:
      to->res.pitch2D.devPtr = reinterpret_cast<void*>(from.res.pitch2D.devPtr);
      to->res.pitch2D.width = from.res.pitch2D.width;
      to->res.pitch2D.height = from.res.pitch2D.height;
      to->res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
      return ReadFormat(from.res.pitch2D.format, from.res.pitch2D.numChannels, &to->res.pitch2D.desc);
    default:
      return true;  // the runtime says that it is not supported
  }
}

// The channels of what a texture reads; zeros if there is no such array.
cudaChannelFormatDesc FormatOf(const cudaResourceDesc& resource) {
  if (resource.resType == cudaResourceTypeLinear) return resource.res.linear.desc;
  if (resource.resType == cudaResourceTypePitch2D) return resource.res.pitch2D.desc;
  const cudaArray* array = resource.resType == cudaResourceTypeArray ? resource.res.array.array : nullptr;
  return array != nullptr && IsArray(array) ? array->format : cudaChannelFormatDesc{};
}

// Integers of 8 and 16 bits are read as numbers up to 1 unless a flag says otherwise, those of 32 bits never.
void ReadFlags(unsigned int flags, const cudaChannelFormatDesc& format, cudaTextureDesc* description) {
  const bool as_integer = (flags & CU_TRSF_READ_AS_INTEGER) != 0 || format.x == 32;
  description->readMode = as_integer ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  description->normalizedCoords = (flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
}

using References = std::map<std::pair<CUmodule, std::string>, std::unique_ptr<CUtexref_st>>;
References& AllReferences() {
  static auto& references = *new References;
  return references;
}

CUresult FindReference(CUmodule module, const char* name, bool surface, CUtexref* out) {
  const Guard guard;
  CUdeviceptr variable = 0;
  size_t bytes = 0;
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = cuModuleGetGlobal(&variable, &bytes, module, name); result != CUDA_SUCCESS) return result;
  if (bytes != sizeof(uint64_t)) return CUDA_ERROR_NOT_FOUND;  // a variable of another kind
  std::unique_ptr<CUtexref_st>& reference = AllReferences()[{module, name}];
  if (reference == nullptr) {
    reference = std::make_unique<CUtexref_st>();
    reference->variable = variable;
    reference->surface = surface;
  }
  *out = reference.get();
  return CUDA_SUCCESS;
}

// Makes the descriptor what has been set so far, and puts it behind the variable.
CUresult Update(const char* call, CUtexref reference) {
  if (cudaError_t error = ContextError(call); error != cudaSuccess) return Result(error);
  uint64_t shown = 0;
  if (reference->bound) {
    cudaResourceDesc resource = reference->resource;
    if (resource.resType == cudaResourceTypeLinear) {
      if (reference->format.x == 0) return CUDA_SUCCESS;  // comes later
      resource.res.linear.desc = reference->format;
    }
    const cudaChannelFormatDesc format = FormatOf(resource);
    cudaTextureDesc description = reference->description;
    ReadFlags(reference->flags, format, &description);
    // Which only reads of numbers with fractions have.
    if (description.readMode == cudaReadModeElementType && format.f != cudaChannelFormatKindFloat) {
      description.filterMode = cudaFilterModePoint;
    }
    HeddleImage image = {};
    cudaError_t error = MakeImage(resource, reference->surface ? nullptr : &description, &image);
    if (error == cudaSuccess && reference->descriptor == 0) {
      error = Allocate(call, sizeof(image), MemoryKind::kInternal, &reference->descriptor);
    }
    if (error != cudaSuccess) return Result(error);
    std::memcpy(reinterpret_cast<void*>(reference->descriptor), &image, sizeof(image));
    shown = reference->descriptor;
  }
  std::memcpy(reinterpret_cast<void*>(reference->variable), &shown, sizeof(shown));
  return CUDA_SUCCESS;
}

CUresult Bind(const char* call, CUtexref reference, bool bound, const cudaResourceDesc& resource) {
  if (reference == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  reference->bound = bound;
  reference->resource = resource;
  return Update(call, reference);
}

CUresult BindArray(const char* call, CUtexref reference, CUarray array) {
  const Guard guard;
  if (array != nullptr && !IsArray(Array(array))) return CUDA_ERROR_INVALID_HANDLE;
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = Array(array);
  return Bind(call, reference, array != nullptr, resource);
}

}  // namespace

void ForgetReferences(CUmodule module) {
  References& references = AllReferences();
  for (auto it = references.lower_bound({module, ""}); it != references.end() && it->first.first == module;) {
    if (it->second->descriptor != 0) Free("cuModuleUnload", it->second->descriptor, MemoryKind::kInternal);
    it = references.erase(it);
  }
}

}  // namespace heddle::cuda

using heddle::cuda::Array;
using heddle::cuda::Guard;
using heddle::cuda::Result;
using heddle::cuda::Update;

extern "C" {

CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* description) {
  if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR whole = {description->Width,  description->Height,      0,
                                         description->Format, description->NumChannels, 0};
  return cuArray3DCreate(array, &whole);
}

CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  cudaChannelFormatDesc format;
  if (array == nullptr || description == nullptr ||
      !heddle::cuda::ReadFormat(description->Format, description->NumChannels, &format)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return Result(cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(array), &format,
                                  {description->Width, description->Height, description->Depth}, description->Flags));
}

CUresult cuArrayDestroy(CUarray array) {
  return array == nullptr ? CUDA_ERROR_INVALID_HANDLE : Result(cudaFreeArray(Array(array)));
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
  const Guard guard;
  if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (array == nullptr || !heddle::cuda::IsArray(Array(array))) return CUDA_ERROR_INVALID_HANDLE;
  const cudaArray& of = *Array(array);
  description->Width = of.extent.width;
  description->Height = of.extent.height;
  description->Depth = of.extent.depth;
  description->Flags = of.flags;
  heddle::cuda::WriteFormat(of.format, &description->Format, &description->NumChannels);
  return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* description, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR whole;
  if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = cuArray3DGetDescriptor(&whole, array);
  if (result == CUDA_SUCCESS) *description = {whole.Width, whole.Height, whole.Format, whole.NumChannels};
  return result;
}

CUresult cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* description, const CUDA_RESOURCE_VIEW_DESC* view) {
  const Guard guard;
  cudaResourceDesc from;
  if (resource == nullptr || description == nullptr || !heddle::cuda::ReadResource(*resource, &from)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  cudaTextureDesc read = {};
  for (int i = 0; i < 3; ++i) {
    read.addressMode[i] = static_cast<cudaTextureAddressMode>(description->addressMode[i]);
  }
  read.filterMode = static_cast<cudaTextureFilterMode>(description->filterMode);
  read.sRGB = (description->flags & CU_TRSF_SRGB) != 0;
  std::memcpy(read.borderColor, description->borderColor, sizeof(read.borderColor));
  read.maxAnisotropy = description->maxAnisotropy;
  read.mipmapFilterMode = static_cast<cudaTextureFilterMode>(description->mipmapFilterMode);
  read.mipmapLevelBias = description->mipmapLevelBias;
  read.minMipmapLevelClamp = description->minMipmapLevelClamp;
  read.maxMipmapLevelClamp = description->maxMipmapLevelClamp;
  heddle::cuda::ReadFlags(description->flags, heddle::cuda::FormatOf(from), &read);
  const cudaResourceViewDesc no_view = {};  // which is refused with a message, whatever is in it
  return Result(cudaCreateTextureObject(texture, &from, &read, view != nullptr ? &no_view : nullptr));
}

CUresult cuTexObjectDestroy(CUtexObject texture) { return Result(cudaDestroyTextureObject(texture)); }

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject texture) {
  cudaResourceDesc from;
  if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = Result(cudaGetTextureObjectResourceDesc(&from, texture));
  if (result != CUDA_SUCCESS) return result;
  *resource = {};
  resource->resType = static_cast<CUresourcetype>(from.resType);
  auto& to = resource->res;
  if (from.resType == cudaResourceTypeArray) {
    to.array.hArray = reinterpret_cast<CUarray>(from.res.array.array);
  } else if (from.resType == cudaResourceTypeLinear) {
    to.linear.devPtr = reinterpret_cast<CUdeviceptr>(from.res.linear.devPtr);
    heddle::cuda::WriteFormat(from.res.linear.desc, &to.linear.format, &to.linear.numChannels);
    to.linear.sizeInBytes = from.res.linear.sizeInBytes;
  } else {
    to.pitch2D.devPtr = reinterpret_cast<CUdeviceptr>(from.res.pitch2D.devPtr);
    heddle::cuda::WriteFormat(from.res.pitch2D.desc, &to.pitch2D.format, &to.pitch2D.numChannels);
    to.pitch2D.width = from.res.pitch2D.width;
    to.pitch2D.height = from.res.pitch2D.height;
    to.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
  }
  return CUDA_SUCCESS;
}

CUresult cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource) {
  cudaResourceDesc from;
  if (resource == nullptr || !heddle::cuda::ReadResource(*resource, &from)) return CUDA_ERROR_INVALID_VALUE;
  return Result(cudaCreateSurfaceObject(surface, &from));
}

CUresult cuSurfObjectDestroy(CUsurfObject surface) { return Result(cudaDestroySurfaceObject(surface)); }

CUresult cuModuleGetTexRef(CUtexref* reference, CUmodule module, const char* name) {
  return heddle::cuda::FindReference(module, name, false, reference);
}

CUresult cuTexRefSetArray(CUtexref reference, CUarray array, unsigned int) {
  return heddle::cuda::BindArray("cuTexRefSetArray", reference, array);
}

CUresult cuTexRefSetAddress(size_t* offset, CUtexref reference, CUdeviceptr pointer, size_t bytes) {
  const Guard guard;
  if (offset != nullptr) *offset = 0;
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = reinterpret_cast<void*>(pointer);
  resource.res.linear.sizeInBytes = bytes;
  return heddle::cuda::Bind("cuTexRefSetAddress", reference, pointer != 0, resource);
}

CUresult cuTexRefSetAddress2D(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR* description, CUdeviceptr pointer,
                              size_t pitch) {
  const Guard guard;
  if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = reinterpret_cast<void*>(pointer);
  resource.res.pitch2D.width = description->Width;
  resource.res.pitch2D.height = description->Height;
  resource.res.pitch2D.pitchInBytes = pitch;
  if (!heddle::cuda::ReadFormat(description->Format, description->NumChannels, &resource.res.pitch2D.desc)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return heddle::cuda::Bind("cuTexRefSetAddress2D", reference, pointer != 0, resource);
}

CUresult cuTexRefSetFormat(CUtexref reference, CUarray_format format, int channels) {
  const Guard guard;
  cudaChannelFormatDesc read;
  if (reference == nullptr || !heddle::cuda::ReadFormat(format, static_cast<unsigned int>(channels), &read)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  reference->format = read;
  return Update("cuTexRefSetFormat", reference);
}

CUresult cuTexRefSetAddressMode(CUtexref reference, int dimension, CUaddress_mode mode) {
  const Guard guard;
  if (reference == nullptr || dimension < 0 || dimension > 2 || mode > CU_TR_ADDRESS_MODE_BORDER) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  reference->description.addressMode[dimension] = static_cast<cudaTextureAddressMode>(mode);
  return Update("cuTexRefSetAddressMode", reference);
}

CUresult cuTexRefSetFilterMode(CUtexref reference, CUfilter_mode mode) {
  const Guard guard;
  if (reference == nullptr || mode > CU_TR_FILTER_MODE_LINEAR) return CUDA_ERROR_INVALID_VALUE;
  reference->description.filterMode = static_cast<cudaTextureFilterMode>(mode);
  return Update("cuTexRefSetFilterMode", reference);
}

CUresult cuTexRefSetFlags(CUtexref reference, unsigned int flags) {
  const Guard guard;
  if (reference == nullptr) return CUDA_ERROR_INVALID_VALUE;
  reference->flags = flags;
  return Update("cuTexRefSetFlags", reference);
}

// Kernels find their references by themselves.
CUresult cuParamSetTexRef(CUfunction function, int unit, CUtexref reference) {
  return function != nullptr && reference != nullptr && unit == CU_PARAM_TR_DEFAULT ? CUDA_SUCCESS
                                                                                    : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleGetSurfRef(CUsurfref* reference, CUmodule module, const char* name) {
  return heddle::cuda::FindReference(module, name, true, reinterpret_cast<CUtexref*>(reference));
}

CUresult cuSurfRefSetArray(CUsurfref reference, CUarray array, unsigned int) {
  return heddle::cuda::BindArray("cuSurfRefSetArray", reinterpret_cast<CUtexref>(reference), array);
}

}  // extern "C"
