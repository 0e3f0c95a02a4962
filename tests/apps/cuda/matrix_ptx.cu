// Products of matrices by inline PTX, as libraries write them: tiles by ldmatrix, mma.sync, and moves between threads.
// nvcc: -arch=sm_90
#include <cuda_fp16.h>

#include "check.h"

static unsigned state = 4711;
static float Draw() {
  state = state * 1664525u + 1013904223u;
  return (static_cast<int>(state >> 8 & 2047) - 1024) / 1024.0f;
}

__device__ unsigned Address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ void LoadTiles(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address));
}

__device__ void LoadTilesTransposed(unsigned (&to)[2], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(address));
}

__device__ void Multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

constexpr int kTile = 32;       // rows and columns of a block's part of C
constexpr int kPadded = 40;     // of a row in shared memory, so that rows lie in different banks
constexpr int kBlock = 4 * 32;  // each warp has 16 rows and 16 columns

// C = A * B, all by rows.
__global__ void Product(const __half* a, const __half* b, float* c, int size) {
  __shared__ __align__(16) __half tile_a[kTile * kPadded];
  __shared__ __align__(16) __half tile_b[kTile * kPadded];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp / 2 * 16, column = warp % 2 * 16;
  float sums[2][4] = {};
  for (int k = 0; k < size; k += kTile) {
    for (int i = threadIdx.x; i < kTile * kTile / 8; i += kBlock) {
      const int line = i / (kTile / 8), at = i % (kTile / 8) * 8;
      *reinterpret_cast<int4*>(&tile_a[line * kPadded + at]) =
          *reinterpret_cast<const int4*>(&a[(blockIdx.y * kTile + line) * size + k + at]);
      *reinterpret_cast<int4*>(&tile_b[line * kPadded + at]) =
          *reinterpret_cast<const int4*>(&b[(k + line) * size + blockIdx.x * kTile + at]);
    }
    __syncthreads();
    for (int step = 0; step < kTile; step += 16) {
      unsigned from_a[4];
      LoadTiles(from_a, Address(&tile_a[(row + lane % 16) * kPadded + step + lane / 16 * 8]));
      for (int half = 0; half < 2; ++half) {
        unsigned from_b[2];
        LoadTilesTransposed(from_b, Address(&tile_b[(step + lane % 16) * kPadded + column + 8 * half]));
        Multiply(sums[half], from_a, from_b);
      }
    }
    __syncthreads();
  }
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 4; ++i) {
      const int at_row = blockIdx.y * kTile + row + lane / 4 + i / 2 * 8;
      c[at_row * size + blockIdx.x * kTile + column + 8 * half + lane % 4 * 2 + i % 2] = sums[half][i];
    }
  }
}

static void TryProduct() {
  const int size = 64;
  __half *a, *b;
  float* c;
  CALL(cudaMallocManaged(&a, size * size * sizeof(__half)));
  CALL(cudaMallocManaged(&b, size * size * sizeof(__half)));
  CALL(cudaMallocManaged(&c, size * size * sizeof(float)));
  for (int i = 0; i < size * size; ++i) {
    a[i] = __float2half(Draw());
    b[i] = __float2half(Draw());
  }
  Product<<<dim3(size / kTile, size / kTile), kBlock>>>(a, b, c, size);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      double sum = 0;
      for (int k = 0; k < size; ++k) sum += double(__half2float(a[i * size + k])) * __half2float(b[k * size + j]);
      EXPECT_NEAR(c[i * size + j], sum, 1e-4);
    }
  }
}

// A tile of 16-bit numbers, transposed in registers; and stored and loaded.
__global__ void Moves(unsigned* out) {
  __shared__ __align__(16) unsigned short tile[64];
  const unsigned lane = threadIdx.x;
  const unsigned held = 2 * lane | (2 * lane + 1) << 16;  // element number i has the value i
  unsigned turned;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(held));
  out[lane] = turned;
#if __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(Address(&tile[lane % 8 * 8])),
               "r"(held)
               : "memory");
#else
  tile[lane / 4 + 8 * (lane % 4 * 2)] = held & 0xffff;
  tile[lane / 4 + 8 * (lane % 4 * 2 + 1)] = held >> 16;
#endif
  __syncwarp();
  out[32 + lane] = tile[2 * lane] | tile[2 * lane + 1] << 16;
}

static void TryMoves() {
  unsigned* out;
  CALL(cudaMallocManaged(&out, 64 * sizeof(unsigned)));
  Moves<<<1, 32>>>(out);
  CALL(cudaDeviceSynchronize());
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned line = lane / 4, at = lane % 4 * 2;
    const unsigned expected = (8 * at + line) | (8 * (at + 1) + line) << 16;
    EXPECT(out[lane] == expected);
    EXPECT(out[32 + lane] == expected);
  }
}

// Only some warps multiply; and a statement with a guard and a loop is cut.
__global__ void Guarded(int* out, int turns) {
  const int warp = threadIdx.x / 32;
  int sums[2] = {static_cast<int>(threadIdx.x), 0};
  if (warp != 1) {
    asm volatile(
        "{\n .reg .pred more;\n .reg .b32 left;\n mov.b32 left, %4;\n"
        "again:\n setp.gt.s32 more, left, 0;\n"
        " @more mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};\n"
        " sub.s32 left, left, 1;\n @more bra again;\n}"
        : "+r"(sums[0]), "+r"(sums[1])
        : "r"(0x01010101), "r"(0x02020202), "r"(turns));
  }
  out[2 * threadIdx.x] = sums[0];
  out[2 * threadIdx.x + 1] = sums[1];
}

static void TryGuarded() {
  int* out;
  CALL(cudaMallocManaged(&out, 192 * sizeof(int)));
  Guarded<<<1, 96>>>(out, 3);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < 96; ++t) {
    const int product = t / 32 == 1 ? 0 : 3 * 16 * 2;
    EXPECT(out[2 * t] == t + product);
    EXPECT(out[2 * t + 1] == product);
  }
}

int main() {
  TryProduct();
  TryMoves();
  TryGuarded();
  return Finish();
}
