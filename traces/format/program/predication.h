// Guarded instructions as warps execute them: all threads come by, and those whose guard is false do nothing.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_PREDICATION_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_PREDICATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/format/program/program.h"

namespace heddle::trace {

// Whether a block's instructions are under one guard that does not part a warp, and whether only a `nop.join` stands
// before them.
enum class Guarded : uint8_t { kNo, kYes, kBehindJoin };

// A program in which guards are no decisions of control flow any more. Its instructions and their PCs are those of the
// recorded program; threads still have a recorded decision for each guard.
struct PredicatedProgram {
  Program program;
  // By block. A thread takes its decision, 0 for those whose guard holds, when it comes to the first guarded
  // instruction.
  std::vector<Guarded> guarded;
  // By block: the guarded one behind it that threads come by whatever they decided; else kNoBlock.
  std::vector<uint32_t> run;
  // Whether the recorded block is a join that no thread walks.
  bool IsJoin(uint32_t block) const { return run[block] != kNoBlock && guarded[run[block]] == Guarded::kBehindJoin; }
};

// The program as warps walk it, where some guard (Program::DecidesGuard) only decides whether a thread computes,
// accesses memory, breaks away from a convergence barrier, or exits: its block falls through, and so does every thread.
// Behind a guarded exit, whose block has a `taken` then, those whose guard is false go on there. Guards of barriers,
// fences, calls, waits at convergence barriers, and of what a warp executes together, stay decisions. Blocks that have
// nothing but a `nop.join` before such a guard are no part of the walk any more: whoever comes to one is at what it
// guards. No value if there is no such guard.
std::optional<PredicatedProgram> Predicate(const Program& program);

// How many guards of the program stay decisions.
uint32_t CountPartingGuards(const Program& program);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_PREDICATION_H_
