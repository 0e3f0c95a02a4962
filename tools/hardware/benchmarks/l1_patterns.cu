// Loads and stores of a warp whose lanes want several lines, or several sectors of one line: what the L1 looks up and
// reads per cycle.
#include "tools/hardware/benchmarks/sampling.h"

namespace heddle::hardware {
namespace {

#ifndef HEDDLE_STAND_IN  // whose addresses are not made of two registers

constexpr int kLine = 128;
constexpr int kWarps = 32;  // for rates: one SM full
constexpr int kUnroll = 8;
constexpr int kChains = 2;
constexpr int kChainBytes = 32 * kLine;

// Bytes from the start of a chain's memory to the word of a lane.
// "lines": of `ways` lines, and every lane has a bank of its own. "lines_of_bank": of `ways` lines, all in their first
// sector: lanes of different lines want the same banks. "sectors": of `ways` sectors of one line.
enum class Pattern { kLines, kLinesOfBank, kSectors };
__host__ __device__ int Offset(Pattern pattern, int ways, int lane) {
  if (pattern == Pattern::kLines) return lane % ways * kLine + lane * 4;
  if (pattern == Pattern::kLinesOfBank) return lane % ways * kLine + lane / ways % 8 * 4;
  return lane % ways * 32 + lane / ways % 8 * 4;
}

// Each word holds the lower half of its own address, so that every load needs the result of the one before.
__global__ void LaySelves(unsigned* words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  words[i] = static_cast<unsigned>(reinterpret_cast<unsigned long long>(words + i));
}

template <int chains>
__device__ void Follow(unsigned (&p)[chains], unsigned high, int rounds) {
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
#pragma unroll
      for (int c = 0; c < chains; ++c) {
        asm volatile("{ .reg .b64 a; mov.b64 a, {%0, %1}; ld.global.u32 %0, [a]; }"
                     : "+r"(p[c])
                     : "r"(high)
                     : "memory");
      }
    }
  }
}

template <int chains>
__global__ void Load(const char* words, Pattern pattern, int ways, int rounds, long long* cycles, unsigned* sink) {
  const auto start = reinterpret_cast<unsigned long long>(words) + Offset(pattern, ways, threadIdx.x % 32);
  unsigned p[chains];
  for (int c = 0; c < chains; ++c) p[c] = static_cast<unsigned>(start) + c * kChainBytes;
  const auto high = static_cast<unsigned>(start >> 32);
  Follow(p, high, 2);  // fills the L1
  __syncthreads();
  const long long begin = clock64();
  Follow(p, high, rounds);
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  unsigned sum = 0;
  for (int c = 0; c < chains; ++c) sum += p[c];
  sink[threadIdx.x] = sum;
}

// Each warp has memory of its own, and writes one place of it after the other.
__global__ void Store(char* words, Pattern pattern, int ways, int rounds, long long* cycles, unsigned* sink) {
  const int warp = threadIdx.x / 32;
  char* p = words + warp * kUnroll * kChainBytes + Offset(pattern, ways, threadIdx.x % 32);
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      asm volatile("st.global.u32 [%0], %1;" ::"l"(p + k * kChainBytes), "r"(i) : "memory");
    }
  }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  sink[threadIdx.x] = rounds;
}

void MeasurePattern(const char* name, Pattern pattern, int ways, int rounds, char* memory) {
  const Parameters parameters = {{"pattern", name}, {"ways", std::to_string(ways)}};
  Print("latency_l1_pattern", parameters, "cycles",
        CyclesPer(1.0 * rounds * kUnroll, [&](long long* cycles, unsigned* sink) {
          Load<1><<<1, 32>>>(memory, pattern, ways, rounds, cycles, sink);
        }));
  Print("cycles_l1_load", parameters, "cycles",
        CyclesPer(1.0 * rounds * kUnroll * kChains * kWarps, [&](long long* cycles, unsigned* sink) {
          Load<kChains><<<1, 32 * kWarps>>>(memory, pattern, ways, rounds, cycles, sink);
        }));
}

void MeasureStores(const char* name, Pattern pattern, int ways, int rounds, char* memory) {
  Print("cycles_store", {{"pattern", name}, {"ways", std::to_string(ways)}}, "cycles",
        CyclesPer(1.0 * rounds * kUnroll * kWarps, [&](long long* cycles, unsigned* sink) {
          Store<<<1, 32 * kWarps>>>(memory, pattern, ways, rounds, cycles, sink);
        }));
}

void MeasureAll(int rounds) {
  const std::vector<std::pair<const char*, Pattern>> patterns = {
      {"lines", Pattern::kLines}, {"lines_of_bank", Pattern::kLinesOfBank}, {"sectors", Pattern::kSectors}};
  // Words have the lower halves of addresses only: what chains use is aligned to its size, so that it has one upper
  // half.
  constexpr size_t kUsed = kChains * kChainBytes;
  DeviceArray<char> allocated(kWarps * kUnroll * kChainBytes + kUsed);
  char* memory = allocated.data() + (kUsed - reinterpret_cast<size_t>(allocated.data()) % kUsed) % kUsed;
  LaySelves<<<kUsed / 4 / 256, 256>>>(reinterpret_cast<unsigned*>(memory));
  Finish();
  for (const bool stores : {false, true}) {
    for (const auto& [name, pattern] : patterns) {
      for (int ways = 1; ways <= (pattern == Pattern::kSectors ? 4 : 32); ways *= 2) {
        (stores ? MeasureStores : MeasurePattern)(name, pattern, ways, rounds, memory);
      }
    }
  }
}
#endif

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  [[maybe_unused]] const bool small = IsSmall(argc, argv);
#ifndef HEDDLE_STAND_IN
  MeasureAll(small ? 2 : 128);
#endif
  return 0;
}
