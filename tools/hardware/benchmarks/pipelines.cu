// Two classes of instructions in turns, independent of each other: which of them share a pipeline or a way to it. And
// one warp alone: how often it can issue.
#include "tools/hardware/benchmarks/sampling.h"

namespace heddle::hardware {
namespace {

#ifndef HEDDLE_STAND_IN  // whose instructions have no pipelines

constexpr int kUnroll = 16;
constexpr int kThreads = 1024;

// Each class: a step of a chain, which waits for the step before only. Steps are in turns of two that no assembler can
// join.
struct Fp32 {
  static constexpr const char* kName = "fp32";
  float x;
  __device__ void Set(unsigned first) { x = static_cast<float>(first); }
  __device__ void Step(int, unsigned, unsigned, unsigned, unsigned) {
    asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
  }
  __device__ unsigned Get() const { return __float_as_int(x); }
};
struct Logic {
  static constexpr const char* kName = "int_logic";
  unsigned x;
  __device__ void Set(unsigned first) { x = first; }
  __device__ void Step(int turn, unsigned a, unsigned b, unsigned c, unsigned d) {
    if (turn % 2 == 0) {
      asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(x) : "r"(a), "r"(b));
    } else {
      asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(x) : "r"(c), "r"(d));
    }
  }
  __device__ unsigned Get() const { return x; }
};
struct IntMul {
  static constexpr const char* kName = "int_mul";
  unsigned x;
  __device__ void Set(unsigned first) { x = first; }
  __device__ void Step(int, unsigned a, unsigned b, unsigned, unsigned) {
    asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
  }
  __device__ unsigned Get() const { return x; }
};
struct Fp64 {
  static constexpr const char* kName = "fp64";
  double x;
  __device__ void Set(unsigned first) { x = first; }
  __device__ void Step(int, unsigned, unsigned, unsigned, unsigned) {
    asm volatile("fma.rn.f64 %0, %0, %0, %0;" : "+d"(x));
  }
  __device__ unsigned Get() const { return static_cast<unsigned>(__double_as_longlong(x)); }
};
struct Special {
  static constexpr const char* kName = "sfu";
  float x;
  __device__ void Set(unsigned first) { x = static_cast<float>(first); }
  __device__ void Step(int, unsigned, unsigned, unsigned, unsigned) {
    asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
  }
  __device__ unsigned Get() const { return __float_as_int(x); }
};
struct Convert {
  static constexpr const char* kName = "convert";
  int x;
  __device__ void Set(unsigned first) { x = static_cast<int>(first); }
  __device__ void Step(int, unsigned, unsigned, unsigned, unsigned) {
    float y;
    asm volatile("cvt.rn.f32.s32 %0, %1;" : "=f"(y) : "r"(x));
    x = __float_as_int(y);
  }
  __device__ unsigned Get() const { return static_cast<unsigned>(x); }
};

template <typename First, typename Second, int chains>
__global__ void InTurns(unsigned a, unsigned b, unsigned c, unsigned d, int rounds, long long* cycles, unsigned* sink) {
  First first[chains];
  Second second[chains];
  for (int i = 0; i < chains; ++i) {
    first[i].Set(threadIdx.x + i);
    second[i].Set(threadIdx.x + chains + i);
  }
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
#pragma unroll
      for (int i = 0; i < chains; ++i) {
        first[i].Step(k, a, b, c, d);
        second[i].Step(k, a, b, c, d);
      }
    }
  }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  unsigned sum = 0;
  for (int i = 0; i < chains; ++i) sum += first[i].Get() + second[i].Get();
  sink[threadIdx.x] = sum;
}

template <typename First, typename Second>
void MeasurePair(int rounds) {
  constexpr int kChains = 2;
  std::vector<double> values =
      CyclesPer(2.0 * kThreads * kChains * kUnroll * rounds, [&](long long* cycles, unsigned* sink) {
        InTurns<First, Second, kChains><<<1, kThreads>>>(3, 5, 11, 29, rounds, cycles, sink);
      });
  for (double& value : values) value = 1 / value;
  Print("throughput_pair", {{"first", First::kName}, {"second", Second::kName}}, "threads/cycle/SM", values);
}

template <typename First, typename Second, int chains>
void MeasureInterval(int rounds) {
  Print("cycles_issue_alone",
        {{"first", First::kName}, {"second", Second::kName}, {"chains", std::to_string(2 * chains)}}, "cycles",
        CyclesPer(2.0 * chains * kUnroll * rounds, [&](long long* cycles, unsigned* sink) {
          InTurns<First, Second, chains><<<1, 32>>>(3, 5, 11, 29, rounds, cycles, sink);
        }));
}

template <typename First, typename Second>
void MeasureIntervals(int rounds) {
  MeasureInterval<First, Second, 1>(rounds);
  MeasureInterval<First, Second, 2>(rounds);
  MeasureInterval<First, Second, 4>(rounds);
}

void MeasureAll(int rounds) {
  MeasurePair<Fp32, Fp32>(rounds);
  MeasurePair<Logic, Logic>(rounds);
  MeasurePair<Fp64, Fp64>(rounds);
  MeasurePair<Special, Special>(rounds);
  MeasurePair<Convert, Convert>(rounds);
  MeasurePair<Fp32, Logic>(rounds);
  MeasurePair<Fp32, IntMul>(rounds);
  MeasurePair<Fp32, Fp64>(rounds);
  MeasurePair<Fp32, Special>(rounds);
  MeasurePair<Fp32, Convert>(rounds);
  MeasurePair<Logic, IntMul>(rounds);
  MeasurePair<Logic, Special>(rounds);
  MeasurePair<Logic, Convert>(rounds);
  MeasurePair<Special, Convert>(rounds);
  MeasureIntervals<Fp32, Fp32>(rounds);
  MeasureIntervals<Logic, Logic>(rounds);
  MeasureIntervals<IntMul, IntMul>(rounds);
  MeasureIntervals<Fp32, Logic>(rounds);
  MeasureIntervals<Fp32, IntMul>(rounds);
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
