// The kernels of products of matrices, as templates: a tiled one, and a plain one for results of a few elements.
#ifndef HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_GEMM_CUH_
#define HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_GEMM_CUH_

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tracegen/runtime/libraries/blas/gemm.h"
#include "tracegen/runtime/libraries/blas/scalar.cuh"

namespace heddle::libraries {

template <typename T>
struct SumOf {
  using Type = float;
};
template <>
struct SumOf<double> {
  using Type = double;
};

__device__ inline float Widen(float x) { return x; }
__device__ inline double Widen(double x) { return x; }
__device__ inline float Widen(__half x) { return __half2float(x); }
__device__ inline float Widen(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline void Narrow(float x, float* to) { *to = x; }
__device__ inline void Narrow(double x, double* to) { *to = x; }
__device__ inline void Narrow(float x, __half* to) { *to = __float2half(x); }
__device__ inline void Narrow(float x, __nv_bfloat16* to) { *to = __float2bfloat16(x); }

template <typename T>
__device__ T* Matrix(const Operand& operand, int batch) {
  if (operand.each != nullptr) return static_cast<T*>(const_cast<void*>(operand.each[batch]));
  return static_cast<T*>(const_cast<void*>(operand.data)) + batch * operand.stride;
}

template <typename Sum>
struct ProductArguments {
  int m, n, k, batches;
  Operand a, b, c, d;
  Scalar<Sum> alpha, beta;
};

// GELU with the tanh, as cublasLt has it, and its derivative.
constexpr float kSqrt2OverPi = 0.797884560802865f;
constexpr float kGeluCubic = 0.044715f;
__device__ inline float Gelu(float x) { return 0.5f * x * (1 + tanhf(kSqrt2OverPi * (x + kGeluCubic * x * x * x))); }
__device__ inline float GeluGradient(float x) {
  const float t = tanhf(kSqrt2OverPi * (x + kGeluCubic * x * x * x));
  return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * kSqrt2OverPi * (1 + 3 * kGeluCubic * x * x);
}

struct NoFinish {
  template <typename Out, typename Sum>
  __device__ Sum operator()(Sum value, int, int, int) const {
    return value;
  }
};
struct DoFinish {
  Finish what;
  template <typename Out, typename Sum>
  __device__ Sum operator()(Sum value, int row, int column, int batch) const {
    if (what.bias != nullptr) {
      value += what.bias_is_float ? static_cast<Sum>(static_cast<const float*>(what.bias)[row])
                                  : static_cast<Sum>(Widen(static_cast<const Out*>(what.bias)[row]));
    }
    Out* aux = static_cast<Out*>(what.aux) + row + column * what.aux_ld + batch * what.aux_stride;
    if (what.gelu == Finish::kGelu) {
      if (what.aux != nullptr) Narrow(value, aux);
      return Gelu(value);
    }
    return what.gelu == Finish::kGeluGradient ? value * static_cast<Sum>(GeluGradient(Widen(*aux))) : value;
  }
};

// Writes one element. C is not read if beta is 0.
template <typename Out, typename Sum, typename End>
__device__ void Store(const ProductArguments<Sum>& p, const End& end, int batch, int row, int column, Sum sum,
                      Sum alpha, Sum beta) {
  Sum value = alpha * sum;
  if (beta != 0) value += beta * static_cast<Sum>(Widen(Matrix<const Out>(p.c, batch)[row + column * p.c.ld]));
  value = end.template operator()<Out>(value, row, column, batch);
  Narrow(value, Matrix<Out>(p.d, batch) + row + column * p.d.ld);
}

// A block of 256 threads computes 64 x 64 elements, each thread 4 x 4 of them, 16 apart, so that the threads of a warp
// read and write neighbours; of sums of double precision, which take two registers, 32 x 32 and 2 x 2. A and B pass
// through shared memory, 8 of the k at a time.
constexpr int kDepth = 8, kSide = 16, kTileThreads = kSide * kSide;
template <typename Sum>
inline constexpr int kEachOf = sizeof(Sum) == 8 ? 2 : 4;
template <typename Sum>
inline constexpr int kTileOf = kSide * kEachOf<Sum>;

// `along_depth`: elements that follow one another in memory differ in k; else they are of the same k.
template <typename In, typename Sum, int kTile = kTileOf<Sum>>
__device__ void LoadTile(Sum (*tile)[kTile + 1], const In* matrix, int64_t ld, bool along_depth, int first, int end,
                         int first_depth, int end_depth) {
#pragma unroll
  for (int i = 0; i < kTile * kDepth / kTileThreads; ++i) {
    const int at = threadIdx.x + i * kTileThreads;
    const int depth = along_depth ? at % kDepth : at / kTile;
    const int line = along_depth ? at / kDepth : at % kTile;
    const int64_t k = first_depth + depth, j = first + line;
    Sum value = 0;
    if (j < end && k < end_depth) value = Widen(matrix[along_depth ? k + j * ld : j + k * ld]);
    tile[depth][line] = value;
  }
}

template <typename In, typename Out, typename Sum, typename End>
__global__ void __launch_bounds__(kTileThreads) TiledProduct(ProductArguments<Sum> p, End end) {
  constexpr int kEach = kEachOf<Sum>, kTile = kTileOf<Sum>;
  __shared__ Sum a_tile[kDepth][kTile + 1];
  __shared__ Sum b_tile[kDepth][kTile + 1];
  const int first_row = blockIdx.x * kTile, first_column = blockIdx.y * kTile;
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
  const Sum alpha = p.alpha.Get(), beta = p.beta.Get();
  const int end_depth = alpha == 0 ? 0 : p.k;  // A and B are not read
  for (int batch = blockIdx.z; batch < p.batches; batch += gridDim.z) {
    const In* a = Matrix<const In>(p.a, batch);
    const In* b = Matrix<const In>(p.b, batch);
    Sum sum[kEach][kEach] = {};
    for (int depth = 0; depth < end_depth; depth += kDepth) {
      LoadTile<In, Sum>(a_tile, a, p.a.ld, p.a.transposed, first_row, p.m, depth, end_depth);
      LoadTile<In, Sum>(b_tile, b, p.b.ld, !p.b.transposed, first_column, p.n, depth, end_depth);
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kDepth; ++k) {
        Sum left[kEach], right[kEach];
#pragma unroll
        for (int i = 0; i < kEach; ++i) left[i] = a_tile[k][x + i * kSide];
#pragma unroll
        for (int i = 0; i < kEach; ++i) right[i] = b_tile[k][y + i * kSide];
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
#pragma unroll
          for (int j = 0; j < kEach; ++j) sum[i][j] += left[i] * right[j];
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int row = first_row + x + i * kSide, column = first_column + y + j * kSide;
        if (row < p.m && column < p.n) Store<Out>(p, end, batch, row, column, sum[i][j], alpha, beta);
      }
    }
  }
}

// One thread per element.
template <typename In, typename Out, typename Sum, typename End>
__global__ void PlainProduct(ProductArguments<Sum> p, End end) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= p.m || column >= p.n) return;
  const Sum alpha = p.alpha.Get(), beta = p.beta.Get();
  const int64_t a_step = p.a.transposed ? 1 : p.a.ld, b_step = p.b.transposed ? p.b.ld : 1;
  for (int batch = blockIdx.z; batch < p.batches; batch += gridDim.z) {
    const In* a = Matrix<const In>(p.a, batch) + row * (p.a.transposed ? p.a.ld : 1);
    const In* b = Matrix<const In>(p.b, batch) + column * (p.b.transposed ? 1 : p.b.ld);
    Sum sum = 0;
    if (alpha != 0) {
      for (int k = 0; k < p.k; ++k) sum += Widen(a[k * a_step]) * Widen(b[k * b_step]);
    }
    Store<Out>(p, end, batch, row, column, sum, alpha, beta);
  }
}

template <typename In, typename Out, typename End>
cublasStatus_t LaunchProduct(const Product& product, const End& end) {
  using Sum = typename SumOf<Out>::Type;
  const auto fits = [](const Operand& operand, int rows, int columns) {
    return operand.ld >= max(1, operand.transposed ? columns : rows);
  };
  if (product.m < 0 || product.n < 0 || product.k < 0 || product.batches < 0 || product.alpha == nullptr ||
      product.beta == nullptr || !fits(product.a, product.m, product.k) || !fits(product.b, product.k, product.n) ||
      !fits(product.c, product.m, product.n) || !fits(product.d, product.m, product.n)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (product.m == 0 || product.n == 0 || product.batches == 0) return CUBLAS_STATUS_SUCCESS;
  ProductArguments<Sum> arguments = {product.m, product.n, product.k, product.batches,
                                     product.a, product.b, product.c, product.d};
  arguments.alpha = MakeScalar<Sum>(product.mode, product.alpha, product.half_scalars);
  arguments.beta = MakeScalar<Sum>(product.mode, product.beta, product.half_scalars);
  constexpr int kMostBlocks = 65535;  // of a grid, in y and z
  constexpr int kFew = 32;            // rows or columns of results that the plain kernel computes
  const unsigned layers = min(product.batches, kMostBlocks);
  const auto blocks = [](int elements, int each) { return (elements + each - 1) / each; };
  if (product.m <= kFew && product.n <= kFew) {
    const dim3 grid(blocks(product.m, kSide), blocks(product.n, kSide), layers);
    PlainProduct<In, Out, Sum, End><<<grid, dim3(kSide, kSide), 0, product.stream>>>(arguments, end);
    return Launched();
  }
  constexpr int kTile = kTileOf<Sum>;
  if (blocks(product.n, kTile) > kMostBlocks) return CUBLAS_STATUS_NOT_SUPPORTED;
  const dim3 grid(blocks(product.m, kTile), blocks(product.n, kTile), layers);
  TiledProduct<In, Out, Sum, End><<<grid, kTileThreads, 0, product.stream>>>(arguments, end);
  return Launched();
}

}  // namespace heddle::libraries

#endif  // HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_GEMM_CUH_
