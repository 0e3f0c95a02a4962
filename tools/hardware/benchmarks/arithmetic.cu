// Latency and throughput of arithmetic, by class. A step is one or two instructions of the class whose operands are the
// results of the step before, so that no compiler can join or leave out any.
#include "tools/hardware/benchmarks/benchmark.h"

namespace heddle::hardware {
namespace {

// Steps in a row, and fewer where a step is a long sequence: the loop must fit the instruction caches.
constexpr int kUnroll = 64;
constexpr int kUnrollLong = 8;
constexpr int kThreads = 1024;
constexpr int kChains = 4;  // independent ones per thread, for throughput

// Each class: the type that it computes on, how many instructions a step has, and the step.
struct IntAlu {
  using Type = int;
  static constexpr int kInstructions = 2;
  static constexpr int kSteps = kUnroll;
  static __device__ void Step(int& x, int a, int b) {
    asm volatile("add.s32 %0, %0, %1;" : "+r"(x) : "r"(a));
    asm volatile("xor.b32 %0, %0, %1;" : "+r"(x) : "r"(b));
  }
};
struct IntMul {
  using Type = int;
  static constexpr int kInstructions = 1;
  static constexpr int kSteps = kUnroll;
  static __device__ void Step(int& x, int a, int b) {
    asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
  }
};
struct IntDiv {
  using Type = int;
  static constexpr int kInstructions = 1;
  static constexpr int kSteps = kUnrollLong;
  static __device__ void Step(int& x, int a, int) { asm volatile("div.s32 %0, %1, %0;" : "+r"(x) : "r"(a)); }
};
struct Fp32 {
  using Type = float;
  static constexpr int kInstructions = 1;
  static constexpr int kSteps = kUnroll;
  static __device__ void Step(float& x, float a, float b) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
  }
};
struct Fp32Div {
  using Type = float;
  static constexpr int kInstructions = 1;
  static constexpr int kSteps = kUnrollLong;
  static __device__ void Step(float& x, float a, float) { asm volatile("div.rn.f32 %0, %1, %0;" : "+f"(x) : "f"(a)); }
};
struct Fp64 {
  using Type = double;
  static constexpr int kInstructions = 1;
  static constexpr int kSteps = kUnroll;
  static __device__ void Step(double& x, double a, double b) {
    asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(a), "d"(b));
  }
};
struct Fp64Div {
  using Type = double;
  static constexpr int kInstructions = 1;
  static constexpr int kSteps = kUnrollLong;
  static __device__ void Step(double& x, double a, double) {
    asm volatile("div.rn.f64 %0, %1, %0;" : "+d"(x) : "d"(a));
  }
};
struct Sfu {
  using Type = float;
  static constexpr int kInstructions = 1;
  static constexpr int kSteps = kUnroll;
  static __device__ void Step(float& x, float, float) { asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x)); }
};
// An integer becomes a number with a fraction, whose bits are the next integer.
struct Convert {
  using Type = int;
  static constexpr int kInstructions = 1;
  static constexpr int kSteps = kUnroll;
  static __device__ void Step(int& x, int, int) {
    float y;
    asm volatile("cvt.rn.f32.s32 %0, %1;" : "=f"(y) : "r"(x));
    x = __float_as_int(y);
  }
};

template <typename Class, int chains, typename Type = typename Class::Type>
__global__ void Run(Type first, Type a, Type b, int rounds, long long* cycles, Type* sink) {
  Type x[chains];
  for (int c = 0; c < chains; ++c) x[c] = first + static_cast<Type>(threadIdx.x + c);
  __syncthreads();
  const long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < Class::kSteps; ++k) {
#pragma unroll
      for (int c = 0; c < chains; ++c) Class::Step(x[c], a, b);
    }
  }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
  Type sum = x[0];
  for (int c = 1; c < chains; ++c) sum += x[c];
  sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <typename Class>
void Latency(const char* name, int rounds, typename Class::Type first, typename Class::Type a, typename Class::Type b) {
  DeviceArray<long long> cycles(1);
  DeviceArray<typename Class::Type> sink(1);
  std::vector<double> values;
  Run<Class, 1><<<1, 1>>>(first, a, b, 1, cycles.data(), sink.data());
  for (int i = 0; i < kRepetitions; ++i) {
    Run<Class, 1><<<1, 1>>>(first, a, b, rounds, cycles.data(), sink.data());
    Finish();
    values.push_back(static_cast<double>(cycles.Read()[0]) / (rounds * Class::kSteps * Class::kInstructions));
  }
  Print(std::string("latency_") + name, {}, "cycles", values);
}

// Prints the throughput, and gives the clock of every repetition back.
template <typename Class>
std::vector<double> Throughput(const char* name, int sms, int rounds, typename Class::Type first,
                               typename Class::Type a, typename Class::Type b) {
  DeviceArray<long long> cycles(sms);
  DeviceArray<typename Class::Type> sink(static_cast<size_t>(sms) * kThreads);
  std::vector<double> values, clocks;
  Run<Class, kChains><<<sms, kThreads>>>(first, a, b, 1, cycles.data(), sink.data());
  for (int i = 0; i < kRepetitions; ++i) {
    const double milliseconds =
        Milliseconds([&] { Run<Class, kChains><<<sms, kThreads>>>(first, a, b, rounds, cycles.data(), sink.data()); });
    std::vector<double> each;
    for (const long long c : cycles.Read()) each.push_back(static_cast<double>(c));
    const double instructions = 1.0 * kThreads * kChains * rounds * Class::kSteps * Class::kInstructions;
    values.push_back(instructions / Median(each));
    clocks.push_back(Median(each) / milliseconds * 1e-3);
  }
  Print(std::string("throughput_") + name, {{"threads", std::to_string(kThreads)}, {"blocks", std::to_string(sms)}},
        "threads/cycle/SM", values);
  return clocks;
}

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  const bool small = IsSmall(argc, argv);
  const int sms = Multiprocessors(small);
  const int rounds = small ? 1 : 64;
  Latency<IntAlu>("int_alu", rounds, 1, 3, 5);
  Latency<IntMul>("int_mul", rounds, 1, 3, 5);
  Latency<IntDiv>("int_div", rounds, 3, 1000003, 0);
  Latency<Fp32>("fp32", rounds, 1, 0.5f, 0.25f);
  Latency<Fp32Div>("fp32_div", rounds, 3, 1e6f, 0);
  Latency<Fp64>("fp64", rounds, 1, 0.5, 0.25);
  Latency<Fp64Div>("fp64_div", rounds, 3, 1e6, 0);
  Latency<Sfu>("sfu", rounds, 2, 0, 0);
  Latency<Convert>("convert", rounds, 12345, 0, 0);
  // Some milliseconds each, so that the clock settles and launch costs vanish.
  const int many = small ? 1 : 256;
  Throughput<IntAlu>("int_alu", sms, many, 1, 3, 5);
  Throughput<IntMul>("int_mul", sms, many, 1, 3, 5);
  const std::vector<double> clocks = Throughput<Fp32>("fp32", sms, many * (small ? 1 : 4), 1, 0.5f, 0.25f);
  Throughput<Fp64>("fp64", sms, many, 1, 0.5, 0.25);
  Throughput<Sfu>("sfu", sms, many, 2, 0, 0);
  Throughput<Convert>("convert", sms, many, 12345, 0, 0);
  Print("sm_clock", {}, "MHz", clocks);
  return 0;
}
