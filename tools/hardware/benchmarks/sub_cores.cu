// Which warps of a block share a sub-core, and in which order a sub-core runs its warps.
#include <map>

#include "tools/hardware/benchmarks/sampling.h"

namespace heddle::hardware {
namespace {

#ifndef HEDDLE_STAND_IN  // which has no sub-cores

constexpr int kUnroll = 16;
constexpr int kThreads = 1024;
constexpr int kChains = 4;
constexpr int kMark = 64;  // multiply-adds from one mark to the next
constexpr int kMarks = 32;

template <int chains>
__device__ void Multiply(float (&x)[chains], float a, float b, int steps) {
#pragma unroll
  for (int k = 0; k < steps; ++k) {
#pragma unroll
    for (int c = 0; c < chains; ++c) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[c]) : "f"(a), "f"(b));
  }
}

// Of the block's warps, `active` work: those with numbers 0, apart, 2 * apart, ...
__global__ void SomeWarps(int active, int apart, float a, float b, int rounds, long long* cycles, unsigned* sink) {
  float x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = static_cast<float>(threadIdx.x + c);
  const int warp = threadIdx.x / 32;
  const bool works = warp % apart == 0 && warp / apart < active;
  __syncthreads();
  const long long begin = clock64();
  if (works) {
#pragma unroll 1
    for (int i = 0; i < rounds; ++i) Multiply(x, a, b, kUnroll);
  }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  float sum = 0;
  for (int c = 0; c < kChains; ++c) sum += x[c];
  sink[threadIdx.x] = __float_as_int(sum);
}

void MeasureSomeWarps(int rounds) {
  for (const int apart : {1, 2, 3, 4}) {
    for (const int active : {1, 2, 4, 8}) {
      const double work = 32.0 * active * kChains * kUnroll * rounds;
      std::vector<double> values = CyclesPer(work, [&](long long* cycles, unsigned* sink) {
        SomeWarps<<<1, kThreads>>>(active, apart, 0.5f, 0.25f, rounds, cycles, sink);
      });
      for (double& value : values) value = 1 / value;
      Print("throughput_by_warps", {{"warps", std::to_string(active)}, {"apart", std::to_string(apart)}},
            "threads/cycle/SM", values);
    }
  }
}

// Every fourth warp runs the same code, and notes the clock each kMark multiply-adds.
template <int chains>
__global__ void Marks(float a, float b, long long* clocks, unsigned* sink) {
  __shared__ long long noted[8 * kMarks];
  float x[chains];
  for (int c = 0; c < chains; ++c) x[c] = static_cast<float>(threadIdx.x + c);
  const int warp = threadIdx.x / 32;
  __syncthreads();
  if (warp % 4 == 0) {
#pragma unroll 1
    for (int mark = 0; mark < kMarks; ++mark) {
      Multiply(x, a, b, kMark / chains);
      // All lanes write the same: no branch.
      noted[warp / 4 * kMarks + mark] = clock64();
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < static_cast<int>(blockDim.x) / 128 * kMarks; i += blockDim.x) clocks[i] = noted[i];
  float sum = 0;
  for (int c = 0; c < chains; ++c) sum += x[c];
  sink[threadIdx.x] = __float_as_int(sum);
}

// Multiply-adds between the furthest and the last warp, over all marks that some warp passes while all are on their
// way; the mean of them. Marks that several pass in one cycle count once, behind all of them.
double Spread(const std::vector<long long>& clocks, int warps) {
  std::map<long long, std::vector<int>> passed;
  for (int warp = 0; warp < warps; ++warp) {
    for (int mark = 0; mark < kMarks; ++mark) passed[clocks[warp * kMarks + mark]].push_back(warp);
  }
  std::vector<int> marks(warps, 0);
  double sum = 0;
  int count = 0;
  for (const auto& [clock, those] : passed) {
    for (const int warp : those) ++marks[warp];
    const auto [last, furthest] = std::minmax_element(marks.begin(), marks.end());
    sum += kMark * (*furthest - *last);
    ++count;
    if (*furthest == kMarks) break;
  }
  return sum / count;
}

template <int chains>
void MeasureOrder() {
  for (const int warps : {2, 4, 8}) {
    DeviceArray<long long> clocks(warps * kMarks);
    DeviceArray<unsigned> sink(kThreads);
    std::vector<double> spreads;
    for (int i = -1; i < kRepetitions; ++i) {
      Marks<chains><<<1, 128 * warps>>>(0.5f, 0.25f, clocks.data(), sink.data());
      Finish();
      if (i >= 0) spreads.push_back(Spread(clocks.Read(), warps));
    }
    Print("spread_of_warps", {{"warps", std::to_string(warps)}, {"chains", std::to_string(chains)}}, "instructions",
          spreads);
  }
}
#endif

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  [[maybe_unused]] const bool small = IsSmall(argc, argv);
#ifndef HEDDLE_STAND_IN
  MeasureSomeWarps(small ? 2 : 256);
  MeasureOrder<1>();
  MeasureOrder<4>();
#endif
  return 0;
}
