// Straight code of growing size in a loop: where the cycles per instruction rise, a cache of instructions is full.
#include "tools/hardware/benchmarks/sampling.h"

namespace heddle::hardware {
namespace {

#ifndef HEDDLE_STAND_IN  // which would take long to compile it
// Multiply-adds of eight chains: as many as a warp can issue in a row.
#define HEDDLE_SIX                                                                               \
  "fma.rn.f32 %0,%0,%8,%9;fma.rn.f32 %1,%1,%8,%9;fma.rn.f32 %2,%2,%8,%9;fma.rn.f32 %3,%3,%8,%9;" \
  "fma.rn.f32 %4,%4,%8,%9;fma.rn.f32 %5,%5,%8,%9;"
#define HEDDLE_EIGHT HEDDLE_SIX "fma.rn.f32 %6,%6,%8,%9;fma.rn.f32 %7,%7,%8,%9;"
#define HEDDLE_ROWS(rows) rows rows rows rows

constexpr int kInstructionBytes = 16;
// Instructions of a segment: 126 multiply-adds, and a comparison and a branch that end the round behind it.
constexpr int kSegment = 128;
constexpr int kSegments = 256;  // 512 KiB

__device__ __forceinline__ void RunSegment(float (&x)[8], float a, float b) {
  asm volatile(HEDDLE_ROWS(HEDDLE_EIGHT) HEDDLE_ROWS(HEDDLE_EIGHT) HEDDLE_ROWS(HEDDLE_EIGHT)
                   HEDDLE_EIGHT HEDDLE_EIGHT HEDDLE_EIGHT HEDDLE_SIX
               : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3]), "+f"(x[4]), "+f"(x[5]), "+f"(x[6]), "+f"(x[7])
               : "f"(a), "f"(b));
}

// Runs `segments` but for the first `done`. Not a loop: the compiler would not unroll one of that many.
template <int done>
__device__ __forceinline__ void RunSegments(float (&x)[8], float a, float b, int segments) {
  RunSegment(x, a, b);
  if (segments == done + 1) return;
  RunSegment(x, a, b);
  if constexpr (done + 2 < kSegments) {
    if (segments != done + 2) RunSegments<done + 2>(x, a, b, segments);
  }
}

// The time is that of `rounds`, after one that fills the caches.
__global__ void RunCode(float a, float b, int segments, int rounds, long long* cycles, unsigned* sink) {
  float x[8];
  for (int c = 0; c < 8; ++c) x[c] = static_cast<float>(threadIdx.x + c);
  long long begin = 0;
#pragma unroll 1
  for (int round = -1; round < rounds; ++round) {
    if (round <= 0) {
      __syncthreads();
      begin = clock64();
    }
    RunSegments<0>(x, a, b, segments);
  }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  float sum = 0;
  for (int c = 0; c < 8; ++c) sum += x[c];
  sink[threadIdx.x] = __float_as_int(sum);
}
#endif

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  [[maybe_unused]] const bool small = IsSmall(argc, argv);
#ifndef HEDDLE_STAND_IN
  for (const int warps : {1, 4, 16}) {
    for (const int kibibytes : {2,  4,   6,   8,   10,  12,  16,  20,  24,  32,  48,  64,  80,
                                96, 112, 120, 128, 136, 144, 160, 192, 224, 256, 320, 384, 512}) {
      const int segments = (kibibytes << 10) / (kSegment * kInstructionBytes);
      const int rounds = small ? 1 : std::max(4, 1024 / kibibytes);
      Print("cycles_by_code_footprint",
            {{"footprint_bytes", std::to_string(kibibytes << 10)}, {"warps", std::to_string(warps)}}, "cycles",
            CyclesPer(1.0 * rounds * segments * kSegment, [&](long long* cycles, unsigned* sink) {
              RunCode<<<1, 32 * warps>>>(0.5f, 0.25f, segments, rounds, cycles, sink);
            }));
      if (small) break;
    }
  }
#endif
  return 0;
}
