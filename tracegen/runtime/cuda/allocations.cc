// Allocation functions of the API.
#include <cstdint>

#include "tracegen/runtime/cuda/device_model.h"
#include "tracegen/runtime/cuda/memory.h"
#include "tracegen/runtime/cuda/state.h"
#include "tracegen/runtime/cuda/work.h"

using heddle::cuda::Allocation;
using heddle::cuda::Fail;
using heddle::cuda::Guard;
using heddle::cuda::MemoryKind;
using heddle::cuda::Timeline;

namespace {

cudaError_t AllocateInto(const char* call, void** pointer, size_t size, MemoryKind kind) {
  const Guard guard;
  if (pointer == nullptr) return Fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  if (cudaError_t error = heddle::cuda::CheckUnsafe(call); error != cudaSuccess) return error;
  uint64_t address = 0;
  const cudaError_t error = heddle::cuda::Allocate(call, size, kind, &address);
  if (error == cudaSuccess) *pointer = reinterpret_cast<void*>(address);
  return error;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return AllocateInto("cudaMalloc", pointer, size, MemoryKind::kDevice);
}

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t handle) {
  const Guard guard;
  if (pointer == nullptr) return Fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  cudaError_t error = cudaSuccess;
  CUstream_st* stream = Timeline::Get().Enter(handle, &error);
  if (stream == nullptr) return Fail(error);
  if (size == 0) return cudaSuccess;
  uint64_t address = 0;
  error = stream->recorder != nullptr ? Fail(stream->recorder->Allocate(stream, size, &address))
                                      : heddle::cuda::Allocate("cudaMallocAsync", size, MemoryKind::kDevice, &address);
  if (error == cudaSuccess) *pointer = reinterpret_cast<void*>(address);
  return error;
}

cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned int flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return Fail(cudaErrorInvalidValue);
  if (size == 0) return Fail(cudaErrorInvalidValue);
  return AllocateInto("cudaMallocManaged", pointer, size, MemoryKind::kManaged);
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (pitch == nullptr) return Fail(cudaErrorInvalidValue);
  const size_t unit = heddle::cuda::kPitchAlignment;
  *pitch = (width + unit - 1) / unit * unit;
  return AllocateInto("cudaMallocPitch", pointer, *pitch * height, MemoryKind::kDevice);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr* pointer, struct cudaExtent extent) {
  if (pointer == nullptr) return Fail(cudaErrorInvalidValue);
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, extent.height * extent.depth);
}

cudaError_t cudaFree(void* pointer) {
  const Guard guard;
  if (pointer == nullptr) {
    // Programs call this to start the device.
    const auto result = heddle::device::DeviceClient::Get().Connect();
    return Fail("cudaFree", result);
  }
  if (cudaError_t error = heddle::cuda::CheckUnsafe("cudaFree"); error != cudaSuccess) return error;
  return heddle::cuda::Free("cudaFree", reinterpret_cast<uint64_t>(pointer), MemoryKind::kDevice);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
  const Guard guard;
  cudaError_t error = cudaSuccess;
  CUstream_st* stream = Timeline::Get().Enter(handle, &error);
  if (stream == nullptr) return Fail(error);
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (stream->recorder != nullptr) return Fail(stream->recorder->Add(stream, heddle::cuda::FreeWork{address}));
  return pointer == nullptr ? cudaSuccess : heddle::cuda::Free("cudaFreeAsync", address, MemoryKind::kDevice);
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  const Guard guard;
  if (free_bytes == nullptr || total_bytes == nullptr) return Fail(cudaErrorInvalidValue);
  heddle::device::DeviceLimits limits;
  if (auto result = heddle::device::DeviceClient::Get().Limits(&limits); !result.ok()) {
    return Fail("cudaMemGetInfo", result);
  }
  *free_bytes = limits.free_bytes;
  *total_bytes = limits.total_bytes;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* pointer) {
  const Guard guard;
  if (attributes == nullptr || pointer == nullptr) return Fail(cudaErrorInvalidValue);
  const auto address = reinterpret_cast<uint64_t>(pointer);
  *attributes = cudaPointerAttributes{};
  const Allocation* allocation = heddle::cuda::FindAllocation(address);
  if (allocation == nullptr || allocation->kind == MemoryKind::kRegistered) {
    const Allocation* registered = heddle::cuda::FindRegistered(address);
    if (registered == nullptr) registered = allocation;
    if (registered == nullptr) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->hostPointer = const_cast<void*>(pointer);
      return cudaSuccess;
    }
    const uint64_t offset = registered == allocation ? address - registered->address : address - registered->host;
    attributes->type = cudaMemoryTypeHost;
    attributes->hostPointer = reinterpret_cast<void*>(registered->host + offset);
    attributes->devicePointer = reinterpret_cast<void*>(registered->address + offset);
    return cudaSuccess;
  }
  attributes->devicePointer = const_cast<void*>(pointer);
  attributes->type = cudaMemoryTypeDevice;
  if (allocation->kind == MemoryKind::kHost) attributes->type = cudaMemoryTypeHost;
  if (allocation->kind == MemoryKind::kManaged) attributes->type = cudaMemoryTypeManaged;
  if (attributes->type != cudaMemoryTypeDevice) attributes->hostPointer = const_cast<void*>(pointer);
  return cudaSuccess;
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t, int, cudaStream_t) {
  const Guard guard;
  const Allocation* allocation = heddle::cuda::FindAllocation(reinterpret_cast<uint64_t>(pointer));
  return allocation != nullptr && allocation->kind == MemoryKind::kManaged ? cudaSuccess : Fail(cudaErrorInvalidValue);
}

cudaError_t cudaMemAdvise(const void* pointer, size_t count, enum cudaMemoryAdvise, int) {
  return cudaMemPrefetchAsync(pointer, count, 0, nullptr);
}

}  // extern "C"
