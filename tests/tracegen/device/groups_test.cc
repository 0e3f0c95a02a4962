// Operations among threads: cooperative groups, votes and matches, atomics of all types and scopes, clocks.
#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

TEST_F(CaptureTest, TilesBlocksAndCoalescedGroups) {
  std::vector<double> expected;
  for (int t = 0; t < 40; ++t) {
    int value = 8 * (t / 8 * 8) + 28;  // the sum over the tile of eight
    value += 0xaa;                     // the odd ranks of the tile
    value += 1 + t % 4 + 4;            // a dynamic tile of four
    value += 2 + t + 40;               // the block
    if (t % 3 == 0) {
      const int first = (t / 32 * 32 + 2) / 3 * 3;  // lanes of the warp that are multiples of three
      const int last = t < 32 ? 30 : 39;
      const int size = (last - first) / 3 + 1;
      value += first + 3 + size + (t - first) / 3 + size;
    }
    expected.push_back(value);
  }
  Succeeds(R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__device__ int sum(const cg::thread_group& g, int v) { g.sync(); return v + g.thread_rank() + g.size(); }
__global__ void k(int* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  int rank = block.thread_rank();
  int value = cg::reduce(tile, rank, cg::plus<int>()) + tile.ballot(tile.thread_rank() & 1);
  value += sum(cg::tiled_partition(block, 4), 1) + sum(block, 2);
  if (rank % 3 == 0) {
    cg::coalesced_group some = cg::coalesced_threads();
    value += some.shfl(rank, 1) + some.size() + some.thread_rank() + cg::reduce(some, 1, cg::plus<int>());
  }
  cg::this_grid().sync();
  out[rank] = value;
})",
           IntRecipe(1, 40, expected));
}

TEST_F(CaptureTest, BarrierOfAGridOfSeveralBlocksIsRefused) {
  options_.compare_with_native = false;
  Fails(R"(
#include <cooperative_groups.h>
__global__ void k(int* out) {
  out[0] = 1;
  cooperative_groups::this_grid().sync();
})",
        IntRecipe(2, 4, {0}), {"a barrier of the whole grid at kernel.cu:5", "2 blocks"});
}

TEST_F(CaptureTest, MatchesVotesAndBlockReductions) {
  std::vector<double> expected;
  for (int t = 0; t < 32; ++t) {
    const uint32_t same = 0x11111111u << (t % 4);
    expected.push_back(static_cast<double>(static_cast<int32_t>(same)) + 1 + 8 + 2);
  }
  Succeeds(R"(
__global__ void k(int* out) {
  int t = threadIdx.x, all;
  unsigned same = __match_any_sync(0xffffffff, t % 4);
  __match_all_sync(0xffffffff, 7.5, &all);
  int value = same + (all ? 1 : 0) + __syncthreads_count(t % 4 == 0) + __syncthreads_or(t == 3) +
              __syncthreads_and(t < 32) * (__all(1) + __any(t == 5) - 1);
  out[t] = value;
})",
           IntRecipe(1, 32, expected));
  EXPECT_EQ(Count(trace::v1::OP_BARRIER), 3);
}

TEST_F(CaptureTest, AtomicsOfEveryTypeAndScope) {
  Succeeds(R"(
__device__ unsigned long long wide = 1ull << 40;
__device__ unsigned short narrow = 5;
__device__ double real = 0.5;
__device__ float single = 3.0f;
__device__ unsigned count = 0, down = 2;
__global__ void k(int* out) {
  int t = threadIdx.x;
  atomicAdd(&wide, 1ull); atomicMax_system((long long*)&wide, -5ll); atomicAdd_block(&real, 0.25);
  if (t == 0) out[0] = atomicCAS(&narrow, (unsigned short)5, (unsigned short)9) + narrow;
  if (t == 1) out[1] = atomicCAS_system(&out[1], 0, 4) == 0;
  atomicInc(&count, 5); atomicDec(&down, 2);
  atomicOr(&out[2], 1 << t); atomicXor_block(&out[3], 3 << t); atomicMin(&out[4], -t); atomicSub(&out[5], 2);
  if (t == 2) out[6] = atomicExch(&single, 8.0f) == 3.0f;
  __syncthreads();
  if (t == 0) {
    out[7] = (int)(wide - (1ull << 40)); out[8] = (int)(real * 4); out[9] = count; out[10] = down; out[11] = (int)single;
  }
})",
           IntRecipe(1, 8, {14, 1, 255, 3 ^ 6 ^ 12 ^ 24 ^ 48 ^ 96 ^ 192 ^ 384, -7, -16, 1, 8, 10, 2, 0, 8}));
}

TEST_F(CaptureTest, ShufflesOfEveryWidthAndType) {
  std::vector<double> expected;
  for (int t = 0; t < 32; ++t) {
    const int from_up = t % 8 >= 2 ? t - 2 : t;
    const int from_down = t % 16 + 3 < 16 ? t + 3 : t;
    expected.push_back((t ^ 5) + 100 * from_up + from_down + t / 4 * 4 + 1);
  }
  Succeeds(R"(
__global__ void k(int* out) {
  int t = threadIdx.x;
  double d = __shfl_xor_sync(0xffffffff, (double)t, 5);
  long long l = __shfl_up_sync(0xffffffff, 100ll * t, 2, 8);
  float f = __shfl_down_sync(0xffffffff, (float)t, 3, 16);
  out[t] = (int)d + (int)l + (int)f + __shfl(t, 1, 4);
})",
           IntRecipe(1, 32, expected));
}

TEST_F(CaptureTest, ClocksGoForward) {
  Succeeds(R"(
__global__ void k(int* out) {
  long long a = clock64();
  unsigned long long g;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g));
  long b = clock();
  out[0] = b > a && g > (unsigned long long)a;
})",
           IntRecipe(1, 1, {1}));
}

}  // namespace
}  // namespace heddle::tracegen
