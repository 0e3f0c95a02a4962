// What control flow costs one warp: branches that are taken or not, both sides of a condition, calls. All instructions
// between are multiply-adds that wait for each other, so that what is added to their latency is the branch.
#include "tools/hardware/benchmarks/sampling.h"

namespace heddle::hardware {
namespace {

#ifndef HEDDLE_STAND_IN  // whose compiler does not know labels in statements of PTX

constexpr int kSteps = 4;  // in a row, so that the loop around them weighs less

#define HEDDLE_FMA "fma.rn.f32 %0, %0, %1, %2;"
#define HEDDLE_FMA4 HEDDLE_FMA HEDDLE_FMA HEDDLE_FMA HEDDLE_FMA
#define HEDDLE_FMA16 HEDDLE_FMA4 HEDDLE_FMA4 HEDDLE_FMA4 HEDDLE_FMA4

template <int count>
__device__ void Chain(float& x, float a, float b) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile(HEDDLE_FMA : "+f"(x) : "f"(a), "f"(b));
}

// A loop with nothing but a chain: the branch at its end is taken.
template <int count>
__global__ void Loop(float a, float b, int rounds, long long* cycles, unsigned* sink) {
  float x = static_cast<float>(threadIdx.x);
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) Chain<count>(x, a, b);
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  sink[threadIdx.x] = __float_as_int(x);
}

template <int count>
void MeasureLoop(int rounds) {
  Print("cycles_loop", {{"instructions", std::to_string(count)}}, "cycles",
        CyclesPer(rounds, [&](long long* cycles, unsigned* sink) {
          Loop<count><<<1, 32>>>(0.5f, 0.25f, rounds, cycles, sink);
        }));
}

enum class Kind { kStraight, kUniform, kDivergent };

// A step: 4 multiply-adds; then 16 that a branch jumps over where `skip` says so. kStraight has no branch.
template <Kind kind>
__global__ void Skip(float a, float b, int skip, int rounds, long long* cycles, unsigned* sink) {
  float x = static_cast<float>(threadIdx.x);
  // A warp that branches by a value of its threads may diverge, as far as the assembler knows.
  const int decides = kind == Kind::kDivergent ? skip & (threadIdx.x < 32 ? -1 : 0) : skip;
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      Chain<4>(x, a, b);
      if (kind == Kind::kStraight) {
        Chain<16>(x, a, b);
      } else {
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %3, 0; @p bra OVER;" HEDDLE_FMA16 "OVER: }"
                     : "+f"(x)
                     : "f"(a), "f"(b), "r"(decides));
      }
    }
  }
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  sink[threadIdx.x] = __float_as_int(x);
}

template <Kind kind>
void MeasureSkip(const char* name, int skip, int rounds) {
  Print("cycles_branch", {{"kind", name}, {"instructions", skip != 0 ? "4" : "20"}}, "cycles",
        CyclesPer(1.0 * rounds * kSteps, [&](long long* cycles, unsigned* sink) {
          Skip<kind><<<1, 32>>>(0.5f, 0.25f, skip, rounds, cycles, sink);
        }));
}

// Lanes with a bit of `mask` take one side, and the others the other one: 1 parts the warp, 0 does not.
template <int count>
__global__ void Sides(float a, float b, int mask, int rounds, long long* cycles, unsigned* sink) {
  float x = static_cast<float>(threadIdx.x);
  const int side = static_cast<int>(threadIdx.x) & mask;
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (side != 0) {
        Chain<count>(x, a, b);
      } else {
        Chain<count>(x, b, a);
      }
    }
  }
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  sink[threadIdx.x] = __float_as_int(x);
}

template <int count>
void MeasureSides(int rounds) {
  for (const int mask : {0, 1}) {
    Print("cycles_divergence", {{"instructions", std::to_string(count)}, {"sides", std::to_string(1 + mask)}}, "cycles",
          CyclesPer(2.0 * rounds, [&](long long* cycles, unsigned* sink) {
            Sides<count><<<1, 32>>>(0.5f, 0.25f, mask, rounds, cycles, sink);
          }));
  }
}

template <int count>
__device__ __noinline__ float Called(float x, float a, float b) {
  Chain<count>(x, a, b);
  return x;
}

template <int count>
__global__ void Call(float a, float b, int rounds, long long* cycles, unsigned* sink) {
  float x = static_cast<float>(threadIdx.x);
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kSteps; ++k) x = Called<count>(x, a, b);
  }
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  sink[threadIdx.x] = __float_as_int(x);
}

template <int count>
void MeasureCall(int rounds) {
  Print("cycles_call", {{"instructions", std::to_string(count)}}, "cycles",
        CyclesPer(1.0 * rounds * kSteps, [&](long long* cycles, unsigned* sink) {
          Call<count><<<1, 32>>>(0.5f, 0.25f, rounds, cycles, sink);
        }));
}

void MeasureAll(int rounds) {
  MeasureLoop<4>(rounds);
  MeasureLoop<8>(rounds);
  MeasureLoop<16>(rounds);
  MeasureLoop<32>(rounds);
  MeasureLoop<64>(rounds);
  MeasureSkip<Kind::kStraight>("straight", 0, rounds);
  MeasureSkip<Kind::kUniform>("not_taken", 0, rounds);
  MeasureSkip<Kind::kUniform>("taken", 1, rounds);
  MeasureSkip<Kind::kDivergent>("not_taken_by_lane", 0, rounds);
  MeasureSkip<Kind::kDivergent>("taken_by_lane", 1, rounds);
  MeasureSides<16>(rounds);
  MeasureSides<24>(rounds);
  MeasureSides<32>(rounds);
  MeasureCall<4>(rounds);
  MeasureCall<16>(rounds);
}
#endif

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  [[maybe_unused]] const bool small = IsSmall(argc, argv);
#ifndef HEDDLE_STAND_IN
  MeasureAll(small ? 4 : 1024);
#endif
  return 0;
}
