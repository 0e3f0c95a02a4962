// CUDA arrays. Their texels lie row after row in device memory; a real device's order is its own secret.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_ARRAYS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_ARRAYS_H_

#include <cstdint>

#include "tracegen/runtime/cuda/api.h"
#include "tracegen/runtime/cuda/memory.h"

struct cudaArray {
  uint64_t address = 0;
  cudaChannelFormatDesc format = {};
  cudaExtent extent = {};  // as given: 0 for a dimension that it does not have; depth = layers of a layered array
  unsigned int flags = 0;
  uint32_t texel_bytes = 0;
  uint64_t pitch = 0;        // bytes from row to row
  uint64_t slice_bytes = 0;  // from slice to slice

  uint64_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  uint64_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
};

namespace heddle::cuda {

// Bytes of a texel, 0 if there is no such format.
uint32_t TexelBytes(const cudaChannelFormatDesc& format);
// With the Guard held.
bool IsArray(const cudaArray* array);
// A place in an array, `x` in bytes.
Layout ArrayLayout(const cudaArray* array, uint64_t x, uint64_t y, uint64_t z);
// What a copy of the API does. cudaErrorInvalidValue: an end that is none, or does not fit.
cudaError_t DescribeCopy(const cudaMemcpy3DParms& parameters, CopyWork* work);
// The same of the driver API. False: an end that is none, or does not fit.
bool DescribeCopy(const CUDA_MEMCPY3D& parameters, CopyWork* work);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_ARRAYS_H_
