// Product of two row-major matrices in bfloat16, by `mma.sync` from tiles that a pipeline of three stages copies ahead;
// sums in single precision.
//
// Stands for tuned products on tensor cores from compute capability 8.0 on: asynchronous copies in groups, of which two
// are under way while a third one is used, tiles whose 16-byte pieces change places (a swizzle) so that `ldmatrix`
// meets no bank twice, and one barrier per tile.
#include <cuda_bf16.h>

constexpr int kTile = 64;      // rows and columns of a block's part of the result
constexpr int kDepth = 32;     // of a stage along the inner side
constexpr int kStages = 3;     // tiles in shared memory
constexpr int kThreads = 128;  // four warps, each with a quarter of 32 x 32
constexpr int kPiece = 8;      // elements that move together: 16 bytes

struct Stage {
  __nv_bfloat16 left[kTile * kDepth];   // rows of 4 pieces
  __nv_bfloat16 right[kDepth * kTile];  // rows of 8 pieces
};

// Where a piece lies. Eight rows of one column of pieces are in different banks.
__device__ int left_place(int row, int piece) { return (row * (kDepth / kPiece) + (piece ^ (row / 2 % 4))) * kPiece; }
__device__ int right_place(int row, int piece) { return (row * (kTile / kPiece) + (piece ^ (row % 8))) * kPiece; }

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void copy_piece(__nv_bfloat16* to, const __nv_bfloat16* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

// Sixteen rows of 16 elements: the share of a thread in four tiles of 8 x 8.
__device__ void load_tiles(unsigned (&tiles)[4], const __nv_bfloat16* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
               : "r"(shared_address(row)));
}
__device__ void load_tiles_transposed(unsigned (&tiles)[4], const __nv_bfloat16* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
               : "r"(shared_address(row)));
}

__device__ void multiply(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Asks for the tiles of the inner side from `first` on. `left` and `right` begin at the block's rows and columns.
__device__ void copy_stage(Stage& stage, const __nv_bfloat16* left, const __nv_bfloat16* right, int first, int inner,
                           int columns) {
#pragma unroll
  for (int i = 0; i < kTile * kDepth / kPiece; i += kThreads) {
    const int row = (i + threadIdx.x) / (kDepth / kPiece);
    const int piece = (i + threadIdx.x) % (kDepth / kPiece);
    copy_piece(&stage.left[left_place(row, piece)], &left[row * inner + first + piece * kPiece]);
  }
#pragma unroll
  for (int i = 0; i < kDepth * kTile / kPiece; i += kThreads) {
    const int row = (i + threadIdx.x) / (kTile / kPiece);
    const int piece = (i + threadIdx.x) % (kTile / kPiece);
    copy_piece(&stage.right[right_place(row, piece)], &right[(first + row) * columns + piece * kPiece]);
  }
}

// result (rows x columns) = left (rows x inner) * right (inner x columns). Rows and columns are multiples of kTile,
// inner is one of kDepth.
__global__ void __launch_bounds__(kThreads)
    gemm_mma_pipeline(const __nv_bfloat16* left, const __nv_bfloat16* right, float* result, int inner, int columns) {
  __shared__ __align__(128) Stage stages[kStages];
  left += blockIdx.y * kTile * inner;
  right += blockIdx.x * kTile;
  const int lane = threadIdx.x % 32;
  const int warp_row = threadIdx.x / 64 * 32;
  const int warp_column = threadIdx.x / 32 % 2 * 32;
  const int tiles = inner / kDepth;

  float sums[2][4][4] = {};
  // A group for each tile, also for those that are not there: the number of groups to wait for stays the same.
#pragma unroll
  for (int i = 0; i < kStages - 1; ++i) {
    if (i < tiles) copy_stage(stages[i], left, right, i * kDepth, inner, columns);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int tile = 0; tile < tiles; ++tile) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();  // the tile is there for all, and nobody uses the one before it any more
    const int next = tile + kStages - 1;
    if (next < tiles) copy_stage(stages[next % kStages], left, right, next * kDepth, inner, columns);
    asm volatile("cp.async.commit_group;" ::: "memory");

    const Stage& stage = stages[tile % kStages];
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      unsigned a[2][4];
      unsigned b[2][4];  // each has two columns of tiles
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        load_tiles(a[i], &stage.left[left_place(warp_row + 16 * i + lane % 16, k / kPiece + lane / 16)]);
        load_tiles_transposed(b[i],
                              &stage.right[right_place(k + lane % 16, (warp_column + 16 * i) / kPiece + lane / 16)]);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      }
    }
  }
  // A thread has two neighbours in a row, and two of them eight rows below.
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int row = blockIdx.y * kTile + warp_row + 16 * i + lane / 4;
      const int column = blockIdx.x * kTile + warp_column + 8 * j + lane % 4 * 2;
      float2* const upper = reinterpret_cast<float2*>(&result[row * columns + column]);
      float2* const lower = reinterpret_cast<float2*>(&result[(row + 8) * columns + column]);
      *upper = make_float2(sums[i][j][0], sums[i][j][1]);
      *lower = make_float2(sums[i][j][2], sums[i][j][3]);
    }
  }
}

// Before: elements as multiples of 1/64, which bfloat16 has exactly.
__global__ void to_bfloat16(const signed char* values, __nv_bfloat16* elements, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) elements[i] = __float2bfloat16(static_cast<float>(values[i]) * (1.0f / 64.0f));
}
