#include "tracegen/runtime/libraries/blas/bias_gradient.h"
#include "tracegen/runtime/libraries/blas/gemm.cuh"

namespace heddle::libraries {
namespace {

constexpr int kWarp = 32, kThreads = 128;

// A warp per sum. `step` and `lane_step`: elements from one sum to the next, and from one summand to the next.
template <typename T>
__global__ void SumLines(const T* matrix, int64_t step, int64_t lane_step, int lines, int depth, bool float_sums,
                         void* sums) {
  const int line = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp, lane = threadIdx.x % kWarp;
  if (line >= lines) return;
  float sum = 0;
  for (int64_t k = lane; k < depth; k += kWarp) sum += Widen(matrix[line * step + k * lane_step]);
  for (int away = kWarp / 2; away > 0; away /= 2) sum += __shfl_down_sync(0xffffffffu, sum, away);
  if (lane != 0) return;
  if (float_sums) {
    static_cast<float*>(sums)[line] = sum;
  } else {
    Narrow(sum, static_cast<T*>(sums) + line);
  }
}

template <typename T>
void Launch(const Product& product, bool of_a, bool float_sums, void* sums) {
  const Operand& operand = of_a ? product.a : product.b;
  const int lines = of_a ? product.m : product.n;
  const bool along = of_a == operand.transposed;  // elements of one sum follow one another
  const auto blocks = static_cast<unsigned>((int64_t{lines} * kWarp + kThreads - 1) / kThreads);
  if (blocks == 0) return;
  SumLines<T><<<blocks, kThreads, 0, product.stream>>>(static_cast<const T*>(operand.data), along ? operand.ld : 1,
                                                       along ? 1 : operand.ld, lines, product.k, float_sums, sums);
}

}  // namespace

cublasStatus_t SumOverDepth(cudaDataType type, const Product& product, bool of_a, bool float_sums, void* sums) {
  if (type == CUDA_R_32F) Launch<float>(product, of_a, true, sums);
  if (type == CUDA_R_16F) Launch<__half>(product, of_a, float_sums, sums);
  if (type == CUDA_R_16BF) Launch<__nv_bfloat16>(product, of_a, float_sums, sums);
  return Launched();
}

}  // namespace heddle::libraries
