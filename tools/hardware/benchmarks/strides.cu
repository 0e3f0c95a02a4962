// Lines at strides of powers of two: whether caches choose a set, and the card a slice of its L2, by some bits of the
// address or by a mixture of many.
#include "tools/hardware/benchmarks/sampling.h"

namespace heddle::hardware {
namespace {

#ifndef HEDDLE_STAND_IN  // which has no caches

constexpr int kUnroll = 16;
constexpr int kLine = 128;

// Where line i is. With `spread`, each is moved by some lines within its stride, so that the pages are the same and the
// power of two is gone.
__host__ __device__ size_t Place(unsigned i, size_t stride, bool spread) {
  const unsigned mixed = i * 2654435761U >> 8;
  return i * stride + (spread ? mixed % (stride / kLine) * kLine : 0);
}

// Each line has the address of one that is far from it.
__global__ void Lay(char* memory, unsigned lines, size_t stride, bool spread, unsigned step) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lines) return;
  *reinterpret_cast<char**>(memory + Place(i, stride, spread)) = memory + Place((i + step) % lines, stride, spread);
}

template <bool l1>
__device__ char* Follow(char* p, int rounds) {
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      unsigned long long next;
      if (l1) {
        asm volatile("ld.global.u64 %0, [%1];" : "=l"(next) : "l"(p) : "memory");
      } else {
        asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(p) : "memory");
      }
      p = reinterpret_cast<char*>(next);
    }
  }
  return p;
}

template <bool l1>
__global__ void Chase(char* p, int rounds, long long* cycles, unsigned* sink) {
  p = Follow<l1>(p, rounds);
  const long long begin = clock64();
  p = Follow<l1>(p, rounds);
  *cycles = clock64() - begin;
  *sink = static_cast<unsigned>(reinterpret_cast<unsigned long long>(p));
}

template <bool l1>
void MeasureChase(const char* name, char* memory, unsigned lines, size_t stride, bool spread) {
  // Odd: with a power of two it has no common divisor.
  Lay<<<(lines + 127) / 128, 128>>>(memory, lines, stride, spread, lines * 38 / 100 | 1);
  const int rounds = std::max(lines, 256U) / kUnroll;
  const std::vector<double> values = CyclesPer(1.0 * rounds * kUnroll, [&](long long* cycles, unsigned* sink) {
    Chase<l1><<<1, 1>>>(memory + Place(0, stride, spread), rounds, cycles, sink);
  });
  Print(name,
        {{"lines", std::to_string(lines)}, {"stride_bytes", std::to_string(stride)}, {"spread", spread ? "1" : "0"}},
        "cycles", values);
}

// All SMs read the same lines past the L1, each warp a whole line at a time.
__global__ void Read(const char* memory, unsigned lines, size_t stride, bool spread, int rounds, unsigned* sink) {
  const unsigned warps = gridDim.x * (blockDim.x / 32), warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const char* p[4];
  for (int k = 0; k < 4; ++k) {
    // Each warp has four lines for all rounds: the address is not computed in the loop.
    p[k] = memory + Place((warp + k * warps) % lines, stride, spread) + threadIdx.x % 32 * 4;
  }
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    unsigned x[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x[k]) : "l"(p[k]) : "memory");
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) sum ^= x[k];
  }
  sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

void MeasureBandwidths(char* memory, unsigned lines, size_t most, int sms, int rounds) {
  constexpr int kThreads = 1024;
  DeviceArray<unsigned> sink(static_cast<size_t>(sms) * kThreads);
  for (size_t stride = kLine; stride <= most; stride *= 2) {
    for (const bool spread : {false, true}) {
      if (spread && stride == kLine) continue;
      const auto start = [&] { Read<<<sms, kThreads>>>(memory, lines, stride, spread, rounds, sink.data()); };
      start();
      Finish();
      std::vector<double> values;
      const double bytes = 4.0 * 4 * kThreads * sms * rounds;
      for (int i = 0; i < kRepetitions; ++i) values.push_back(bytes / (1e-3 * Milliseconds(start)));
      Print(
          "bandwidth_l2_by_stride",
          {{"lines", std::to_string(lines)}, {"stride_bytes", std::to_string(stride)}, {"spread", spread ? "1" : "0"}},
          "bytes/second", values);
    }
  }
}

void MeasureAll(bool small) {
  const size_t most = size_t{1} << 20;
  const unsigned lines = small ? 4 : 512;
  DeviceArray<char> memory(most * lines);
  HEDDLE_CALL(cudaMemset(memory.data(), 0, memory.count()));
  for (size_t stride = kLine; stride <= (small ? kLine : 64 << 10); stride *= 2) {
    for (unsigned n = small ? lines : 1; n <= lines; n *= 2) {
      MeasureChase<true>("latency_l1_by_stride", memory.data(), n, stride, false);
    }
  }
  for (size_t stride = small ? most : 64 << 10; stride <= most; stride *= 2) {
    for (unsigned n = small ? lines : 16; n <= lines; n *= 2) {
      for (const bool spread : {false, true}) {
        MeasureChase<false>("latency_l2_by_stride", memory.data(), n, stride, spread);
      }
    }
  }
  MeasureBandwidths(memory.data(), lines, most, Multiprocessors(small), small ? 1 : 512);
}
#endif

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  [[maybe_unused]] const bool small = IsSmall(argc, argv);
#ifndef HEDDLE_STAND_IN
  MeasureAll(small);
#endif
  return 0;
}
