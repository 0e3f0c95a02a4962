// Latency of loads by footprint, as a curve: where it rises, a cache or what translates addresses is full.
#include "tools/hardware/benchmarks/benchmark.h"

namespace heddle::hardware {
namespace {

constexpr int kUnroll = 16;

// Plain loads of one thread along a chain, so that the L1 may keep it. Every element is a line apart. Takes the time of
// `rounds`, after `warm` more.
__device__ void** Follow(void** p, int rounds) {
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      unsigned long long next;
      asm volatile("ld.global.u64 %0, [%1];" : "=l"(next) : "l"(p) : "memory");
      p = reinterpret_cast<void**>(next);
    }
  }
  return p;
}
__global__ void Chase(void** start, int warm, int rounds, long long* cycles, void** sink) {
  void** p = Follow(start, warm);
  const long long begin = clock64();
  p = Follow(p, rounds);
  *cycles = clock64() - begin;
  *sink = p;
}

// Element i of a chain points to the element `step` further.
__global__ void Lay(void** start, size_t apart, size_t elements, size_t step) {
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements;
       i += static_cast<size_t>(gridDim.x) * blockDim.x) {
    start[i * apart] = start + (i + step) % elements * apart;
  }
}

// A number below `elements` that has no common divisor with it, so that the chain has all elements; far from 1, so that
// nothing guesses the next one.
size_t FarStep(size_t elements) {
  const auto common = [](size_t a, size_t b) {
    while (b != 0) {
      const size_t rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  };
  size_t step = elements * 38 / 100 + 1;
  while (common(step, elements) != 1) ++step;
  return step;
}

void MeasureFootprints(size_t most, int loads) {
  constexpr size_t kStride = 128;
  DeviceArray<char> memory(most);
  DeviceArray<long long> cycles(1);
  DeviceArray<void*> sink(1);
  auto* start = reinterpret_cast<void**>(memory.data());
  const auto measure = [&](size_t footprint) {
    const size_t elements = footprint / kStride;
    Lay<<<128, 256>>>(start, kStride / sizeof(void*), elements, FarStep(elements));
    Finish();
    // Once around fills the caches with what fits there. What is larger than all of them is not in any before its turn
    // comes again: there a part is enough, and each repetition goes on behind the one before.
    const size_t warm = std::min<size_t>(elements / kUnroll + 1, 1 << 15);
    std::vector<double> values;
    void** from = start;
    for (int i = 0; i < 3; ++i) {
      Chase<<<1, 1>>>(from, static_cast<int>(warm), loads / kUnroll, cycles.data(), sink.data());
      Finish();
      from = static_cast<void**>(sink.Read()[0]);
      values.push_back(static_cast<double>(cycles.Read()[0]) / (loads / kUnroll * kUnroll));
    }
    Print("latency_by_footprint",
          {{"footprint_bytes", std::to_string(footprint)}, {"stride_bytes", std::to_string(kStride)}}, "cycles",
          values);
  };
  // Finer where an L1 ends.
  for (size_t bytes = 16 << 10; bytes <= std::min<size_t>(most, 320 << 10); bytes += 16 << 10) measure(bytes);
  for (size_t bytes = 512 << 10; bytes <= most; bytes += bytes / 2) measure(bytes);
}

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  const bool small = IsSmall(argc, argv);
  MeasureFootprints(small ? size_t{32} << 10 : size_t{256} << 20, small ? 256 : 8192);
  return 0;
}
