// What threads of a warp or block wait for to meet or to share: shuffles, votes, barriers, atomics.
#include "tools/hardware/benchmarks/benchmark.h"

namespace heddle::hardware {
namespace {

constexpr int kUnroll = 16;

// A step whose result the next one needs, of one warp or block.
struct Shuffle {
  static __device__ void Step(unsigned& x, unsigned*, unsigned*) { x = __shfl_xor_sync(0xffffffffu, x, 1); }
};
struct Vote {
  static __device__ void Step(unsigned& x, unsigned*, unsigned*) { x = __ballot_sync(0xffffffffu, x & 1); }
};
struct Barrier {
  static __device__ void Step(unsigned&, unsigned*, unsigned*) { __syncthreads(); }
};
// Each thread has a word of its own, and wants what was there.
struct SharedAtomic {
  static __device__ void Step(unsigned& x, unsigned* shared, unsigned*) { x = atomicAdd(shared + threadIdx.x, x & 1); }
};
struct GlobalAtomic {
  static __device__ void Step(unsigned& x, unsigned*, unsigned* global) { x = atomicAdd(global + threadIdx.x, x & 1); }
};

template <typename Step>
__global__ void Repeat(int rounds, unsigned* global, long long* cycles, unsigned* sink) {
  __shared__ unsigned shared[1024];
  shared[threadIdx.x] = 0;
  unsigned x = threadIdx.x;
  __syncthreads();
  const long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) Step::Step(x, shared, global);
  }
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  sink[threadIdx.x] = x;
}

template <typename Step>
void MeasureStep(const char* name, int threads, int rounds) {
  DeviceArray<long long> cycles(1);
  DeviceArray<unsigned> sink(1024), global(1024);
  HEDDLE_CALL(cudaMemset(global.data(), 0, 4096));
  std::vector<double> values;
  Repeat<Step><<<1, threads>>>(1, global.data(), cycles.data(), sink.data());
  for (int i = 0; i < kRepetitions; ++i) {
    Repeat<Step><<<1, threads>>>(rounds, global.data(), cycles.data(), sink.data());
    Finish();
    values.push_back(static_cast<double>(cycles.Read()[0]) / (rounds * kUnroll));
  }
  Print(name, {{"threads", std::to_string(threads)}}, "cycles", values);
}

// Atomics without results, `apart` words between those of neighbouring threads; 0 = all threads on one word.
__global__ void AddMany(unsigned* words, int apart, int rounds) {
  const size_t thread = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (int i = 0; i < rounds; ++i) atomicAdd(words + thread * apart, 1u);
}

void MeasureAtomics(int blocks, int rounds) {
  constexpr int kThreads = 256;
  const size_t threads = static_cast<size_t>(blocks) * kThreads;
  DeviceArray<unsigned> words(threads * 8);
  HEDDLE_CALL(cudaMemset(words.data(), 0, words.count() * 4));
  for (const int apart : {0, 1, 8}) {
    const int times = apart == 0 ? (rounds + 15) / 16 : rounds;
    AddMany<<<blocks, kThreads>>>(words.data(), apart, times);
    Finish();
    std::vector<double> values;
    for (int i = 0; i < kRepetitions; ++i) {
      const double milliseconds = Milliseconds([&] { AddMany<<<blocks, kThreads>>>(words.data(), apart, times); });
      values.push_back(1.0 * static_cast<double>(threads) * times / (1e-3 * milliseconds));
    }
    Print("throughput_atomic_global",
          {{"stride_bytes", std::to_string(4 * apart)},
           {"threads", std::to_string(kThreads)},
           {"blocks", std::to_string(blocks)}},
          "threads/second", values);
  }
}

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  const bool small = IsSmall(argc, argv);
  const int sms = Multiprocessors(small), rounds = small ? 1 : 64;
  MeasureStep<Shuffle>("latency_shuffle", 32, rounds);
  MeasureStep<Vote>("latency_vote", 32, rounds);
  for (const int threads : {32, 128, 256, 512, 1024}) MeasureStep<Barrier>("latency_barrier", threads, rounds);
  for (const int threads : {1, 32}) {
    MeasureStep<SharedAtomic>("latency_atomic_shared", threads, rounds);
    MeasureStep<GlobalAtomic>("latency_atomic_global", threads, rounds);
  }
  MeasureAtomics(small ? 2 : 8 * sms, small ? 1 : 256);
  return 0;
}
