// Cooperative groups move and reduce structures and vectors, not only numbers: any type of up to 32 bytes that can be
// copied byte by byte.
// nvcc: -arch=sm_80 -std=c++17
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>

#include "check.h"

namespace cg = cooperative_groups;

// The largest number so far, and a sum that belongs to it, as a softmax in one pass needs them.
struct Maximum {
  float largest, sum;
};
__host__ __device__ Maximum Merge(Maximum a, Maximum b) { return Maximum{fmaxf(a.largest, b.largest), a.sum + b.sum}; }
struct Larger {
  __device__ double4 operator()(const double4& a, const double4& b) const {
    return make_double4(fmax(a.x, b.x), fmin(a.y, b.y), a.z + b.z, a.w * b.w);
  }
};
struct __attribute__((packed)) Odd {  // seven bytes, no default constructor
  __device__ Odd(char c, short s, int i) : c(c), s(s), i(i) {}
  char c;
  short s;
  int i;
};

__global__ void Tiles(double* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto tile = cg::tiled_partition<8>(warp);
  const int t = threadIdx.x;
  const Maximum mine = {static_cast<float>(t ^ 5), 1.0f};
  const Maximum all = cg::reduce(warp, mine, Merge);
  const Maximum seventh = warp.shfl(mine, 7);
  const float2 below = tile.shfl_up(make_float2(t, 2 * t), 1);
  const double4 four = cg::reduce(tile, make_double4(t, t, t, 2), Larger());
  const Odd odd = tile.shfl_xor(Odd(static_cast<char>(t), static_cast<short>(-t), 1000 * t), 3);
  const half next = warp.shfl_down(__float2half(t * 0.5f), 1);
  const int sum = cg::reduce(tile, t, [](int a, int b) { return a + b; });
  const unsigned char byte = tile.shfl(static_cast<unsigned char>(200 + t), 2);
  double* row = out + 16 * t;
  row[0] = all.largest + all.sum;
  row[1] = seventh.largest;
  row[2] = below.x + 10 * below.y;
  row[3] = four.x;
  row[4] = four.y;
  row[5] = four.z;
  row[6] = four.w;
  row[7] = odd.c + 2 * odd.s + odd.i;
  row[8] = __half2float(next);
  row[9] = sum;
  row[10] = byte;
  row[11] = cg::inclusive_scan(tile, t);
  row[12] = tile.meta_group_rank() + 100 * tile.meta_group_size();
  row[13] = warp.meta_group_rank() + 100 * warp.meta_group_size();
  row[14] = cg::exclusive_scan(tile, t, cg::plus<int>());
}

__global__ void Coalesced(double* out) {
  const int t = threadIdx.x;
  if (t % 3 == 0) {
    const cg::coalesced_group group = cg::coalesced_threads();
    const Maximum all = cg::reduce(group, Maximum{static_cast<float>(t), 1.0f}, Merge);
    const float2 first = group.shfl(make_float2(t, -t), 1);
    const longlong2 above = group.shfl_down(make_longlong2(t, 3), 1);
    const cg::coalesced_group part = cg::tiled_partition(group, 4);
    out[4 * t] = all.largest + 100 * all.sum;
    out[4 * t + 1] = first.x - 10 * first.y;
    out[4 * t + 2] = static_cast<double>(above.x * above.y);
    out[4 * t + 3] = part.size() + 10 * part.thread_rank() + 100 * part.meta_group_rank();
  }
}

int main() {
  const int n = 64;
  double* out;
  CALL(cudaMallocManaged(&out, 16 * n * sizeof(double)));
  Tiles<<<1, n>>>(out);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < n; ++t) {
    const double* row = out + 16 * t;
    const int warp = t & ~31, tile = t & ~7, lane = t & 7;
    EXPECT(row[0] == warp + 31 + 32);
    EXPECT(row[1] == ((warp + 7) ^ 5));
    EXPECT(row[2] == (lane == 0 ? 21 * t : 21 * (t - 1)));
    EXPECT(row[3] == tile + 7 && row[4] == tile && row[5] == 8 * tile + 28 && row[6] == 256);
    EXPECT(row[7] == 999 * (t ^ 3));
    EXPECT(row[8] == 0.5 * (t % 32 == 31 ? t : t + 1));
    EXPECT(row[9] == 8 * tile + 28);
    EXPECT(row[10] == (200 + tile + 2) % 256);
    EXPECT(row[11] == (lane + 1) * tile + lane * (lane + 1) / 2);
    EXPECT(row[12] == (t % 32) / 8 + 400);
    EXPECT(row[13] == t / 32 + 200);
    EXPECT(row[14] == lane * tile + lane * (lane - 1) / 2);
  }
  Coalesced<<<1, 32>>>(out);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < 32; t += 3) {
    const int rank = t / 3;
    EXPECT(out[4 * t] == 30 + 1100);
    EXPECT(out[4 * t + 1] == 33);
    EXPECT(out[4 * t + 2] == 3 * (t == 30 ? 30 : t + 3));
    EXPECT(out[4 * t + 3] == (rank < 8 ? 4 : 3) + 10 * (rank % 4) + 100 * (rank / 4));
  }
  return Finish();
}
