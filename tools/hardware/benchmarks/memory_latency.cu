// Latencies of memory: one thread follows pointers. The loop is unrolled so far that its own instructions, none of
// which the loads wait for, disappear behind them.
#include "tools/hardware/benchmarks/benchmark.h"

namespace heddle::hardware {
namespace {

constexpr int kUnroll = 32;

enum class Level { kL1, kL2 };

// Follows pointers for `rounds` times kUnroll loads, and gives where it came.
template <Level level>
__device__ void** Follow(void** p, int rounds) {
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      unsigned long long next;
      // Loads with .cg pass by the L1.
      if (level == Level::kL1) {
        asm volatile("ld.global.u64 %0, [%1];" : "=l"(next) : "l"(p) : "memory");
      } else {
        asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(p) : "memory");
      }
      p = reinterpret_cast<void**>(next);
    }
  }
  return p;
}

// Takes the time of `rounds`, after `warm` more, which fill the caches: an L1 is empty when a kernel begins. Every
// block has its own starting point.
template <Level level>
__global__ void Chase(void** start, size_t apart, int elements, int warm, int rounds, long long* cycles, void** sink) {
  void** p = start + (static_cast<size_t>(blockIdx.x) * 7919 % elements) * apart;
  p = Follow<level>(p, warm);
  const long long begin = clock64();
  p = Follow<level>(p, rounds);
  cycles[blockIdx.x] = clock64() - begin;
  sink[blockIdx.x] = p;
}

// From each block's SM, loads of one address after the other, each many times. All lie in the L2 and none in the L1.
__global__ void EachLine(void** start, size_t apart, int lines, int rounds, long long* cycles, void** sink) {
  for (int line = 0; line < lines; ++line) {
    void** p = Follow<Level::kL2>(start + line * apart, 1);
    const long long begin = clock64();
    p = Follow<Level::kL2>(p, rounds);
    cycles[line] = clock64() - begin;
    *sink = p;
  }
}

// Element i points to itself.
__global__ void LaySelves(void** start, size_t apart) {
  void** p = start + blockIdx.x * apart;
  *p = p;
}

// Lays the chain: element order[i] points to element order[i + 1].
__global__ void Lay(void** start, size_t apart, const unsigned* order, int elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  start[order[i] * apart] = start + order[i + 1 == elements ? 0 : i + 1] * apart;
}

// A random order of 0 .. count-1.
std::vector<unsigned> Shuffled(unsigned count) {
  std::vector<unsigned> order(count);
  for (unsigned i = 0; i < count; ++i) order[i] = i;
  unsigned long long state = 88172645463325252ULL;
  for (unsigned i = count; i > 1; --i) {
    // xorshift64 (Marsaglia, 2003)
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::swap(order[i - 1], order[state % i]);
  }
  return order;
}

// `flush`: this much is written in front of every repetition, so that no cache holds the chain.
template <Level level>
void Measure(const char* name, size_t footprint, size_t stride, int blocks, int loads, size_t flush) {
  const auto elements = static_cast<int>(footprint / stride);
  DeviceArray<char> memory(footprint);
  DeviceArray<unsigned> order(elements);
  order.Write(Shuffled(elements));
  auto* start = reinterpret_cast<void**>(memory.data());
  const size_t apart = stride / sizeof(void*);
  Lay<<<(elements + 255) / 256, 256>>>(start, apart, order.data(), elements);
  Finish();
  DeviceArray<long long> cycles(blocks);
  DeviceArray<void*> sink(blocks);
  DeviceArray<char> scratch(std::max<size_t>(flush, 1));
  const int rounds = loads / kUnroll;
  std::vector<double> values;
  for (int i = 0; i < kRepetitions; ++i) {
    if (flush != 0) HEDDLE_CALL(cudaMemset(scratch.data(), i, flush));
    // A whole way round the chain warms the caches.
    const int warm = flush != 0 ? 0 : elements / kUnroll + 1;
    Chase<level><<<blocks, 1>>>(start, apart, elements, warm, rounds, cycles.data(), sink.data());
    Finish();
    std::vector<double> each;
    for (const long long c : cycles.Read()) each.push_back(static_cast<double>(c) / (rounds * kUnroll));
    values.push_back(Median(each));
  }
  Print(name, {{"footprint_bytes", std::to_string(footprint)}, {"stride_bytes", std::to_string(stride)}}, "cycles",
        values);
}

// How far a line is from one SM differs from line to line: each of them is a value.
void MeasureLines(int lines, int rounds) {
  constexpr size_t kStride = 4096;
  DeviceArray<char> memory(lines * kStride);
  DeviceArray<long long> cycles(lines);
  DeviceArray<void*> sink(1);
  auto* start = reinterpret_cast<void**>(memory.data());
  const size_t apart = kStride / sizeof(void*);
  LaySelves<<<lines, 1>>>(start, apart);
  EachLine<<<1, 1>>>(start, apart, lines, rounds, cycles.data(), sink.data());
  Finish();
  std::vector<double> values;
  for (const long long c : cycles.Read()) values.push_back(static_cast<double>(c) / (rounds * kUnroll));
  Print("latency_l2_by_line", {{"stride_bytes", std::to_string(kStride)}}, "cycles", values);
}

#ifndef HEDDLE_STAND_IN
// Addresses in shared memory are 32 bits wide, and what is stored there is the next one.
__global__ void ChaseShared(int words, int rounds, long long* cycles, unsigned* sink) {
  extern __shared__ unsigned chain[];
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(chain));
  for (int i = 0; i < words; ++i) chain[i] = base + 4 * ((i + 33) % words);
  __syncthreads();
  unsigned p = base;
  const long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(p)::"memory");
  }
  *cycles = clock64() - begin;
  *sink = p;
}

// All lanes of a warp want one of `ways` words of each bank; all warps want the same.
__global__ void ChaseConflicts(int ways, int rounds, long long* cycles, unsigned* sink) {
  __shared__ unsigned chain[32 * 32];
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(chain));
  const int lane = threadIdx.x % 32;
  // Lanes of one group of `ways` share a bank and have rows of their own; the word points to itself.
  const int word = (lane % ways) * 32 + lane / ways;
  chain[word] = base + 4 * word;
  __syncthreads();
  unsigned p = base + 4 * word;
  const long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(p)::"memory");
  }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  sink[threadIdx.x] = p;
}

// Of a full SM: what a load takes when enough others are under way.
void MeasureSharedRate(int rounds) {
  constexpr int kWarps = 32;
  DeviceArray<long long> cycles(1);
  DeviceArray<unsigned> sink(32 * kWarps);
  for (int ways = 1; ways <= 32; ways *= 2) {
    std::vector<double> values;
    for (int i = 0; i < kRepetitions; ++i) {
      ChaseConflicts<<<1, 32 * kWarps>>>(ways, rounds, cycles.data(), sink.data());
      Finish();
      values.push_back(static_cast<double>(cycles.Read()[0]) / (rounds * kUnroll * kWarps));
    }
    Print("cycles_shared_load", {{"ways", std::to_string(ways)}}, "cycles", values);
  }
}

void MeasureShared(int rounds) {
  DeviceArray<long long> cycles(1);
  DeviceArray<unsigned> sink(32);
  const int words = 4096;
  std::vector<double> values;
  for (int i = 0; i < kRepetitions; ++i) {
    ChaseShared<<<1, 1, words * 4>>>(words, rounds, cycles.data(), sink.data());
    Finish();
    values.push_back(static_cast<double>(cycles.Read()[0]) / (rounds * kUnroll));
  }
  Print("latency_shared", {{"footprint_bytes", std::to_string(words * 4)}}, "cycles", values);
  std::vector<double> alone;
  for (int ways = 1; ways <= 32; ways *= 2) {
    values.clear();
    for (int i = 0; i < kRepetitions; ++i) {
      ChaseConflicts<<<1, 32>>>(ways, rounds, cycles.data(), sink.data());
      Finish();
      const double latency = static_cast<double>(cycles.Read()[0]) / (rounds * kUnroll);
      if (ways == 1) {
        alone.push_back(latency);
      } else {
        values.push_back((latency - Median(alone)) / (ways - 1));
      }
    }
    if (ways > 1) Print("shared_conflict_cycles", {{"ways", std::to_string(ways)}}, "cycles", values);
  }
}

constexpr int kConstantWords = 128;
__constant__ unsigned long long constant_chain[kConstantWords];

__global__ void ConstantBase(unsigned long long* base) {
  asm("cvta.to.const.u64 %0, %1;" : "=l"(*base) : "l"(reinterpret_cast<unsigned long long>(constant_chain)));
}

// What is stored is the next address in constant memory. The first one is loaded, so that the compiler does not know
// that all threads have the same: else it takes another path than the one for addresses of threads.
__global__ void ChaseConstant(const unsigned long long* start, int rounds, long long* cycles,
                              unsigned long long* sink) {
  unsigned long long p = start[threadIdx.x];
  for (int i = 0; i < kConstantWords; ++i) asm volatile("ld.const.u64 %0, [%0];" : "+l"(p));
  const long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) asm volatile("ld.const.u64 %0, [%0];" : "+l"(p));
  }
  *cycles = clock64() - begin;
  *sink = p;
}

void MeasureConstant(int rounds) {
  DeviceArray<long long> cycles(1);
  DeviceArray<unsigned long long> sink(1);
  ConstantBase<<<1, 1>>>(sink.data());
  Finish();
  const unsigned long long base = sink.Read()[0];
  DeviceArray<unsigned long long> first(1);
  first.Write({base});
  std::vector<unsigned long long> chain(kConstantWords);
  for (int i = 0; i < kConstantWords; ++i) chain[i] = base + 8 * ((i + 9) % kConstantWords);
  HEDDLE_CALL(cudaMemcpyToSymbol(constant_chain, chain.data(), chain.size() * 8));
  std::vector<double> values;
  for (int i = 0; i < kRepetitions; ++i) {
    ChaseConstant<<<1, 1>>>(first.data(), rounds, cycles.data(), sink.data());
    Finish();
    values.push_back(static_cast<double>(cycles.Read()[0]) / (rounds * kUnroll));
  }
  Print("latency_constant", {{"footprint_bytes", std::to_string(kConstantWords * 8)}}, "cycles", values);
}
#endif

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  const bool small = IsSmall(argc, argv);
  const int sms = Multiprocessors(small);
  const int loads = small ? 256 : 16384;
  for (size_t kibibytes : {4, 16, 64, 128}) {
    Measure<Level::kL1>("latency_l1", kibibytes << 10, 128, 1, loads, 0);
    if (small) break;
  }
  if (small) {
    Measure<Level::kL2>("latency_l2", 64 << 10, 128, sms, loads, 0);
    Measure<Level::kL2>("latency_dram", 1 << 20, 4096, 1, loads, 1 << 20);
  } else {
    for (size_t mebibytes : {1, 4, 8, 16}) Measure<Level::kL2>("latency_l2", mebibytes << 20, 256, sms, loads, 0);
    for (size_t mebibytes : {512, 1024}) {
      Measure<Level::kL2>("latency_dram", mebibytes << 20, 4096, 1, loads, size_t{256} << 20);
    }
  }
  MeasureLines(small ? 4 : 512, small ? 1 : 8);
#ifndef HEDDLE_STAND_IN  // whose compiler does not know these statements of PTX
  MeasureShared(loads / 32);
  MeasureSharedRate(loads / 256);
  MeasureConstant(loads / 32);
#endif
  return 0;
}
