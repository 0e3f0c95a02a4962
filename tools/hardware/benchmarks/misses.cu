// Loads in flight: how long several independent ones take together that miss the L1 and hit the L2. As long as the
// time hardly grows, they overlap; where it grows with their number, something is full.
#include "tools/hardware/benchmarks/sampling.h"

namespace heddle::hardware {
namespace {

#ifndef HEDDLE_STAND_IN  // whose warps do not run at the same time

constexpr int kLine = 128;
constexpr int kTurns = 9;  // each on lines of its own, so that the L1 has none; the first one warms up

// `loads` of every warp, of one line each (the whole line, or one sector of it), between two barriers. Each turn is
// the time from the first warp's begin to the last warp's end. All lines lie in the L2.
template <int loads>
__global__ void Miss(const char* lines, int lane_bytes, unsigned* begins, unsigned* ends, unsigned* sink) {
  volatile __shared__ unsigned arrived[1024];
  volatile __shared__ unsigned long long kept[1024];
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  unsigned sum = 0;
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
    const char* p = Pinned(lines + (turn * warps + warp) * loads * kLine + threadIdx.x % 32 * lane_bytes, kept);
    unsigned x[loads];
    __syncthreads();
    const auto begin = static_cast<unsigned>(clock64());
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(x[k]) : "l"(p + k * kLine) : "memory");
    }
#pragma unroll
    for (int k = 0; k < loads; ++k) sum ^= x[k];
    arrived[threadIdx.x] = sum;  // waits for all of them
    const auto end = static_cast<unsigned>(clock64());
    if (threadIdx.x % 32 == 0) {
      begins[turn * warps + warp] = begin;
      ends[turn * warps + warp] = end;
    }
  }
  sink[threadIdx.x] = sum;
}

// `loads` of one sector that no load of before has brought: the first one misses, the others find it on its way. Each
// is of a byte of its own.
template <int loads>
__global__ void HitPending(const char* lines, unsigned* begins, unsigned* ends, unsigned* sink) {
  volatile __shared__ unsigned arrived[32];
  volatile __shared__ unsigned long long kept[32];
  unsigned sum = 0;
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
    const char* p = Pinned(lines + turn * kLine, kept);
    unsigned x[loads];
    __syncthreads();
    const auto begin = static_cast<unsigned>(clock64());
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      asm volatile("ld.global.u8 %0, [%1];" : "=r"(x[k]) : "l"(p + k) : "memory");
    }
#pragma unroll
    for (int k = 0; k < loads; ++k) sum ^= x[k];
    arrived[threadIdx.x] = sum;
    const auto end = static_cast<unsigned>(clock64());
    if (threadIdx.x == 0) {
      begins[turn] = begin;
      ends[turn] = end;
    }
  }
  sink[threadIdx.x] = sum;
}

// Runs `start(lines, begins, ends, sink)`, and gives the cycles of each turn but the first one.
template <typename Start>
std::vector<double> Turns(int loads, int warps, Start start) {
  const size_t bytes = static_cast<size_t>(kTurns) * warps * loads * kLine;
  DeviceArray<char> lines(bytes);
  DeviceArray<unsigned> begins(kTurns * warps), ends(kTurns * warps), sink(1024);
  HEDDLE_CALL(cudaMemset(lines.data(), 1, bytes));
  std::vector<double> values;
  for (int i = 0; i < 2; ++i) {  // the first time for code, and for the L2
    values.clear();
    start(lines.data(), begins.data(), ends.data(), sink.data());
    Finish();
    const std::vector<unsigned> from = begins.Read(), to = ends.Read();
    for (int turn = 1; turn < kTurns; ++turn) {
      // Differences to the first warp's begin: the counter may wrap around.
      const unsigned zero = from[turn * warps];
      int first = 0, last = 0;
      for (int warp = 0; warp < warps; ++warp) {
        first = std::min(first, static_cast<int>(from[turn * warps + warp] - zero));
        last = std::max(last, static_cast<int>(to[turn * warps + warp] - zero));
      }
      values.push_back(last - first);
    }
  }
  return values;
}

template <int loads>
void MeasureMisses(const std::vector<int>& counts_of_warps) {
  for (const int warps : counts_of_warps) {
    for (const int sectors : {1, 4}) {
      Print("cycles_misses",
            {{"loads", std::to_string(loads)}, {"warps", std::to_string(warps)}, {"sectors", std::to_string(sectors)}},
            "cycles", Turns(loads, warps, [&](const char* lines, unsigned* begins, unsigned* ends, unsigned* sink) {
              Miss<loads><<<1, 32 * warps>>>(lines, sectors == 1 ? 0 : 4, begins, ends, sink);
            }));
    }
  }
}

template <int loads>
void MeasurePending() {
  Print("cycles_pending_hits", {{"loads", std::to_string(loads)}}, "cycles",
        Turns(1, 1, [&](const char* lines, unsigned* begins, unsigned* ends, unsigned* sink) {
          HitPending<loads><<<1, 32>>>(lines, begins, ends, sink);
        }));
}

void MeasureAll(bool small) {
  MeasureMisses<1>({1});
  if (small) return;
  MeasureMisses<2>({1});
  MeasureMisses<4>({1});
  MeasureMisses<8>({1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32});
  MeasureMisses<12>({1});
  MeasureMisses<16>({1, 4, 8, 16});
  MeasureMisses<24>({1});
  MeasureMisses<32>({1, 4, 8});
  MeasureMisses<48>({1});
  MeasureMisses<64>({1});
  MeasurePending<1>();
  MeasurePending<2>();
  MeasurePending<4>();
  MeasurePending<8>();
  MeasurePending<12>();
  MeasurePending<16>();
  MeasurePending<24>();
  MeasurePending<32>();
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
