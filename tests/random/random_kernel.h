// Random structured kernels with everything their threads do, for tests of the replay.
#ifndef HEDDLE_TESTS_RANDOM_RANDOM_KERNEL_H_
#define HEDDLE_TESTS_RANDOM_RANDOM_KERNEL_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "proto/trace.pb.h"

namespace heddle::replay {

// What a kernel may contain and how large its grid is.
struct KernelShape {
  uint64_t seed = 1;
  uint32_t blocks = 2;
  uint32_t threads_per_block = 16;
  uint32_t nesting = 3;      // most levels of if, loop and switch within each other
  uint32_t least_steps = 1;  // thread-instructions of the longest thread, at least
  uint32_t max_steps = 400;  // and at most
  bool divergent = true;     // false: all threads of a block take the same path
  bool barriers = true;
  bool counted_barriers = true;  // bar.sync id, n; only in kernels without early exits
  bool early_exits = true;
  bool calls = true;  // with indirect calls and recursion
  bool memory = true;
  bool guards = false;          // accesses under a guard
  bool uniform_values = false;  // instructions that record values of uniform registers
};

// A shape drawn from `seed`: mostly small kernels of a few warps of `warp_size`, all features at random.
KernelShape RandomShape(uint64_t seed, uint32_t warp_size);

// One dynamic instruction of a thread.
struct ScriptStep {
  uint32_t pc = 0;
  uint32_t depth = 0;  // pending calls
  bool has_address = false;
  uint64_t address = 0;
  bool passes = false;                 // under a guard that is false: the thread comes by and does nothing
  std::vector<uint64_t> uniform = {};  // values of uniform registers
  friend auto operator<=>(const ScriptStep&, const ScriptStep&) = default;
};

// What one thread does, as the writer wants it and as the generator meant it.
struct ThreadScript {
  std::vector<uint8_t> decisions;
  std::vector<uint64_t> addresses;       // and values of uniform registers
  std::vector<size_t> addresses_before;  // per decision: accesses up to it
  std::vector<ScriptStep> steps;
};

// A kernel and all its threads: thread[b * threads_per_block + t] is thread t of block b.
struct RandomKernel {
  KernelShape shape;
  trace::v1::KernelProgram program;
  std::vector<ThreadScript> threads;
};

// Builds a kernel; the same shape gives the same kernel everywhere.
RandomKernel MakeRandomKernel(const KernelShape& shape);

// The address windows that the generic accesses of random kernels fall into.
std::vector<trace::v1::AddressWindow> RandomKernelWindows();

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_RANDOM_RANDOM_KERNEL_H_
