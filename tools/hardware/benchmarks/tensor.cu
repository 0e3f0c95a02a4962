// Latency and rate of matrix products by kind.
#include "tools/hardware/benchmarks/benchmark.h"

namespace heddle::hardware {
namespace {

constexpr int kUnroll = 16;
constexpr int kThreads = 512;
constexpr int kChains = 2;  // independent ones per warp, for the rate

#ifdef __CUDA_ARCH__
constexpr int kArch = __CUDA_ARCH__ / 10;
#else
constexpr int kArch = 0;
#endif

// A kind of matrix product: D = A * B + D. `types`: as PTX names them; `sum`, `left`, `right`: the registers of D, A
// and B, where %0 to %3 are D's, and %4 is zero. A product of zeros takes as long as any other, but less power, so that
// the clock stays up.
#define HEDDLE_PRODUCT(Name, Type, constraint, m, n, k, types, least_arch, sum, left, right)                   \
  struct Name {                                                                                                \
    static constexpr const char* kName = "m" #m "n" #n "k" #k "." types;                                       \
    static constexpr int kMultiplyAdds = m * n * k, kLeastArch = least_arch;                                   \
    Type d[4] = {};                                                                                            \
    __device__ void Step(unsigned zero) {                                                                      \
      if constexpr (kArch >= kLeastArch) {                                                                     \
        const Type x = zero;                                                                                   \
        asm volatile("mma.sync.aligned.m" #m "n" #n "k" #k ".row.col." types " {" sum "}, {" left "}, {" right \
                     "}, {" sum "};"                                                                           \
                     : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]), "+" constraint(d[3])  \
                     : constraint(x));                                                                         \
      }                                                                                                        \
    }                                                                                                          \
  }

HEDDLE_PRODUCT(F16IntoF32, unsigned, "r", 16, 8, 16, "f32.f16.f16.f32", 80, "%0,%1,%2,%3", "%4,%4,%4,%4", "%4,%4");
HEDDLE_PRODUCT(F16IntoF16, unsigned, "r", 16, 8, 16, "f16.f16.f16.f16", 80, "%0,%1", "%4,%4,%4,%4", "%4,%4");
HEDDLE_PRODUCT(F16Short, unsigned, "r", 16, 8, 8, "f32.f16.f16.f32", 80, "%0,%1,%2,%3", "%4,%4", "%4");
HEDDLE_PRODUCT(Bf16, unsigned, "r", 16, 8, 16, "f32.bf16.bf16.f32", 80, "%0,%1,%2,%3", "%4,%4,%4,%4", "%4,%4");
HEDDLE_PRODUCT(Tf32, unsigned, "r", 16, 8, 8, "f32.tf32.tf32.f32", 80, "%0,%1,%2,%3", "%4,%4,%4,%4", "%4,%4");
HEDDLE_PRODUCT(Int8, unsigned, "r", 16, 8, 32, "s32.s8.s8.s32", 80, "%0,%1,%2,%3", "%4,%4,%4,%4", "%4,%4");
// The assembler makes conversions, products without a sum, and additions of this. So that it cannot compute a product
// once for all, A is what the last one gave.
HEDDLE_PRODUCT(Fp8, unsigned, "r", 16, 8, 32, "f32.e4m3.e4m3.f32", 89, "%0,%1,%2,%3", "%0,%1,%2,%3", "%4,%4");
HEDDLE_PRODUCT(F64, double, "d", 8, 8, 4, "f64.f64.f64.f64", 80, "%0,%1", "%4", "%4");
HEDDLE_PRODUCT(F64Long, double, "d", 16, 8, 16, "f64.f64.f64.f64", 90, "%0,%1,%2,%3", "%4,%4,%4,%4,%4,%4,%4,%4",
               "%4,%4,%4,%4");

template <typename Product, int chains>
__global__ void Multiply(unsigned a, int rounds, long long* cycles, unsigned* sink) {
  Product product[chains];
  __syncthreads();
  const long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
#pragma unroll
      for (int c = 0; c < chains; ++c) product[c].Step(a);
    }
  }
  unsigned sum = 0;
  for (int c = 0; c < chains; ++c) sum += static_cast<unsigned>(product[c].d[0]);
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
  sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <typename Product>
void MeasureProduct(int arch, int sms, int rounds) {
  if (arch < Product::kLeastArch) return;
  DeviceArray<long long> cycles(sms);
  DeviceArray<unsigned> sink(static_cast<size_t>(sms) * kThreads);
  std::vector<double> latencies, rates;
  Multiply<Product, 1><<<1, 32>>>(0, 1, cycles.data(), sink.data());
  for (int i = 0; i < kRepetitions; ++i) {
    Multiply<Product, 1><<<1, 32>>>(0, rounds, cycles.data(), sink.data());
    Finish();
    latencies.push_back(static_cast<double>(cycles.Read()[0]) / (rounds * kUnroll));
    Multiply<Product, kChains><<<sms, kThreads>>>(0, rounds, cycles.data(), sink.data());
    Finish();
    std::vector<double> each;
    const double work = 1.0 * kThreads / 32 * kChains * rounds * kUnroll * Product::kMultiplyAdds;
    for (const long long c : cycles.Read()) each.push_back(work / static_cast<double>(c));
    rates.push_back(Median(each));
  }
  Print("latency_tensor", {{"instruction", Product::kName}}, "cycles", latencies);
  Print("throughput_tensor",
        {{"instruction", Product::kName}, {"threads", std::to_string(kThreads)}, {"blocks", std::to_string(sms)}},
        "multiply-adds/cycle/SM", rates);
}

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  [[maybe_unused]] const bool small = IsSmall(argc, argv);
#ifndef HEDDLE_STAND_IN  // whose compiler does not know all kinds
  const int sms = Multiprocessors(small), arch = Architecture(), rounds = small ? 1 : 64;
  MeasureProduct<F16IntoF32>(arch, sms, rounds);
  MeasureProduct<F16IntoF16>(arch, sms, rounds);
  MeasureProduct<F16Short>(arch, sms, rounds);
  MeasureProduct<Bf16>(arch, sms, rounds);
  MeasureProduct<Tf32>(arch, sms, rounds);
  MeasureProduct<Int8>(arch, sms, rounds);
  MeasureProduct<Fp8>(arch, sms, rounds);
  MeasureProduct<F64>(arch, sms, rounds);
  MeasureProduct<F64Long>(arch, sms, rounds);
#endif
  return 0;
}
