// Tensor-core operations are not supported: the functions that load, multiply and store fragments are declared so that
// capture can name the line that uses them.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_MMA_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_MMA_H_

#include "cuda_fp16.h"

extern "C" __device__ void __heddle_tensor_operation();

namespace nvcuda {
namespace wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
template <typename Use, int m, int n, int k, typename T, typename Layout = void>
struct fragment {
  enum { num_elements = m * n / 32 };
  T x[m * n / 32];
};
template <typename... A>
static __forceinline__ __device__ void fill_fragment(A&&...) {
  __heddle_tensor_operation();
}
template <typename... A>
static __forceinline__ __device__ void load_matrix_sync(A&&...) {
  __heddle_tensor_operation();
}
template <typename... A>
static __forceinline__ __device__ void store_matrix_sync(A&&...) {
  __heddle_tensor_operation();
}
template <typename... A>
static __forceinline__ __device__ void mma_sync(A&&...) {
  __heddle_tensor_operation();
}
}  // namespace wmma
}  // namespace nvcuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_MMA_H_
