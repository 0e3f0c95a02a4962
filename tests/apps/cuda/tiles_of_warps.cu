// Tiles of several warps, of two sizes at a time: while some warps of a large tile wait for the rest, the rest meets in
// small ones. In blocks with barriers for all tiles, and in larger ones; with memory for tiles, and without.
// nvcc: -arch=sm_80 -std=c++17
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"

namespace cg = cooperative_groups;

__device__ void UseBoth(const cg::thread_block& block, int* out) {
  const auto small = cg::tiled_partition<64>(block);
  const auto large = cg::tiled_partition<128>(block);
  const int rank = static_cast<int>(block.thread_rank());
  int found = 0;
  if (small.meta_group_rank() % 2 == 0) {
    for (int i = 0; i < 3; ++i) found += small.shfl(rank, 63 - i);
    found += cg::reduce(small, rank % 5, cg::plus<int>());
  }
  found += 100000 * (large.shfl(rank, 127) / 128 + large.any(rank % 128 == 90));
  found += 10 * cg::reduce(large, rank % 3, cg::plus<int>());
  if (large.meta_group_rank() == 0) large.sync();
  out[rank] = found;
}
__global__ void WithMemory(int* out) {
  __shared__ cg::block_tile_memory<1024> memory;
  UseBoth(cg::this_thread_block(memory), out);
}
__global__ void WithoutMemory(int* out) { UseBoth(cg::this_thread_block(), out); }

// Tiles of tiles, whose numbers are those within their parents.
__global__ void Parts(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto whole = cg::tiled_partition<256>(block);
  const auto half = cg::tiled_partition<128>(whole);
  const auto part = cg::tiled_partition<64>(half);
  const auto warp = cg::tiled_partition<32>(part);
  const cg::thread_block_tile<64> same(part);
  const int rank = static_cast<int>(block.thread_rank());
  int found = static_cast<int>(half.meta_group_rank() + 10 * part.meta_group_rank() + 100 * warp.meta_group_rank() +
                               1000 * (half.meta_group_size() + part.meta_group_size() + warp.meta_group_size()));
  found += 10000 * part.shfl(rank / 64, 40);
  found += 1000000 * (cg::reduce(same, 1, cg::plus<int>()) + cg::reduce(half, 1, cg::plus<int>()));
  out[rank] = found;
}

void Check(const int* out, int threads) {
  for (int i = 0; i < threads; ++i) {
    int expected = 100000 * (i / 128 + 1);
    const int small = i / 64 * 64, large = i / 128 * 128;
    if (i / 64 % 2 == 0) {
      expected += 3 * small + 63 + 62 + 61;
      for (int k = small; k < small + 64; ++k) expected += k % 5;
    }
    for (int k = large; k < large + 128; ++k) expected += 10 * (k % 3);
    EXPECT(out[i] == expected);
  }
}

int main() {
  int* out;
  CALL(cudaMallocManaged(&out, 1024 * sizeof(int)));
  const int sizes[] = {128, 512, 640, 768, 1024};
  for (const int threads : sizes) {
    WithMemory<<<1, threads>>>(out);
    CALL(cudaDeviceSynchronize());
    Check(out, threads);
    for (int i = 0; i < threads; ++i) out[i] = 0;
    WithoutMemory<<<1, threads>>>(out);
    CALL(cudaDeviceSynchronize());
    Check(out, threads);
  }
  for (const int threads : sizes) {
    if (threads % 256 != 0) continue;
    Parts<<<1, threads>>>(out);
    CALL(cudaDeviceSynchronize());
    for (int i = 0; i < threads; ++i) {
      EXPECT(out[i] == i / 128 % 2 + 10 * (i / 64 % 2) + 100 * (i / 32 % 2) + 6000 + 10000 * (i / 64) + 192000000);
    }
  }
  return Finish();
}
