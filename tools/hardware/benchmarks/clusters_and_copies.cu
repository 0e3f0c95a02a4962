// Shared memory of another block of the cluster, transaction barriers, and copies into shared memory: cards of compute
// capability 9.0 and later.
#include <cooperative_groups.h>

#include "tools/hardware/benchmarks/benchmark.h"

namespace heddle::hardware {
namespace {

constexpr int kUnroll = 16;

#ifndef HEDDLE_STAND_IN  // whose compiler does not know all of these statements
// The pass for an older card must not see it; what is behind it does not run there.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define HEDDLE_CLUSTER_OF_TWO
#else
#define HEDDLE_CLUSTER_OF_TWO __cluster_dims__(2)
#endif

// Shared memory of the next block of a cluster of two.
__global__ void HEDDLE_CLUSTER_OF_TWO FollowCluster(int rounds, long long* cycles, unsigned* sink) {
#if __CUDA_ARCH__ >= 900
  __shared__ unsigned chain[256];
  namespace cg = cooperative_groups;
  const unsigned other = cg::this_cluster().block_rank() ^ 1;
  const auto own = static_cast<unsigned>(__cvta_generic_to_shared(chain));
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(other));
  // What lies in this block is followed by the other one: addresses as that one has to use them.
  unsigned mine;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mine) : "r"(own), "r"(other ^ 1));
  for (int i = 0; i < 256; ++i) chain[i] = mine + 4 * ((i + 33) % 256);
  cg::this_cluster().sync();
  unsigned p = there;
  const long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(p)::"memory");
  }
  const long long end = clock64();
  cg::this_cluster().sync();
  cycles[blockIdx.x] = end - begin;
  sink[blockIdx.x] = p;
#endif
}

// Until phase `number` of a transaction barrier, from 0 on, is over.
[[maybe_unused]] __device__ void WaitForPhase(unsigned mbarrier, int number) {
#if __CUDA_ARCH__ >= 900
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(mbarrier), "r"(number & 1)
                 : "memory");
  }
#endif
}

// From the start of a copy until its bytes may be read. `bulk`: one thread's cp.async.bulk on a transaction barrier;
// else cp.async of 16 bytes per thread of one warp.
__global__ void CopyIn(const char* from, int bytes, int bulk, int rounds, long long* cycles) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) char shared[];
  __shared__ unsigned long long barrier;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const auto mbarrier = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(mbarrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
    if (bulk) {
      if (threadIdx.x != 0) continue;
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(mbarrier), "r"(bytes) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                   "l"(from), "r"(bytes), "r"(mbarrier)
                   : "memory");
      WaitForPhase(mbarrier, i);
    } else {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + 16 * threadIdx.x),
                   "l"(from + 16 * threadIdx.x)
                   : "memory");
      asm volatile("cp.async.wait_all;" ::: "memory");
    }
  }
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
#endif
}

// An arrival that ends the phase, and the wait for it, by one thread.
__global__ void ArriveAndWait(int rounds, long long* cycles) {
#if __CUDA_ARCH__ >= 900
  __shared__ unsigned long long barrier;
  const auto mbarrier = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(mbarrier) : "memory");
  const long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(mbarrier) : "memory");
    WaitForPhase(mbarrier, i);
  }
  *cycles = clock64() - begin;
#endif
}

// Cycles per step, of what `start(rounds)` runs after a warm-up.
template <typename Start>
void MeasureCycles(const char* name, const Parameters& parameters, int steps, DeviceArray<long long>& cycles,
                   Start start) {
  std::vector<double> values;
  for (int i = -1; i < kRepetitions; ++i) {
    start();
    Finish();
    if (i >= 0) values.push_back(static_cast<double>(cycles.Read()[0]) / steps);
  }
  Print(name, parameters, "cycles", values);
}

void MeasureHopper() {
  constexpr int kRounds = 256;
  DeviceArray<long long> cycles(2);
  DeviceArray<unsigned> sink(2);
  DeviceArray<char> memory(1 << 20);
  HEDDLE_CALL(cudaMemset(memory.data(), 1, memory.count()));
  MeasureCycles("latency_shared_cluster", {}, kRounds * kUnroll, cycles,
                [&] { FollowCluster<<<2, 1>>>(kRounds, cycles.data(), sink.data()); });
  MeasureCycles("latency_transaction_barrier", {}, kRounds, cycles,
                [&] { ArriveAndWait<<<1, 1>>>(kRounds, cycles.data()); });
  MeasureCycles("latency_copy", {{"bytes", "512"}, {"kind", "cp.async"}}, kRounds, cycles,
                [&] { CopyIn<<<1, 32, 1024>>>(memory.data(), 512, 0, kRounds, cycles.data()); });
  for (const int bytes : {16, 128, 512, 2048, 8192, 32768}) {
    MeasureCycles("latency_copy", {{"bytes", std::to_string(bytes)}, {"kind", "cp.async.bulk"}}, kRounds, cycles,
                  [&] { CopyIn<<<1, 32, 32768>>>(memory.data(), bytes, 1, kRounds, cycles.data()); });
  }
}
#endif

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  [[maybe_unused]] const bool small = IsSmall(argc, argv);
#ifndef HEDDLE_STAND_IN
  if (!small && Architecture() >= 90) MeasureHopper();
#endif
  return 0;
}
