// Copies and fills of plain memory, and of variables by symbol.
#include <cstdint>

#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/memory.h"
#include "tracegen/runtime/cuda/state.h"

using heddle::cuda::CodeRegistry;
using heddle::cuda::Fail;
using heddle::cuda::Guard;
using heddle::cuda::Layout;

namespace {

Layout At(const void* pointer, uint64_t pitch = 0, uint64_t slice_bytes = 0) {
  return {const_cast<void*>(pointer), pitch, slice_bytes};
}

cudaError_t CopyRows(const char* call, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                     size_t height, cudaMemcpyKind kind, cudaStream_t stream, bool synchronous) {
  const Guard guard;
  if (width > to_pitch || width > from_pitch) return Fail(cudaErrorInvalidPitchValue);
  return heddle::cuda::Copy(call, At(to, to_pitch), At(from, from_pitch), {width, height, 1}, kind, stream,
                            synchronous);
}

// A copy between `memory` and a variable, into the variable if `into`.
cudaError_t CopySymbol(const char* call, const void* symbol, const void* memory, size_t count, size_t offset,
                       cudaMemcpyKind kind, cudaStream_t stream, bool into, bool synchronous) {
  const Guard guard;
  const heddle::cuda::Variable* variable = nullptr;
  const heddle::device::VariableInfo* place = nullptr;
  CodeRegistry& registry = CodeRegistry::Get();
  if (cudaError_t error = registry.Locate(call, symbol, &variable, &place); error != cudaSuccess) return error;
  if (offset > place->bytes || count > place->bytes - offset) return Fail(cudaErrorInvalidValue);
  registry.PushManaged();
  const Layout device = At(reinterpret_cast<void*>(place->address + offset));
  const Layout other = At(memory);
  const cudaError_t error = into ? heddle::cuda::Copy(call, device, other, {count}, kind, stream, synchronous)
                                 : heddle::cuda::Copy(call, other, device, {count}, kind, stream, synchronous);
  registry.PullManaged();
  return error;
}

cudaError_t FillRows(const char* call, void* pointer, size_t pitch, int value, size_t width, size_t height,
                     size_t depth, size_t slice_bytes, cudaStream_t stream) {
  const Guard guard;
  return heddle::cuda::Fill(call, At(pointer, pitch, slice_bytes), value, 1, {width, height, depth}, stream);
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t count, enum cudaMemcpyKind kind) {
  const Guard guard;
  return heddle::cuda::Copy("cudaMemcpy", At(to), At(from), {count}, kind, nullptr, true);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream) {
  const Guard guard;
  return heddle::cuda::Copy("cudaMemcpyAsync", At(to), At(from), {count}, kind, stream, false);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t count) {
  if (to_device != 0 || from_device != 0) return Fail(cudaErrorInvalidDevice);
  return cudaMemcpy(to, from, count, cudaMemcpyDeviceToDevice);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t count,
                                cudaStream_t stream) {
  if (to_device != 0 || from_device != 0) return Fail(cudaErrorInvalidDevice);
  return cudaMemcpyAsync(to, from, count, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind) {
  return CopyRows("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, nullptr, true);
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  return CopyRows("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream, false);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t count, size_t offset,
                               enum cudaMemcpyKind kind) {
  return CopySymbol("cudaMemcpyToSymbol", symbol, from, count, offset, kind, nullptr, true, true);
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t count, size_t offset, enum cudaMemcpyKind kind) {
  return CopySymbol("cudaMemcpyFromSymbol", symbol, to, count, offset, kind, nullptr, false, true);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
  return CopySymbol("cudaMemcpyToSymbolAsync", symbol, from, count, offset, kind, stream, true, false);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
  return CopySymbol("cudaMemcpyFromSymbolAsync", symbol, to, count, offset, kind, stream, false, false);
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  const Guard guard;
  const heddle::cuda::Variable* variable = nullptr;
  const heddle::device::VariableInfo* place = nullptr;
  if (pointer == nullptr) return Fail(cudaErrorInvalidValue);
  cudaError_t error = CodeRegistry::Get().Locate("cudaGetSymbolAddress", symbol, &variable, &place);
  if (error == cudaSuccess) *pointer = reinterpret_cast<void*>(place->address);
  return error;
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  const Guard guard;
  const heddle::cuda::Variable* variable = nullptr;
  const heddle::device::VariableInfo* place = nullptr;
  if (size == nullptr) return Fail(cudaErrorInvalidValue);
  cudaError_t error = CodeRegistry::Get().Locate("cudaGetSymbolSize", symbol, &variable, &place);
  if (error == cudaSuccess) *size = place->bytes;
  return error;
}

cudaError_t cudaMemset(void* pointer, int value, size_t count) {
  return FillRows("cudaMemset", pointer, count, value, count, 1, 1, 0, nullptr);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream) {
  return FillRows("cudaMemsetAsync", pointer, count, value, count, 1, 1, 0, stream);
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return FillRows("cudaMemset2D", pointer, pitch, value, width, height, 1, 0, nullptr);
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return FillRows("cudaMemset2DAsync", pointer, pitch, value, width, height, 1, 0, stream);
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent) {
  return cudaMemset3DAsync(pointer, value, extent, nullptr);
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent, cudaStream_t stream) {
  return FillRows("cudaMemset3D", pointer.ptr, pointer.pitch, value, extent.width, extent.height, extent.depth,
                  pointer.pitch * pointer.ysize, stream);
}

}  // extern "C"
