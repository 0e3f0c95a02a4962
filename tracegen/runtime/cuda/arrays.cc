#include "tracegen/runtime/cuda/arrays.h"

#include <cstdint>
#include <memory>
#include <set>

#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

std::set<const cudaArray*>& Arrays() {
  static auto& arrays = *new std::set<const cudaArray*>;
  return arrays;
}

// A linear piece of an array, which may run over the ends of rows, as cudaMemcpyToArray has it.
cudaError_t CopyLinear(const char* call, const cudaArray* array, uint64_t x, uint64_t y, void* memory, uint64_t count,
                       cudaMemcpyKind kind, cudaStream_t stream, bool into, bool synchronous) {
  if (!IsArray(array)) return Fail(cudaErrorInvalidResourceHandle);
  const uint64_t row_bytes = array->extent.width * array->texel_bytes;
  if (x > row_bytes || y >= array->rows() || count > (array->rows() - y) * row_bytes - x) {
    return Fail(cudaErrorInvalidValue);
  }
  char* at = static_cast<char*>(memory);
  while (count > 0) {
    const uint64_t bytes = count < row_bytes - x ? count : row_bytes - x;
    const Layout in_array = ArrayLayout(array, x, y, 0);
    const Layout outside = {at, 0, 0};
    const cudaError_t error = into ? Copy(call, in_array, outside, {bytes}, kind, stream, synchronous)
                                   : Copy(call, outside, in_array, {bytes}, kind, stream, synchronous);
    if (error != cudaSuccess) return error;
    at += bytes;
    count -= bytes;
    x = 0;
    ++y;
  }
  return cudaSuccess;
}

cudaError_t CopyRectangle(const char* call, const cudaArray* array, uint64_t x, uint64_t y, void* memory,
                          uint64_t pitch, uint64_t width, uint64_t height, cudaMemcpyKind kind, cudaStream_t stream,
                          bool into, bool synchronous) {
  if (!IsArray(array)) return Fail(cudaErrorInvalidResourceHandle);
  if (x + width > array->extent.width * array->texel_bytes || y + height > array->rows()) {
    return Fail(cudaErrorInvalidValue);
  }
  if (width > pitch) return Fail(cudaErrorInvalidPitchValue);
  const Layout in_array = ArrayLayout(array, x, y, 0);
  const Layout outside = {memory, pitch, 0};
  const Block block = {width, height, 1};
  return into ? Copy(call, in_array, outside, block, kind, stream, synchronous)
              : Copy(call, outside, in_array, block, kind, stream, synchronous);
}

// One end of a 3D copy. False if it names neither or both of an array and memory, or does not fit.
bool ReadEnd(const cudaArray* array, const cudaPitchedPtr& pointer, const cudaPos& position, const cudaExtent& extent,
             Layout* layout) {
  if ((array != nullptr) == (pointer.ptr != nullptr)) return false;
  if (array != nullptr) {
    if (!IsArray(array) || position.x + extent.width > array->extent.width ||
        position.y + extent.height > array->rows() || position.z + extent.depth > array->slices()) {
      return false;
    }
    *layout = ArrayLayout(array, position.x * array->texel_bytes, position.y, position.z);
    return true;
  }
  layout->pitch = pointer.pitch;
  layout->slice_bytes = pointer.pitch * pointer.ysize;
  layout->start =
      static_cast<char*>(pointer.ptr) + position.z * layout->slice_bytes + position.y * pointer.pitch + position.x;
  return true;
}

cudaError_t CopyVolume(const char* call, const cudaMemcpy3DParms* p, cudaStream_t stream, bool synchronous) {
  if (p == nullptr) return Fail(cudaErrorInvalidValue);
  CopyWork work;
  if (cudaError_t error = DescribeCopy(*p, &work); error != cudaSuccess) return Fail(error);
  return Copy(call, work.to, work.from, work.block, work.kind, stream, synchronous);
}

}  // namespace

uint32_t TexelBytes(const cudaChannelFormatDesc& format) {
  const int bits = format.x + format.y + format.z + format.w;
  const bool plain = format.x == 8 || format.x == 16 || format.x == 32;
  for (int channel : {format.y, format.z, format.w}) {
    if (channel != 0 && channel != format.x) return 0;
  }
  return plain && format.f >= cudaChannelFormatKindSigned && format.f <= cudaChannelFormatKindFloat ? bits / 8 : 0;
}

cudaError_t DescribeCopy(const cudaMemcpy3DParms& p, CopyWork* work) {
  if (!ReadEnd(p.dstArray, p.dstPtr, p.dstPos, p.extent, &work->to) ||
      !ReadEnd(p.srcArray, p.srcPtr, p.srcPos, p.extent, &work->from)) {
    return cudaErrorInvalidValue;
  }
  // The width is in texels if an array takes part, else in bytes.
  const cudaArray* array = p.dstArray != nullptr ? p.dstArray : p.srcArray;
  const uint64_t unit = array != nullptr ? array->texel_bytes : 1;
  work->block = {p.extent.width * unit, p.extent.height, p.extent.depth};
  work->kind = p.kind;
  return cudaSuccess;
}

bool IsArray(const cudaArray* array) { return Arrays().count(array) != 0; }

Layout ArrayLayout(const cudaArray* array, uint64_t x, uint64_t y, uint64_t z) {
  Layout layout;
  layout.start = reinterpret_cast<void*>(array->address + z * array->slice_bytes + y * array->pitch + x);
  layout.pitch = array->pitch;
  layout.slice_bytes = array->slice_bytes;
  return layout;
}

}  // namespace heddle::cuda

using heddle::cuda::Arrays;
using heddle::cuda::Fail;
using heddle::cuda::Guard;
using heddle::cuda::IsArray;

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height,
                            unsigned int flags) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned int flags) {
  const Guard guard;
  if (array == nullptr || format == nullptr || extent.width == 0) return Fail(cudaErrorInvalidValue);
  const uint32_t texel = heddle::cuda::TexelBytes(*format);
  if (texel == 0) return Fail(cudaErrorInvalidChannelDescriptor);
  auto made = std::make_unique<cudaArray>();
  made->format = *format;
  made->extent = extent;
  made->flags = flags;
  made->texel_bytes = texel;
  // Rows begin at multiples of 32 bytes, as textures of pitched memory must.
  made->pitch = (extent.width * texel + 31) / 32 * 32;
  made->slice_bytes = made->pitch * made->rows();
  const cudaError_t error = heddle::cuda::Allocate("cudaMallocArray", made->slice_bytes * made->slices(),
                                                   heddle::cuda::MemoryKind::kArray, &made->address);
  if (error != cudaSuccess) return error;
  *array = made.release();
  Arrays().insert(*array);
  return cudaSuccess;
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  const Guard guard;
  if (array == nullptr) return cudaSuccess;
  if (Arrays().erase(array) == 0) return Fail(cudaErrorInvalidValue);
  const std::unique_ptr<cudaArray> owned(array);
  return heddle::cuda::Free("cudaFreeArray", owned->address, heddle::cuda::MemoryKind::kArray);
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array) {
  const Guard guard;
  if (!IsArray(array)) return Fail(cudaErrorInvalidValue);
  if (format != nullptr) *format = array->format;
  if (extent != nullptr) *extent = array->extent;
  if (flags != nullptr) *flags = array->flags;
  return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  const Guard guard;
  if (format == nullptr || !IsArray(array)) return Fail(cudaErrorInvalidValue);
  *format = array->format;
  return cudaSuccess;
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind) {
  return cudaChannelFormatDesc{x, y, z, w, kind};
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t count,
                              enum cudaMemcpyKind kind) {
  const Guard guard;
  return heddle::cuda::CopyLinear("cudaMemcpyToArray", to, x, y, const_cast<void*>(from), count, kind, nullptr, true,
                                  true);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t count,
                                   enum cudaMemcpyKind kind, cudaStream_t stream) {
  const Guard guard;
  return heddle::cuda::CopyLinear("cudaMemcpyToArrayAsync", to, x, y, const_cast<void*>(from), count, kind, stream,
                                  true, false);
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t count,
                                enum cudaMemcpyKind kind) {
  const Guard guard;
  return heddle::cuda::CopyLinear("cudaMemcpyFromArray", from, x, y, to, count, kind, nullptr, false, true);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind) {
  const Guard guard;
  return heddle::cuda::CopyRectangle("cudaMemcpy2DToArray", to, x, y, const_cast<void*>(from), pitch, width, height,
                                     kind, nullptr, true, true);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  const Guard guard;
  return heddle::cuda::CopyRectangle("cudaMemcpy2DToArrayAsync", to, x, y, const_cast<void*>(from), pitch, width,
                                     height, kind, stream, true, false);
}

cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, enum cudaMemcpyKind kind) {
  const Guard guard;
  return heddle::cuda::CopyRectangle("cudaMemcpy2DFromArray", from, x, y, to, pitch, width, height, kind, nullptr,
                                     false, true);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  const Guard guard;
  return heddle::cuda::CopyRectangle("cudaMemcpy2DFromArrayAsync", from, x, y, to, pitch, width, height, kind, stream,
                                     false, false);
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                   size_t from_y, size_t count, enum cudaMemcpyKind kind) {
  const Guard guard;
  if (!IsArray(from) || from_x + count > from->extent.width * from->texel_bytes || from_y >= from->rows()) {
    return Fail(cudaErrorInvalidValue);
  }
  return heddle::cuda::CopyLinear("cudaMemcpyArrayToArray", to, to_x, to_y,
                                  heddle::cuda::ArrayLayout(from, from_x, from_y, 0).start, count, kind, nullptr, true,
                                  true);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
  const Guard guard;
  return heddle::cuda::CopyVolume("cudaMemcpy3D", copy, nullptr, true);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream) {
  const Guard guard;
  return heddle::cuda::CopyVolume("cudaMemcpy3DAsync", copy, stream, false);
}

}  // extern "C"
