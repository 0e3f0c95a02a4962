// What recorded launches do, counted: their instructions, and a replay of each on a machine.
#ifndef HEDDLE_TOOLS_SHOW_LAUNCH_STUDY_H_
#define HEDDLE_TOOLS_SHOW_LAUNCH_STUDY_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "proto/trace.pb.h"
#include "replay/analysis/limit_study.h"
#include "tools/show/machine_mix.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// [thread-instructions] that were executed, by what they are.
struct InstructionMix {
  std::array<uint64_t, trace::v1::OpClass_ARRAYSIZE> by_class = {};
  std::array<uint64_t, trace::v1::MemorySpace_ARRAYSIZE> by_space = {};  // of those that access memory
  uint64_t guards = 0;  // decisions of threads that are no branches (trace::Program::DecidesGuard)
  MachineMix machine;   // of programs of machine code

  uint64_t operator[](trace::v1::OpClass op) const { return by_class[op]; }
  // Adds what the threads of a launch did in one basic block.
  void Add(const trace::Program& program, const replay::BlockLimit& block);
};

// One replay on a machine, with PDOM and loose round-robin.
struct CharacterisationTiming {
  uint64_t cycles = 0;
  uint64_t warp_instructions = 0;
  uint64_t branches = 0;          // conditional or wide ones, by warps
  uint64_t splits = 0;            // of those, times that a warp's threads went on to different places
  uint64_t guards = 0;            // decisions by warps that are no branches (trace::Program::DecidesGuard)
  uint64_t guard_splits = 0;      // of those, times that a warp's threads went on to different places
  uint64_t data_accesses = 0;     // warp-instructions to global, local or texture memory
  uint64_t transactions = 0;      // of those, after coalescing
  uint64_t warp_cycles = 0;       // from dispatch to the retirement of the block, summed over warps
  uint64_t barrier_cycles = 0;    // of those, waiting at a barrier or fence
  uint64_t unequal_blocks = 0;    // blocks whose warps' instructions differ by more than a tenth of the least
  uint64_t compared_blocks = 0;   // blocks with a value for that
  uint64_t resident_threads = 0;  // per SM: the most of any launch, as its grid and the machine allow

  // `launch` is what TimeLaunches has of `view`.
  void Add(const result::v1::LaunchResult& launch, const trace::LaunchView& view, const machine::v1::Machine& machine);
};

// Every recorded launch on the machine, with counts by instruction. Errors: those of the replay.
absl::StatusOr<std::vector<result::v1::LaunchResult>> TimeLaunches(const trace::TraceReader& reader,
                                                                   const machine::v1::Machine& machine);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_LAUNCH_STUDY_H_
