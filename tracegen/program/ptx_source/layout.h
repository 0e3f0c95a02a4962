// The body of a PTX function as a graph: which instructions each block of its static program has, and which statements
// each block of its IR executes.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_LAYOUT_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/program/flow.h"
#include "tracegen/program/ptx_source/place_table.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

// What is done at one instruction of a function.
struct LayoutStep {
  const ptx::Instruction* instruction = nullptr;
  uint32_t line = 0;  // of the text
  uint32_t id = 0;    // number of the instruction in the module, from 1
  // Index in its FlowNode's instructions; -1 for moves of parameters that are part of a call's instruction.
  int flow_index = -1;
};

struct LayoutNode {
  std::vector<LayoutStep> steps;
  // What decides at its end, besides a branch that is its last step: the guard of the node that follows.
  const ptx::Operand* guard = nullptr;
  // All its steps run under their guard being true: nothing is to be chosen.
  bool under_guard = false;
};

struct Layout {
  FlowFunction flow;
  std::vector<LayoutNode> nodes;  // of flow.nodes
};

// Errors: shapes that a static program cannot have, with their line: tables with too many targets and so on.
// Indirect calls get no callees yet.
absl::StatusOr<Layout> LayOut(const ptx::Module& module, const ptx::Function& function, PlaceTable& places);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_LAYOUT_H_
