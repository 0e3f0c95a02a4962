// Kernels that benchmarks replay: small enough to be made in memory, each bound by one thing.
#ifndef HEDDLE_TOOLS_BENCHMARK_SYNTHETIC_KERNELS_H_
#define HEDDLE_TOOLS_BENCHMARK_SYNTHETIC_KERNELS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "proto/trace.pb.h"
#include "tests/traces/program_builder.h"

namespace heddle {

inline constexpr uint32_t kBenchmarkBlockThreads = 256;

// A program and what each of its threads does; `thread` counts over the whole grid.
struct SyntheticKernel {
  trace::v1::KernelProgram program;
  std::function<trace::testing::ThreadTrace(uint64_t thread)> thread;
};

// A loop of eight dependent integer instructions and a branch, `trips` times, the same in all threads: bound by issue.
SyntheticKernel AluLoop(uint32_t trips);

// c[i] = a[i] + b[i]: 14 instructions, two loads and a store of whole lines: bound by DRAM bandwidth.
SyntheticKernel Stream();

// Sums of 1 to 16 words all over 4 MB, with a branch on each word that half of the threads take: divergent, up to 32
// lines per load.
SyntheticKernel Gather();

// A loop whose body has an if/else that two threads in five take, `trips` times, and no memory: bound by divergence.
SyntheticKernel DivergentLoop(uint32_t trips);

// Writes a trace of one launch of the kernel. Stops the program if it cannot.
void WriteTrace(const SyntheticKernel& kernel, uint32_t blocks, const std::string& path);

}  // namespace heddle

#endif  // HEDDLE_TOOLS_BENCHMARK_SYNTHETIC_KERNELS_H_
