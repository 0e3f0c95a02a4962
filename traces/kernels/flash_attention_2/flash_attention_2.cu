// Attention without its matrix of scores, in the order of FlashAttention's second version: a block owns queries and
// goes over keys and values, which are copied ahead; each warp owns 16 rows and keeps their outputs in registers.
//
// Stands for today's fused kernels on tensor cores: `mma.sync` from swizzled tiles that `ldmatrix` reads, copies in
// groups behind the arithmetic, a softmax that is corrected as it goes (exponentials and shuffles among four threads),
// and a causal mask that gives the blocks unequal work and branches only on the diagonal.
//
// After Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", algorithm 1.
#include <cuda_fp16.h>
#include <math.h>

constexpr int kWidth = 64;     // elements of a query, a key and a value
constexpr int kQueries = 64;   // of a block
constexpr int kKeys = 32;      // of a step
constexpr int kThreads = 128;  // four warps, each with 16 queries
constexpr int kPiece = 8;      // elements that move together: 16 bytes
constexpr int kRowPieces = kWidth / kPiece;

// Where a piece of a tile lies: the eight rows of a column of pieces are in different banks.
__device__ int place(int row, int piece) { return (row * kRowPieces + (piece ^ (row % 8))) * kPiece; }

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Asks for `rows` rows of a sequence; those beyond its end are filled with zeros.
__device__ void copy_rows(__half* tile, const __half* from, int first, int rows, int length) {
#pragma unroll
  for (int i = 0; i < rows * kRowPieces; i += kThreads) {
    const int row = (i + threadIdx.x) / kRowPieces;
    const int piece = (i + threadIdx.x) % kRowPieces;
    const bool inside = first + row < length;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(&tile[place(row, piece)])),
                 "l"(from + (inside ? (first + row) * kWidth + piece * kPiece : 0)), "r"(inside ? 16 : 0)
                 : "memory");
  }
}

__device__ void load_tiles(unsigned (&tiles)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
               : "r"(shared_address(row)));
}
__device__ void load_tiles_transposed(unsigned (&tiles)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
               : "r"(shared_address(row)));
}

__device__ void multiply(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Two neighbours of a row in half precision.
__device__ unsigned packed(float low, float high) {
  const __half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&both);
}

// Over the four threads of a row.
__device__ float row_maximum(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}
__device__ float row_sum(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

// Sequences (blockIdx.y) of `length` rows. A query sees all keys, or with `causal` those up to its own place. `scale`
// is that of the scores times log2(e); `logs` are the natural logarithms of each query's sum of exponentials.
__global__ void __launch_bounds__(kThreads)
    flash_attention_2(const __half* queries, const __half* keys, const __half* values, float* outputs, float* logs,
                      int length, float scale, int causal) {
  __shared__ __align__(128) __half query_tile[kQueries * kWidth];
  __shared__ __align__(128) __half key_tiles[2][kKeys * kWidth];
  __shared__ __align__(128) __half value_tiles[2][kKeys * kWidth];
  const int sequence = blockIdx.y * length;
  queries += sequence * kWidth;
  keys += sequence * kWidth;
  values += sequence * kWidth;
  outputs += sequence * kWidth;
  logs += sequence;
  const int first_query = blockIdx.x * kQueries;
  const int lane = threadIdx.x % 32;
  const int warp_row = threadIdx.x / 32 * 16;
  // A thread has elements of two rows: this one, and the one eight rows below.
  const int query = first_query + warp_row + lane / 4;
  const int end = causal ? min(length, first_query + kQueries) : length;
  const int steps = (end + kKeys - 1) / kKeys;

  copy_rows(query_tile, queries, first_query, kQueries, length);
  copy_rows(key_tiles[0], keys, 0, kKeys, length);
  copy_rows(value_tiles[0], values, 0, kKeys, length);
  asm volatile("cp.async.commit_group;" ::: "memory");

  float output[kWidth / 8][4] = {};
  float maxima[2] = {-INFINITY, -INFINITY};
  float sums[2] = {};  // of this thread's columns only: those of a row are added in the end
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();  // the tiles are there for all, and nobody uses those before any more
    if (step + 1 < steps) {
      copy_rows(key_tiles[(step + 1) % 2], keys, (step + 1) * kKeys, kKeys, length);
      copy_rows(value_tiles[(step + 1) % 2], values, (step + 1) * kKeys, kKeys, length);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    const __half* const key_tile = key_tiles[step % 2];
    const __half* const value_tile = value_tiles[step % 2];

    // Scores: 16 queries by kKeys keys.
    float scores[kKeys / 8][4] = {};
#pragma unroll
    for (int d = 0; d < kRowPieces; d += 2) {
      unsigned a[4];
      load_tiles(a, &query_tile[place(warp_row + lane % 16, d + lane / 16)]);
#pragma unroll
      for (int j = 0; j < kKeys / 16; ++j) {
        unsigned b[4];
        load_tiles(b, &key_tile[place(16 * j + lane / 16 * 8 + lane % 8, d + lane / 8 % 2)]);
        multiply(scores[2 * j], a, b[0], b[1]);
        multiply(scores[2 * j + 1], a, b[2], b[3]);
      }
    }
    // Only the last steps have keys beyond the end, or behind a query.
    const int first_key = step * kKeys;
    if (first_key + kKeys > length || (causal && first_key + kKeys > first_query + warp_row + 1)) {
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int key = first_key + 8 * j + lane % 4 * 2 + i % 2;
          if (key >= length || (causal && key > query + i / 2 * 8)) scores[j][i] = -INFINITY;
        }
      }
    }
    // The softmax so far: a larger maximum shrinks what was summed.
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float maximum = maxima[half];
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j) {
        maximum = fmaxf(maximum, fmaxf(scores[j][2 * half], scores[j][2 * half + 1]));
      }
      maximum = row_maximum(maximum);
      const float shrink = exp2f((maxima[half] - maximum) * scale);
      maxima[half] = maximum;
      sums[half] *= shrink;
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j) {
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          scores[j][i] = exp2f((scores[j][i] - maximum) * scale);
          sums[half] += scores[j][i];
        }
      }
#pragma unroll
      for (int d = 0; d < kWidth / 8; ++d) {
        output[d][2 * half] *= shrink;
        output[d][2 * half + 1] *= shrink;
      }
    }
    // Scores lie in registers as the left side of the next product wants them.
#pragma unroll
    for (int k = 0; k < kKeys / 16; ++k) {
      const unsigned a[4] = {packed(scores[2 * k][0], scores[2 * k][1]), packed(scores[2 * k][2], scores[2 * k][3]),
                             packed(scores[2 * k + 1][0], scores[2 * k + 1][1]),
                             packed(scores[2 * k + 1][2], scores[2 * k + 1][3])};
#pragma unroll
      for (int d = 0; d < kRowPieces; d += 2) {
        unsigned b[4];
        load_tiles_transposed(b, &value_tile[place(16 * k + lane % 16, d + lane / 16)]);
        multiply(output[d], a, b[0], b[1]);
        multiply(output[d + 1], a, b[2], b[3]);
      }
    }
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = query + 8 * half;
    const float sum = row_sum(sums[half]);
    if (row >= length) continue;
#pragma unroll
    for (int d = 0; d < kWidth / 8; ++d) {
      float2* const to = reinterpret_cast<float2*>(&outputs[row * kWidth + 8 * d + lane % 4 * 2]);
      *to = make_float2(output[d][2 * half] / sum, output[d][2 * half + 1] / sum);
    }
    if (lane % 4 == 0) logs[row] = (maxima[half] * scale + log2f(sum)) * 0.6931471806f;
  }
}

// Before: elements as multiples of 1/64, which half precision has exactly.
__global__ void to_half(const signed char* values, __half* elements, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) elements[i] = __float2half(static_cast<float>(values[i]) * (1.0f / 64.0f));
}
