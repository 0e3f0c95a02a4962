// What the PTX of a function says about registers and values.
#ifndef HEDDLE_TRACEGEN_PROGRAM_ANALYSIS_H_
#define HEDDLE_TRACEGEN_PROGRAM_ANALYSIS_H_

#include <cstdint>
#include <vector>

#include "proto/trace.pb.h"
#include "tracegen/program/control_flow.h"
#include "tracegen/program/flow.h"

namespace heddle::tracegen {

// Whether instructions of this class only compute: from registers to registers, without memory, control, other threads.
bool IsArithmetic(trace::v1::OpClass op);

struct RegisterNeed {
  uint32_t most = 0;                     // 32-bit registers live at once anywhere in the function
  std::vector<uint32_t> live_over_call;  // by node: those that a call which ends the node keeps
};

// Counts live virtual registers: 64-bit ones count two, predicates none. `graph` has the nodes of `flow`.
RegisterNeed CountRegisters(const FlowFunction& flow, const Graph& graph);

// By node and instruction: true if the result is the same in every thread block of a launch for the thread of the same
// index in the block, so that it could be computed once and kept (VTW). That holds for instructions that only compute,
// from values that hold it, and whose execution is not decided by a value that does not: launch parameters, constants,
// thread index and grid size are such values; the block index, memory, atomics, results of warp operations and calls,
// clocks, and arguments of device functions are not.
std::vector<std::vector<bool>> FindHoistable(const FlowFunction& flow, const Graph& graph);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_ANALYSIS_H_
