// Attention without its matrix of scores, in the order of FlashAttention's first version: the outer loop goes over
// blocks of keys and values, the inner one over blocks of queries, whose outputs are rescaled in global memory.
//
// Stands for fused kernels in single precision: small products from shared memory, sums and maxima by shuffles among
// four threads, barriers between the steps, and outputs that are read and written anew for each block of keys. Rows
// beyond the end of a sequence branch.
//
// After Dao, Fu, Ermon, Rudra and Re, "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness",
// algorithm 1.
#include <math.h>

constexpr int kWidth = 32;  // elements of a query, a key and a value
#ifndef TILE
#define TILE 32
#endif
constexpr int kTile = TILE;  // queries of a block, and keys
constexpr int kPerRow = 4;   // threads that share a row of scores: neighbours in a warp
constexpr int kThreads = kTile * kPerRow;
constexpr int kScores = kTile / kPerRow;    // of a thread
constexpr int kOutputs = kWidth / kPerRow;  // of a thread

// Copies a tile of rows into shared memory; rows beyond the sequence are zero.
__device__ void load_tile(float (&tile)[kTile][kWidth + 1], const float* from, int first, int length) {
  for (int i = threadIdx.x; i < kTile * kWidth; i += kThreads) {
    const int row = i / kWidth;
    tile[row][i % kWidth] = first + row < length ? from[first * kWidth + i] : 0.0f;
  }
}

// Maximum and sum over the threads of a row.
__device__ float row_maximum(float value) {
  for (int step = 1; step < kPerRow; step *= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
  return value;
}
__device__ float row_sum(float value) {
  for (int step = 1; step < kPerRow; step *= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

// A block for each sequence: queries, keys, values and outputs have `length` rows each. `maxima` and `sums` are those
// of every row's scores so far; maxima begin with less than any score, sums and outputs with zero.
__global__ void __launch_bounds__(kThreads)
    flash_attention_1(const float* queries, const float* keys, const float* values, float* outputs, float* maxima,
                      float* sums, int length, float scale) {
  __shared__ float query_tile[kTile][kWidth + 1];
  __shared__ float key_tile[kTile][kWidth + 1];
  __shared__ float value_tile[kTile][kWidth + 1];
  __shared__ float weights[kTile][kTile + 1];
  const int sequence = blockIdx.x * length;
  queries += sequence * kWidth;
  keys += sequence * kWidth;
  values += sequence * kWidth;
  outputs += sequence * kWidth;
  maxima += sequence;
  sums += sequence;
  const int row = threadIdx.x / kPerRow;
  const int part = threadIdx.x % kPerRow;
  const unsigned row_threads = ((1u << kPerRow) - 1) << (threadIdx.x % 32 / kPerRow * kPerRow);

  for (int first_key = 0; first_key < length; first_key += kTile) {
    load_tile(key_tile, keys, first_key, length);
    load_tile(value_tile, values, first_key, length);
    for (int first_query = 0; first_query < length; first_query += kTile) {
      load_tile(query_tile, queries, first_query, length);
      __syncthreads();

      float scores[kScores] = {};
#pragma unroll 4
      for (int d = 0; d < kWidth; ++d) {
        const float query = query_tile[row][d];
#pragma unroll
        for (int j = 0; j < kScores; ++j) scores[j] += query * key_tile[part + j * kPerRow][d];
      }
      float maximum = -INFINITY;
#pragma unroll
      for (int j = 0; j < kScores; ++j) {
        scores[j] = first_key + part + j * kPerRow < length ? scores[j] * scale : -INFINITY;
        maximum = fmaxf(maximum, scores[j]);
      }
      maximum = row_maximum(maximum);
      float sum = 0.0f;
#pragma unroll
      for (int j = 0; j < kScores; ++j) {
        scores[j] = expf(scores[j] - maximum);
        weights[row][part + j * kPerRow] = scores[j];
        sum += scores[j];
      }
      sum = row_sum(sum);
      __syncwarp();  // the weights of a row are written and read by the same warp

      const int query = first_query + row;
      if (query < length) {
        const float old_maximum = maxima[query];
        const float old_sum = sums[query];
        const float new_maximum = fmaxf(old_maximum, maximum);
        const float old_share = old_sum * expf(old_maximum - new_maximum);
        const float new_share = expf(maximum - new_maximum);
        const float new_sum = old_share + new_share * sum;
        float output[kOutputs] = {};
        for (int k = 0; k < kTile; ++k) {
          const float weight = weights[row][k];
#pragma unroll
          for (int d = 0; d < kOutputs; ++d) output[d] += weight * value_tile[k][part + d * kPerRow];
        }
#pragma unroll
        for (int d = 0; d < kOutputs; ++d) {
          float* const at = &outputs[query * kWidth + part + d * kPerRow];
          *at = (old_share * *at + new_share * output[d]) / new_sum;
        }
        __syncwarp(row_threads);  // all of them have read what one of them writes
        if (part == 0) {
          maxima[query] = new_maximum;
          sums[query] = new_sum;
        }
      }
      __syncthreads();  // nobody uses the tiles any more
    }
  }
}

// Before: elements as multiples of 1/64.
__global__ void to_float(const signed char* values, float* elements, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) elements[i] = static_cast<float>(values[i]) * (1.0f / 64.0f);
}
