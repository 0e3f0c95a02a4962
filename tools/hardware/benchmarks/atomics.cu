// Atomics of a warp whose lanes want the same word, or words of the same bank; and whether what follows them waits.
#include "tools/hardware/benchmarks/sampling.h"

namespace heddle::hardware {
namespace {

#ifndef HEDDLE_STAND_IN  // whose compiler does not know all of these statements

constexpr int kUnroll = 16;
constexpr int kWarps = 8;  // for rates
constexpr int kWordsOfWarp = 32 * 32;

// The word of a lane. "word": groups of `ways` lanes share one, and groups have banks of their own. "bank": groups of
// `ways` lanes share a bank and have words of their own.
enum class Pattern { kWord, kBank };
__device__ int Word(Pattern pattern, int ways, int lane) {
  return pattern == Pattern::kWord ? lane / ways : lane % ways * 32 + lane / ways;
}

// With a result, the next atomic adds it: it has to wait for it.
template <bool result>
__global__ void AddShared(Pattern pattern, int ways, int rounds, long long* cycles, unsigned* sink) {
  extern __shared__ unsigned words[];
  const int warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < static_cast<int>(blockDim.x) * 32; i += blockDim.x) words[i] = 0;
  const auto address = static_cast<unsigned>(
      __cvta_generic_to_shared(words + warp * kWordsOfWarp + Word(pattern, ways, threadIdx.x % 32)));
  unsigned x = threadIdx.x;
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      if (result) {
        asm volatile("atom.shared.add.u32 %0, [%1], %0;" : "+r"(x) : "r"(address) : "memory");
      } else {
        asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(address), "r"(x) : "memory");
      }
    }
  }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  sink[threadIdx.x] = x + words[threadIdx.x];
}

// The same on global memory, where words of a group are next to each other.
template <bool result>
__global__ void AddGlobal(unsigned* words, int ways, int rounds, long long* cycles, unsigned* sink) {
  const int warp = threadIdx.x / 32;
  unsigned* address = words + warp * 32 + Word(Pattern::kWord, ways, threadIdx.x % 32);
  unsigned x = threadIdx.x;
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      if (result) {
        asm volatile("atom.global.add.u32 %0, [%1], %0;" : "+r"(x) : "l"(address) : "memory");
      } else {
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(address), "r"(x) : "memory");
      }
    }
  }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  sink[threadIdx.x] = x;
}

constexpr int kFollowing = 64;

// `atomics` without results, and then multiply-adds that need nothing of them. The second time counts: then code is in
// its cache, and nothing is in flight from before.
template <int atomics>
__global__ void AddThenCompute(unsigned* words, int ways, float a, float b, long long* cycles, unsigned* sink) {
  unsigned* address = words + Word(Pattern::kWord, ways, threadIdx.x % 32);
  float y = static_cast<float>(threadIdx.x);
  long long begin = 0, end = 0;
#pragma unroll 1
  for (int i = 0; i < 2; ++i) {
    __syncthreads();
    begin = clock64();
#pragma unroll
    for (int k = 0; k < atomics; ++k) {
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(address + 32 * k), "r"(threadIdx.x) : "memory");
    }
#pragma unroll
    for (int k = 0; k < kFollowing; ++k) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(y) : "f"(a), "f"(b));
    end = clock64();
    __threadfence();
  }
  if (threadIdx.x == 0) *cycles = end - begin;
  sink[threadIdx.x] = __float_as_int(y);
}

void MeasureShared(const char* name, Pattern pattern, int ways, int rounds) {
  const Parameters parameters = {{"pattern", name}, {"ways", std::to_string(ways)}};
  constexpr int kBytes = kWordsOfWarp * 4;
  Print("latency_atomic_shared_pattern", parameters, "cycles",
        CyclesPer(1.0 * rounds * kUnroll, [&](long long* cycles, unsigned* sink) {
          AddShared<true><<<1, 32, kBytes>>>(pattern, ways, rounds, cycles, sink);
        }));
  Print("cycles_atomic_shared", parameters, "cycles",
        CyclesPer(1.0 * rounds * kUnroll * kWarps, [&](long long* cycles, unsigned* sink) {
          AddShared<false><<<1, 32 * kWarps, kWarps * kBytes>>>(pattern, ways, rounds, cycles, sink);
        }));
}

void MeasureGlobal(unsigned* words, int ways, int rounds) {
  const Parameters parameters = {{"ways", std::to_string(ways)}};
  Print("latency_atomic_global_pattern", parameters, "cycles",
        CyclesPer(1.0 * rounds * kUnroll, [&](long long* cycles, unsigned* sink) {
          AddGlobal<true><<<1, 32>>>(words, ways, rounds, cycles, sink);
        }));
  Print("cycles_atomic_global", parameters, "cycles",
        CyclesPer(1.0 * rounds * kUnroll * kWarps, [&](long long* cycles, unsigned* sink) {
          AddGlobal<false><<<1, 32 * kWarps>>>(words, ways, rounds, cycles, sink);
        }));
}

template <int atomics>
void MeasureFollowing(unsigned* words) {
  for (const int ways : {1, 32}) {
    Print("cycles_after_atomics", {{"atomics", std::to_string(atomics)}, {"ways", std::to_string(ways)}}, "cycles",
          CyclesPer(1, [&](long long* cycles, unsigned* sink) {
            AddThenCompute<atomics><<<1, 32>>>(words, ways, 0.5f, 0.25f, cycles, sink);
          }));
  }
}

void MeasureAll(int rounds) {
  for (int ways = 1; ways <= 32; ways *= 2) {
    MeasureShared("word", Pattern::kWord, ways, rounds);
    if (ways > 1) MeasureShared("bank", Pattern::kBank, ways, rounds);
  }
  DeviceArray<unsigned> words(1024);
  HEDDLE_CALL(cudaMemset(words.data(), 0, 4096));
  for (int ways = 1; ways <= 32; ways *= 2) MeasureGlobal(words.data(), ways, rounds);
  MeasureFollowing<0>(words.data());
  MeasureFollowing<1>(words.data());
  MeasureFollowing<2>(words.data());
  MeasureFollowing<4>(words.data());
  MeasureFollowing<8>(words.data());
  MeasureFollowing<16>(words.data());
  MeasureFollowing<32>(words.data());
}
#endif

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  [[maybe_unused]] const bool small = IsSmall(argc, argv);
#ifndef HEDDLE_STAND_IN
  MeasureAll(small ? 1 : 64);
#endif
  return 0;
}
