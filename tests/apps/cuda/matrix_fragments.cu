// Products of matrices by fragments (mma.h): every shape and type, all layouts, against loops of the host.
// nvcc: -arch=sm_90
#include <mma.h>

#include "check.h"

using namespace nvcuda;

static unsigned state = 12345;
static int Draw(int most) {
  state = state * 1664525u + 1013904223u;
  return static_cast<int>((state >> 8) % (2u * most + 1)) - most;
}

template <typename S>
static bool HasSign(S) {
  return true;
}
static bool HasSign(unsigned char) { return false; }

template <typename Layout>
struct IsRow {
  static const bool value = false;
};
template <>
struct IsRow<wmma::row_major> {
  static const bool value = true;
};

template <int M, int N, int K, typename T, typename S, typename Sum, typename LA, typename LB>
__global__ void Multiply(const S* a, const S* b, const Sum* c, Sum* d, int lda, int ldb, bool sums_by_rows) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> fc, fd;
  wmma::load_matrix_sync(fa, a, lda);
  wmma::load_matrix_sync(fb, b, ldb);
  const wmma::layout_t layout = sums_by_rows ? wmma::mem_row_major : wmma::mem_col_major;
  const int ldc = sums_by_rows ? N : M;
  wmma::load_matrix_sync(fc, c, ldc, layout);
  wmma::mma_sync(fd, fa, fb, fc);
  // What programs do to elements, wherever they are.
  for (int i = 0; i < fd.num_elements; ++i) fd.x[i] = fd.x[i] + fd.x[i];
  wmma::store_matrix_sync(d, fd, ldc, layout);
}

// Small whole numbers: exact in every type, whatever the order of the sums.
template <int M, int N, int K, typename T, typename S, typename Sum, typename LA, typename LB>
void Try(int most) {
  for (int turn = 0; turn < 2; ++turn) {
    const bool by_rows = turn == 0;
    const int pad = 16;
    const int lda = (IsRow<LA>::value ? K : M) + pad, ldb = (IsRow<LB>::value ? N : K) + pad;
    S *a, *b;
    Sum *c, *d;
    const int na = lda * (IsRow<LA>::value ? M : K), nb = ldb * (IsRow<LB>::value ? K : N);
    CALL(cudaMallocManaged(&a, na * sizeof(S)));
    CALL(cudaMallocManaged(&b, nb * sizeof(S)));
    CALL(cudaMallocManaged(&c, M * N * sizeof(Sum)));
    CALL(cudaMallocManaged(&d, M * N * sizeof(Sum)));
    const bool negative = HasSign(a[0]);
    for (int i = 0; i < na; ++i) a[i] = static_cast<S>(static_cast<float>(negative ? Draw(most) : abs(Draw(most))));
    for (int i = 0; i < nb; ++i) b[i] = static_cast<S>(static_cast<float>(negative ? Draw(most) : abs(Draw(most))));
    for (int i = 0; i < M * N; ++i) c[i] = static_cast<Sum>(static_cast<float>(Draw(most)));
    Multiply<M, N, K, T, S, Sum, LA, LB><<<1, 32>>>(a, b, c, d, lda, ldb, by_rows);
    CALL(cudaDeviceSynchronize());
    for (int i = 0; i < M; ++i) {
      for (int j = 0; j < N; ++j) {
        const int at = by_rows ? i * N + j : j * M + i;
        float sum = static_cast<float>(c[at]);
        for (int k = 0; k < K; ++k) {
          sum += static_cast<float>(a[IsRow<LA>::value ? i * lda + k : k * lda + i]) *
                 static_cast<float>(b[IsRow<LB>::value ? k * ldb + j : j * ldb + k]);
        }
        EXPECT(static_cast<float>(d[at]) == 2 * sum);
      }
    }
    CALL(cudaFree(a));
    CALL(cudaFree(b));
    CALL(cudaFree(c));
    CALL(cudaFree(d));
  }
}

template <int M, int N, int K, typename T, typename S, typename Sum>
void TryLayouts(int most) {
  Try<M, N, K, T, S, Sum, wmma::row_major, wmma::row_major>(most);
  Try<M, N, K, T, S, Sum, wmma::row_major, wmma::col_major>(most);
  Try<M, N, K, T, S, Sum, wmma::col_major, wmma::row_major>(most);
  Try<M, N, K, T, S, Sum, wmma::col_major, wmma::col_major>(most);
}

template <typename T, typename Sum>
void TryShapes(int most) {
  TryLayouts<16, 16, 16, T, T, Sum>(most);
  TryLayouts<32, 8, 16, T, T, Sum>(most);
  TryLayouts<8, 32, 16, T, T, Sum>(most);
}

// Elements of less than a byte, and whole numbers that stop at the ends of their range.
__global__ void Narrow(const unsigned* a, const unsigned* b, int* out) {
  namespace precision = wmma::experimental::precision;
  wmma::fragment<wmma::matrix_a, 8, 8, 32, precision::s4, wmma::row_major> a4;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, precision::s4, wmma::col_major> b4;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> c4;
  wmma::load_matrix_sync(a4, a, 32);
  wmma::load_matrix_sync(b4, b, 32);
  wmma::fill_fragment(c4, 3);
  wmma::mma_sync(c4, a4, b4, c4);
  wmma::store_matrix_sync(out, c4, 8, wmma::mem_row_major);
  wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> a1;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> b1;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> c1;
  wmma::load_matrix_sync(a1, a, 128);
  wmma::load_matrix_sync(b1, b, 128);
  wmma::fill_fragment(c1, 0);
  wmma::bmma_sync(c1, a1, b1, c1);
  wmma::store_matrix_sync(out + 64, c1, 8, wmma::mem_row_major);
  wmma::fill_fragment(c1, 0);
  wmma::bmma_sync(c1, a1, b1, c1, wmma::experimental::bmmaBitOpAND);
  wmma::store_matrix_sync(out + 128, c1, 8, wmma::mem_row_major);
  wmma::fragment<wmma::matrix_a, 16, 16, 16, unsigned char, wmma::row_major> a8;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, unsigned char, wmma::col_major> b8;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> c8;
  wmma::fill_fragment(a8, 255);
  wmma::fill_fragment(b8, 255);
  wmma::fill_fragment(c8, 2147483000);
  wmma::mma_sync(c8, a8, b8, c8, true);
  out[192 + threadIdx.x] = c8.x[0];
}

int FourBits(const unsigned* words, int i) {
  const int value = static_cast<int>(words[i / 8] >> 4 * (i % 8) & 15);
  return value < 8 ? value : value - 16;
}

void TryNarrow() {
  unsigned *a, *b;
  int* out;
  CALL(cudaMallocManaged(&a, 128));
  CALL(cudaMallocManaged(&b, 128));
  CALL(cudaMallocManaged(&out, 224 * sizeof(int)));
  for (int i = 0; i < 32; ++i) {
    a[i] = static_cast<unsigned>(Draw(1 << 20)) * 2654435761u;
    b[i] = static_cast<unsigned>(Draw(1 << 20)) * 2246822519u;
  }
  Narrow<<<1, 32>>>(a, b, out);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      int four = 3, different = 0, both = 0;
      for (int k = 0; k < 32; ++k) four += FourBits(a, 32 * i + k) * FourBits(b, 32 * j + k);
      for (int w = 0; w < 4; ++w) {
        different += __builtin_popcount(a[4 * i + w] ^ b[4 * j + w]);
        both += __builtin_popcount(a[4 * i + w] & b[4 * j + w]);
      }
      EXPECT(out[8 * i + j] == four);
      EXPECT(out[64 + 8 * i + j] == different);
      EXPECT(out[128 + 8 * i + j] == both);
    }
  }
  for (int i = 0; i < 32; ++i) EXPECT(out[192 + i] == 2147483647);
}

// Tiles of a larger product, as in the programming guide; through shared memory.
__global__ void Tiles(const __half* a, const __half* b, float* c, int size) {
  __shared__ __half tile_a[16 * 16], tile_b[16 * 16];
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  for (int k = 0; k < size; k += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) {
      tile_a[i] = a[(row + i / 16) * size + k + i % 16];
      tile_b[i] = b[(k + i / 16) * size + column + i % 16];
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, tile_a, 16);
    wmma::load_matrix_sync(fb, tile_b, 16);
    wmma::mma_sync(sum, fa, fb, sum);
    __syncthreads();
  }
  wmma::store_matrix_sync(c + row * size + column, sum, size, wmma::mem_row_major);
}

void TryTiles() {
  const int size = 64;
  __half *a, *b;
  float* c;
  CALL(cudaMallocManaged(&a, size * size * sizeof(__half)));
  CALL(cudaMallocManaged(&b, size * size * sizeof(__half)));
  CALL(cudaMallocManaged(&c, size * size * sizeof(float)));
  for (int i = 0; i < size * size; ++i) {
    a[i] = __float2half(Draw(1000) / 1024.0f);
    b[i] = __float2half(Draw(1000) / 1024.0f);
  }
  Tiles<<<dim3(size / 16, size / 16), 32>>>(a, b, c, size);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      double sum = 0;
      for (int k = 0; k < size; ++k) sum += double(__half2float(a[i * size + k])) * __half2float(b[k * size + j]);
      EXPECT_NEAR(c[i * size + j], sum, 1e-4);
    }
  }
}

__global__ void Round(const float* in, float* out) { out[threadIdx.x] = wmma::__float_to_tf32(in[threadIdx.x]); }

void TryRounding() {
  float *in, *out;
  CALL(cudaMallocManaged(&in, 16));
  CALL(cudaMallocManaged(&out, 16));
  in[0] = 1.0f + 1.0f / 1024;
  in[1] = 1.0f + 1.0f / 2048;  // a tie goes away from zero
  in[2] = -1.0f - 1.0f / 2048;
  in[3] = 1.0f + 1.0f / 4096;
  Round<<<1, 4>>>(in, out);
  CALL(cudaDeviceSynchronize());
  EXPECT(out[0] == 1.0f + 1.0f / 1024);
  EXPECT(out[1] == 1.0f + 1.0f / 1024);
  EXPECT(out[2] == -1.0f - 1.0f / 1024);
  EXPECT(out[3] == 1.0f);
}

int main() {
  TryShapes<__half, float>(8);
  TryShapes<__half, __half>(4);
  TryShapes<__nv_bfloat16, float>(8);
  TryShapes<signed char, int>(127);
  TryShapes<unsigned char, int>(127);
  TryLayouts<16, 16, 8, wmma::precision::tf32, float, float>(100);
  TryLayouts<8, 8, 4, double, double, double>(100);
  TryNarrow();
  TryTiles();
  TryRounding();
  return Finish();
}
