// Cooperative groups: the block, tiles of it, and the threads that happen to be together.
#include <cooperative_groups.h>

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
  return Finish();
}
