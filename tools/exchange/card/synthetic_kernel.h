// Kernels that are written down, not recorded: what micro-benchmarks do, for the model.
#ifndef HEDDLE_TOOLS_EXCHANGE_CARD_SYNTHETIC_KERNEL_H_
#define HEDDLE_TOOLS_EXCHANGE_CARD_SYNTHETIC_KERNEL_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "proto/trace.pb.h"

namespace heddle::tools {

// Where global memory, the shared memory of each block, and that of its cluster begin in a synthetic kernel. The shared
// memory of block k of a cluster is k * kSyntheticSharedBytes behind the last of them.
inline constexpr uint64_t kSyntheticGlobalBase = uint64_t{1} << 33;
inline constexpr uint64_t kSyntheticSharedBase = uint64_t{1} << 60;
inline constexpr uint64_t kSyntheticClusterBase = uint64_t{1} << 61;
inline constexpr uint64_t kSyntheticSharedBytes = 1 << 16;
// Instructions of a program, its exit not counted.
inline constexpr uint64_t kMostSyntheticInstructions = 60'000;

// One launch of one straight-line program.
struct SyntheticKernel {
  uint32_t blocks = 1;
  uint32_t cluster_blocks = 1;  // more than 1: all blocks are one cluster
  uint32_t threads = 1;         // of a block
  uint64_t most_cycles = 0;     // that it may take; 0 = any number
  // What each thread does before it ends. Memory instructions have space and access_bytes.
  std::vector<trace::v1::Instruction> instructions;
  // The address of a memory instruction; instructions are counted from 0, those without addresses too.
  std::function<uint64_t(uint32_t block, uint32_t thread, uint64_t instruction)> address;
};

// An instruction over registers, which are numbered from 1; 0 = none.
trace::v1::Instruction SyntheticOperation(trace::v1::OpClass op, const char* mnemonic, uint32_t to, uint32_t from);
trace::v1::Instruction SyntheticAccess(trace::v1::OpClass op, trace::v1::MemorySpace space, uint32_t bytes, uint32_t to,
                                       uint32_t from);

// What a replay of the kernel on the machine gives, under pdom with the default scheduler and with a perfect
// instruction cache: loops of a card's benchmarks fit theirs. Errors: those of the replay, more than
// `most_cycles`, no room for a temporary file.
absl::StatusOr<result::v1::Result> ReplaySynthetic(const machine::v1::Machine& machine, const SyntheticKernel& kernel);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_EXCHANGE_CARD_SYNTHETIC_KERNEL_H_
