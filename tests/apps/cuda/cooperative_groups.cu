// Cooperative groups: the block, tiles of it, and the threads that happen to be together.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"

namespace cg = cooperative_groups;

template <typename Group>
__device__ int SumOf(Group group, int value) {
  for (int offset = group.size() / 2; offset > 0; offset /= 2) value += group.shfl_down(value, offset);
  return value;
}

__global__ void Work(int* out) {
  cg::thread_block block = cg::this_thread_block();
  __shared__ int sums[16];
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  const int sum = SumOf(tile, block.thread_rank());
  if (tile.thread_rank() == 0) sums[block.thread_rank() / 8] = sum;
  block.sync();
  int mine = sums[(block.thread_rank() / 8 + 1) % 16];
  if (block.thread_rank() % 3 == 0) {
    cg::coalesced_group together = cg::coalesced_threads();
    mine += 100000 * static_cast<int>(together.size());
  }
  out[block.thread_rank()] = mine + (tile.any(block.thread_rank() == 5) ? 1000000000 : 0);
}

// Parts of a tile and of coalesced threads, while other threads of the warp divide a group of their own.
__global__ void Divide(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  const int rank = block.thread_rank();
  const cg::coalesced_group odd = cg::binary_partition(tile, rank % 4 == 1);
  const cg::coalesced_group same = cg::labeled_partition(tile, rank % 3);
  int parts = static_cast<int>(odd.size() * 100 + same.size());
  if (rank % 32 < 12) {
    const cg::coalesced_group low = cg::coalesced_threads();
    parts += 10000 * static_cast<int>(cg::binary_partition(low, rank % 2 == 0).size());
  } else {
    const cg::coalesced_group high = cg::coalesced_threads();
    parts += 10000 * static_cast<int>(cg::labeled_partition(high, rank % 5).size());
  }
  out[rank] = parts;
}

// Tiles of two warps: sums, votes, and a value of one thread; the first tile goes further on its own.
__global__ void InWarps(int* out, double* sums) {
  __shared__ cg::block_tile_memory<192> memory;
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<64>(block);
  const cg::thread_block_tile<8> part = cg::tiled_partition<8>(tile);
  const int rank = block.thread_rank();
  int found = cg::reduce(tile, rank, cg::greater<int>());
  found += 1000 * tile.any(rank == 100) + 2000 * tile.all(rank >= 64) + 10000 * tile.shfl(rank, 40);
  if (tile.meta_group_rank() == 0) {
    tile.sync();
    found += 5000000 * tile.all(1);
  }
  out[rank] = found + 10000000 * part.meta_group_rank();
  const double sum = cg::reduce(tile, 0.5 * rank, cg::plus<double>());
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum + tile.meta_group_size();
}

int main() {
  const int n = 128;
  int host[n], *out;
  CALL(cudaMalloc(&out, sizeof(host)));
  Work<<<1, n>>>(out);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    const int next = (i / 8 + 1) % 16 * 8;
    int expected = 8 * next + 28, together = 0;
    for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) together += k % 3 == 0;
    if (i % 3 == 0) expected += 100000 * together;
    if (i / 8 == 0) expected += 1000000000;
    EXPECT(host[i] == expected);
  }
  Divide<<<1, n>>>(out);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    const int lane = i % 32, warp = i - lane;
    int same = 0, part = 0;
    for (int k = i / 16 * 16; k < i / 16 * 16 + 16; ++k) same += k % 3 == i % 3;
    for (int k = 0; k < 12 && lane < 12; ++k) part += k % 2 == lane % 2;
    for (int k = 12; k < 32 && lane >= 12; ++k) part += (warp + k) % 5 == i % 5;
    EXPECT(host[i] == 10000 * part + 100 * (i % 4 == 1 ? 4 : 12) + same);
  }
  int* found;
  double* sums;
  CALL(cudaMallocManaged(&found, 192 * sizeof(int)));
  CALL(cudaMallocManaged(&sums, 3 * sizeof(double)));
  InWarps<<<1, 192>>>(found, sums);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < 192; ++i) {
    const int tile = i / 64;
    const int sum = tile * 64 + 63 + 1000 * (tile == 1) + 2000 * (tile > 0) + 10000 * (tile * 64 + 40);
    EXPECT(found[i] == sum + 5000000 * (tile == 0) + 10000000 * (i % 64 / 8));
    if (i % 64 == 0) EXPECT(sums[tile] == 0.5 * 32 * (2 * i + 63) + 3);
  }
  return Finish();
}
