// Copies of rows and blocks of the driver API, from and to arrays too.
#include <cstddef>

#include "tracegen/runtime/cuda/arrays.h"
#include "tracegen/runtime/cuda/memory.h"
#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

// One end of a copy, as the structures of the API have it. Pitch and height of 0 stand for rows and slices without
// gaps.
struct End {
  CUmemorytype type = CU_MEMORYTYPE_HOST;
  const void* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  size_t x_bytes = 0;
  size_t y = 0;
  size_t z = 0;
  size_t pitch = 0;
  size_t height = 0;
};

// Whether `first` + `count` is at most `most`, whatever the numbers are.
bool Fits(size_t first, size_t count, size_t most) { return count <= most && first <= most - count; }

// Where the copy begins. False: no kind of memory, no array, or the block is not inside.
bool Place(const End& end, const Block& block, Layout* layout) {
  if (end.type == CU_MEMORYTYPE_ARRAY) {
    const auto* array = reinterpret_cast<const cudaArray*>(end.array);
    if (!IsArray(array) || !Fits(end.x_bytes, block.bytes, array->extent.width * array->texel_bytes) ||
        !Fits(end.y, block.rows, array->rows()) || !Fits(end.z, block.slices, array->slices())) {
      return false;
    }
    *layout = ArrayLayout(array, end.x_bytes, end.y, end.z);
    return true;
  }
  if (end.type != CU_MEMORYTYPE_HOST && end.type != CU_MEMORYTYPE_DEVICE && end.type != CU_MEMORYTYPE_UNIFIED) {
    return false;
  }
  const size_t pitch = end.pitch != 0 ? end.pitch : end.x_bytes + block.bytes;
  const size_t height = end.height != 0 ? end.height : end.y + block.rows;
  // The height only matters from slice to slice.
  const bool one_slice = end.z == 0 && block.slices <= 1;
  if (!Fits(end.x_bytes, block.bytes, pitch) || (!one_slice && !Fits(end.y, block.rows, height))) return false;
  void* base = end.type == CU_MEMORYTYPE_HOST ? const_cast<void*>(end.host) : reinterpret_cast<void*>(end.device);
  layout->pitch = pitch;
  layout->slice_bytes = pitch * height;
  layout->start = static_cast<char*>(base) + end.z * layout->slice_bytes + end.y * pitch + end.x_bytes;
  return true;
}

CUresult CopyBlock(const char* call, const End& to, const End& from, const Block& block, CUstream stream,
                   bool synchronous) {
  const Guard guard;
  Layout into, out_of;
  if (!Place(to, block, &into) || !Place(from, block, &out_of)) return CUDA_ERROR_INVALID_VALUE;
  return static_cast<CUresult>(Copy(call, into, out_of, block, cudaMemcpyDefault, stream, synchronous));
}

CUresult CopyRows(const char* call, const CUDA_MEMCPY2D* c, CUstream stream, bool synchronous) {
  if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const End to = {c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes, c->dstY, 0, c->dstPitch, 0};
  const End from = {c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes, c->srcY, 0,
                    c->srcPitch,      0};
  return CopyBlock(call, to, from, {c->WidthInBytes, c->Height, 1}, stream, synchronous);
}

CUresult CopySlices(const char* call, const CUDA_MEMCPY3D* copy, CUstream stream, bool synchronous) {
  const Guard guard;
  CopyWork work;
  if (copy == nullptr || !DescribeCopy(*copy, &work)) return CUDA_ERROR_INVALID_VALUE;
  return static_cast<CUresult>(Copy(call, work.to, work.from, work.block, work.kind, stream, synchronous));
}

End OfHost(const void* pointer) { return {CU_MEMORYTYPE_HOST, pointer}; }
End OfDevice(CUdeviceptr pointer) { return {CU_MEMORYTYPE_DEVICE, nullptr, pointer}; }
End OfArray(CUarray array, size_t offset) { return {CU_MEMORYTYPE_ARRAY, nullptr, 0, array, offset}; }

}  // namespace

bool DescribeCopy(const CUDA_MEMCPY3D& c, CopyWork* work) {
  // A level of detail other than 0 is one of a mipmapped array.
  if (c.srcLOD != 0 || c.dstLOD != 0) return false;
  const End to = {c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstXInBytes,
                  c.dstY,          c.dstZ,    c.dstPitch,  c.dstHeight};
  const End from = {c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcXInBytes,
                    c.srcY,          c.srcZ,    c.srcPitch,  c.srcHeight};
  work->block = {c.WidthInBytes, c.Height, c.Depth};
  work->kind = cudaMemcpyDefault;
  return Place(to, work->block, &work->to) && Place(from, work->block, &work->from);
}

}  // namespace heddle::cuda

using heddle::cuda::CopyBlock;
using heddle::cuda::OfArray;
using heddle::cuda::OfDevice;
using heddle::cuda::OfHost;

extern "C" {

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy) { return heddle::cuda::CopyRows("cuMemcpy2D", copy, nullptr, true); }
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy) {
  return heddle::cuda::CopyRows("cuMemcpy2DUnaligned", copy, nullptr, true);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return heddle::cuda::CopyRows("cuMemcpy2DAsync", copy, stream, false);
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D* copy) { return heddle::cuda::CopySlices("cuMemcpy3D", copy, nullptr, true); }
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return heddle::cuda::CopySlices("cuMemcpy3DAsync", copy, stream, false);
}

CUresult cuMemcpyHtoA(CUarray to, size_t offset, const void* from, size_t bytes) {
  return CopyBlock("cuMemcpyHtoA", OfArray(to, offset), OfHost(from), {bytes}, nullptr, true);
}
CUresult cuMemcpyAtoH(void* to, CUarray from, size_t offset, size_t bytes) {
  return CopyBlock("cuMemcpyAtoH", OfHost(to), OfArray(from, offset), {bytes}, nullptr, true);
}
CUresult cuMemcpyDtoA(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  return CopyBlock("cuMemcpyDtoA", OfArray(to, offset), OfDevice(from), {bytes}, nullptr, true);
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  return CopyBlock("cuMemcpyAtoD", OfDevice(to), OfArray(from, offset), {bytes}, nullptr, true);
}
CUresult cuMemcpyAtoA(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes) {
  return CopyBlock("cuMemcpyAtoA", OfArray(to, to_offset), OfArray(from, from_offset), {bytes}, nullptr, true);
}
CUresult cuMemcpyHtoAAsync(CUarray to, size_t offset, const void* from, size_t bytes, CUstream stream) {
  return CopyBlock("cuMemcpyHtoAAsync", OfArray(to, offset), OfHost(from), {bytes}, stream, false);
}
CUresult cuMemcpyAtoHAsync(void* to, CUarray from, size_t offset, size_t bytes, CUstream stream) {
  return CopyBlock("cuMemcpyAtoHAsync", OfHost(to), OfArray(from, offset), {bytes}, stream, false);
}

}  // extern "C"
