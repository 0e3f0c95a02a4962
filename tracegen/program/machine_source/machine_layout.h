// The body of a machine function as a graph: which instructions each block of its static program has, and which each
// block of its IR executes.
#ifndef HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_LAYOUT_H_
#define HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_LAYOUT_H_

#include <cstdint>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/machine/flow/program.h"
#include "tracegen/program/flow.h"
#include "tracegen/program/machine_source/machine_lines.h"

namespace heddle::tracegen {

struct MachineStep {
  const machine::ProgramInstruction* instruction = nullptr;
  uint32_t id = 0;          // number of the instruction in the module, from 1
  uint32_t flow_index = 0;  // in its FlowNode's instructions
  std::vector<machine::Register> uniform =
      {};  // that it reads, and of which threads record the values: uniform_values.h
};

struct MachineNode {
  std::vector<MachineStep> steps;
  // What decides at its end, besides a branch that is its last step: the guard of the node that follows.
  const machine::RegisterUse* guard = nullptr;
  const machine::RegisterUse* second_guard = nullptr;  // both have to hold; null if there is one only
  // All its steps run under their guard being true: nothing is to be chosen.
  bool under_guard = false;
  // Of a branch with a table, and of a BSYNC: for each target, its offset in the section of code.
  std::vector<uint64_t> target_offsets;
};

struct MachineLayout {
  FlowFunction flow;
  std::vector<MachineNode> nodes;  // of flow.nodes
};

// Guards are treated as those of PTX (ptx_source/lower_module.h): what only computes is executed by every thread, and
// what accesses memory, meets other threads or ends the thread is a block of its own. So is an instruction that only
// computes if its place in MachineProgram::instructions is one of `alone`: threads record something there. Errors: an
// instruction without a meaning; a branch with too many targets.
absl::StatusOr<MachineLayout> LayOutMachine(const machine::MachineProgram& program, uint32_t function,
                                            const std::set<uint32_t>& alone, MachineLines& lines);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_LAYOUT_H_
