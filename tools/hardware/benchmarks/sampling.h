// What the benchmarks of single questions share: repetitions of a kernel that takes its own time.
#ifndef HEDDLE_TOOLS_HARDWARE_BENCHMARKS_SAMPLING_H_
#define HEDDLE_TOOLS_HARDWARE_BENCHMARKS_SAMPLING_H_

#include "tools/hardware/benchmarks/benchmark.h"

namespace heddle::hardware {

// Cycles of a kernel of one block over `work`, one value for each repetition, after one that warms up.
// `start(cycles, sink)` launches it; it writes *cycles, and one word of `sink` per thread.
template <typename Start>
std::vector<double> CyclesPer(double work, Start start) {
  DeviceArray<long long> cycles(1);
  DeviceArray<unsigned> sink(1024);
  std::vector<double> values;
  for (int i = -1; i < kRepetitions; ++i) {
    start(cycles.data(), sink.data());
    Finish();
    if (i >= 0) values.push_back(static_cast<double>(cycles.Read()[0]) / work);
  }
  return values;
}

// An address that is there before what comes next, by a way through shared memory: the assembler cannot compute it
// later, behind a clock that is read. Each thread has a place of its own in `kept`.
__device__ inline const char* Pinned(const char* p, volatile unsigned long long* kept) {
  kept[threadIdx.x] = reinterpret_cast<unsigned long long>(p);
  const unsigned long long address = kept[threadIdx.x];
  kept[threadIdx.x] = address + 1;  // waits for it
  return reinterpret_cast<const char*>(address);
}

}  // namespace heddle::hardware

#endif  // HEDDLE_TOOLS_HARDWARE_BENCHMARKS_SAMPLING_H_
