// Latency and rate of matrix products by kind.
#include "tools/hardware/benchmarks/benchmark.h"

namespace heddle::hardware {
namespace {

constexpr int kUnroll = 16;
constexpr int kThreads = 512;
constexpr int kChains = 2;  // independent ones per warp, for the rate

// Each kind of matrix product: its name in PTX, multiply-adds of a warp-instruction, and D = A * B + D with all of A
// and B in zeros. A product of zeros takes as long as any other, but less power, so that the clock stays up.
struct F16IntoF32 {
  static constexpr const char* kName = "m16n8k16.f32.f16.f16.f32";
  static constexpr int kMultiplyAdds = 16 * 8 * 16, kLeastArch = 80;
  unsigned d[4] = {};
  __device__ void Step(unsigned a) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a));
#endif
  }
};
struct F16IntoF16 {
  static constexpr const char* kName = "m16n8k16.f16.f16.f16.f16";
  static constexpr int kMultiplyAdds = 16 * 8 * 16, kLeastArch = 80;
  unsigned d[4] = {};
  __device__ void Step(unsigned a) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%2,%2,%2}, {%2,%2}, {%0,%1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(a));
#endif
  }
};
struct F16Short {
  static constexpr const char* kName = "m16n8k8.f32.f16.f16.f32";
  static constexpr int kMultiplyAdds = 16 * 8 * 8, kLeastArch = 80;
  unsigned d[4] = {};
  __device__ void Step(unsigned a) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4}, {%4}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a));
#endif
  }
};
struct Bf16 {
  static constexpr const char* kName = "m16n8k16.f32.bf16.bf16.f32";
  static constexpr int kMultiplyAdds = 16 * 8 * 16, kLeastArch = 80;
  unsigned d[4] = {};
  __device__ void Step(unsigned a) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a));
#endif
  }
};
struct Tf32 {
  static constexpr const char* kName = "m16n8k8.f32.tf32.tf32.f32";
  static constexpr int kMultiplyAdds = 16 * 8 * 8, kLeastArch = 80;
  unsigned d[4] = {};
  __device__ void Step(unsigned a) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a));
#endif
  }
};
struct Int8 {
  static constexpr const char* kName = "m16n8k32.s32.s8.s8.s32";
  static constexpr int kMultiplyAdds = 16 * 8 * 32, kLeastArch = 80;
  unsigned d[4] = {};
  __device__ void Step(unsigned a) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a));
#endif
  }
};
// The assembler makes conversions, products without a sum, and additions of this. So that it cannot compute a product
// once for all, A is what the last one gave.
struct Fp8 {
  static constexpr const char* kName = "m16n8k32.f32.e4m3.e4m3.f32";
  static constexpr int kMultiplyAdds = 16 * 8 * 32, kLeastArch = 89;
  unsigned d[4] = {};
  __device__ void Step(unsigned a) {
#if __CUDA_ARCH__ >= 890
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%0,%1,%2,%3}, {%4,%4}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a));
#endif
  }
};
struct F64 {
  static constexpr const char* kName = "m8n8k4.f64.f64.f64.f64";
  static constexpr int kMultiplyAdds = 8 * 8 * 4, kLeastArch = 80;
  double d[2] = {};
  __device__ void Step(unsigned a) {
#if __CUDA_ARCH__ >= 800
    const double x = a;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%2}, {%0,%1};"
                 : "+d"(d[0]), "+d"(d[1])
                 : "d"(x));
#endif
  }
};
struct F64Long {
  static constexpr const char* kName = "m16n8k16.f64.f64.f64.f64";
  static constexpr int kMultiplyAdds = 16 * 8 * 16, kLeastArch = 90;
  double d[4] = {};
  __device__ void Step(unsigned a) {
#if __CUDA_ARCH__ >= 900
    const double x = a;
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%4,%4,%4,%4,%4,%4,%4}, {%4,%4,%4,%4}, "
        "{%0,%1,%2,%3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(x));
#endif
  }
};

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
