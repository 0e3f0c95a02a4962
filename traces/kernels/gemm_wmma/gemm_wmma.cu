// Product of two row-major matrices in half precision, by fragments of mma.h (`wmma`); sums in single precision.
//
// Stands for tensor cores as the programming guide uses them: tiles pass through registers into padded shared memory,
// and every warp multiplies fragments of 16 x 16, without a branch that depends on data.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 64;      // rows and columns of a block's part of the result
constexpr int kDepth = 32;     // of a tile along the inner side
constexpr int kThreads = 128;  // four warps, each with a quarter of 32 x 32
constexpr int kPad = 8;        // elements behind each row of a tile, so that rows lie in different banks

// Eight elements, which move together.
__device__ int4* eight(__half* elements) { return reinterpret_cast<int4*>(elements); }
__device__ const int4* eight(const __half* elements) { return reinterpret_cast<const int4*>(elements); }

// result (rows x columns) = left (rows x inner) * right (inner x columns). Rows and columns are multiples of kTile,
// inner is one of kDepth.
__global__ void __launch_bounds__(kThreads)
    gemm_wmma(const __half* left, const __half* right, float* result, int inner, int columns) {
  __shared__ __align__(32) __half left_tile[kTile][kDepth + kPad];
  __shared__ __align__(32) __half right_tile[kDepth][kTile + kPad];
  const int row = blockIdx.y * kTile;
  const int column = blockIdx.x * kTile;
  const int warp_row = threadIdx.x / 64 * 32;
  const int warp_column = threadIdx.x / 32 % 2 * 32;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
#pragma unroll
  for (int i = 0; i < 4; ++i) wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);

  for (int first = 0; first < inner; first += kDepth) {
#pragma unroll
    for (int i = 0; i < kTile * kDepth / 8; i += kThreads) {
      const int y = (i + threadIdx.x) / (kDepth / 8);
      const int x = (i + threadIdx.x) % (kDepth / 8) * 8;
      *eight(&left_tile[y][x]) = *eight(&left[(row + y) * inner + first + x]);
    }
#pragma unroll
    for (int i = 0; i < kDepth * kTile / 8; i += kThreads) {
      const int y = (i + threadIdx.x) / (kTile / 8);
      const int x = (i + threadIdx.x) % (kTile / 8) * 8;
      *eight(&right_tile[y][x]) = *eight(&right[(first + y) * columns + column + x]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(a[i], &left_tile[warp_row + 16 * i][k], kDepth + kPad);
        wmma::load_matrix_sync(b[i], &right_tile[k][warp_column + 16 * i], kTile + kPad);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) wmma::mma_sync(sums[i / 2][i % 2], a[i / 2], b[i % 2], sums[i / 2][i % 2]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float* const to = &result[(row + warp_row + i / 2 * 16) * columns + column + warp_column + i % 2 * 16];
    wmma::store_matrix_sync(to, sums[i / 2][i % 2], columns, wmma::mem_row_major);
  }
}

// Before: elements as multiples of 1/64, which half precision has exactly.
__global__ void to_half(const signed char* values, __half* elements, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) elements[i] = __float2half(static_cast<float>(values[i]) * (1.0f / 64.0f));
}
