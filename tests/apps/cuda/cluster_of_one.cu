// Kernels of compute capability 9.0 that are launched without clusters: each block is one. Its barrier in two halves,
// the elected thread of a warp, reductions of groups in one instruction.
// nvcc: -arch=sm_90 -std=c++17
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 96;

__global__ void Halves(int* out) {
  __shared__ int cells[kThreads];
  const int t = threadIdx.x;
  cells[t] = t;
  cg::cluster_group cluster = cg::this_cluster();
  auto token = cluster.barrier_arrive();
  int sum = 1000 * static_cast<int>(cluster.num_blocks());
  cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token&&>(token));
  sum += cells[kThreads - 1 - t];
  cluster.sync();
  cells[t] = -1;
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
  out[blockIdx.x * kThreads + t] = sum + cells[(t + 1) % kThreads];
}

__global__ void Elected(int* out) {
  const int t = threadIdx.x;
  unsigned int leader, is_leader;
  if (t % 32 < 4) return;
  asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.b32 %1, 1, 0, p; }"
               : "=r"(leader), "=r"(is_leader)
               : "r"(0xfffffff0u));
  out[t] = static_cast<int>(10 * leader + is_leader);
}

__global__ void Reductions(int* out) {
  const int t = threadIdx.x;
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int sum = cg::reduce(tile, t, cg::plus<int>());
  sum += 1000 * static_cast<int>(cg::reduce(tile, static_cast<unsigned int>(t), cg::greater<unsigned int>()));
  if (t % 2 == 0) {
    const cg::coalesced_group even = cg::coalesced_threads();
    sum += 1000000 * cg::reduce(even, 1, cg::plus<int>());
  }
  out[t] = sum;
}

int main() {
  int* out;
  CALL(cudaMallocManaged(&out, 2 * kThreads * sizeof(int)));
  Halves<<<2, kThreads>>>(out);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < 2 * kThreads; ++i) EXPECT(out[i] == 1000 + kThreads - 1 - i % kThreads - 1);
  Elected<<<1, 64>>>(out);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < 64; ++t) {
    if (t % 32 >= 4) EXPECT(out[t] == 40 + (t % 32 == 4 ? 1 : 0));
  }
  Reductions<<<1, 64>>>(out);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < 64; ++t) {
    const int first = t / 16 * 16;
    EXPECT(out[t] == 16 * first + 120 + 1000 * (first + 15) + (t % 2 == 0 ? 16000000 : 0));
  }
  return Finish();
}
