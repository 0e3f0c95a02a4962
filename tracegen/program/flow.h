// Control flow of PTX functions: the printed blocks cut where control leaves them, calls made one instruction each.
#ifndef HEDDLE_TRACEGEN_PROGRAM_FLOW_H_
#define HEDDLE_TRACEGEN_PROGRAM_FLOW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/program/device_calls.h"
#include "tracegen/ptx/opcode.h"
#include "tracegen/ptx/ptx_parser.h"

namespace heddle::tracegen {

inline constexpr int kNoNode = -1;

// What only machine code says of an instruction.
struct MachineDetail {
  uint32_t control = 0;  // as in the trace
  trace::v1::Convergence::Role convergence = trace::v1::Convergence::ROLE_UNSPECIFIED;
  uint32_t convergence_barrier = 0;
  int meeting = kNoNode;  // SET: where the threads meet
};

struct FlowInstruction {
  std::string mnemonic;
  Opcode opcode;
  std::vector<std::string> dst;  // virtual registers
  std::vector<std::string> src;
  PtxAddress address;               // memory instructions
  std::optional<int64_t> constant;  // the last operand, if it is a number
  bool reads_block_index = false;
  bool reads_clock = false;
  bool cannot_return = false;
  bool is_guarded = false;  // has a predicate before it, and is no branch
  uint32_t barrier_id = 0;
  uint32_t barrier_threads = 0;
  uint32_t id = 0;  // number of its IR instruction, 0 = none
  // What DescribeCollective says of it; null for most.
  std::shared_ptr<const trace::v1::Instruction> collective = nullptr;
  std::shared_ptr<MachineDetail> machine = nullptr;  // null for PTX
};

enum class FlowEnd { kFallThrough, kConditional, kWide, kCall, kReturn, kExit };

// A range of instructions that control enters at the top and leaves at the bottom. May be empty.
struct FlowNode {
  std::string name;  // IR block that it begins; empty for code on an edge
  std::vector<FlowInstruction> instructions;
  FlowEnd end = FlowEnd::kFallThrough;
  int next = kNoNode;                // fall-through, unconditional target, or continuation of a call
  int taken = kNoNode;               // kConditional
  std::vector<int> targets = {};     // kWide: by decision
  std::vector<std::string> callees;  // kCall: one, or all that a pointer can lead to
  bool indirect = false;             // kCall: through a pointer
};

struct FlowFunction {
  std::string name;
  bool is_kernel = false;
  uint64_t local_bytes = 0;
  std::vector<FlowNode> nodes;  // in PTX order; entry first

  // The node itself or, if it is empty, the first one behind it that is not; kNoNode in an empty endless loop.
  int Forward(int node) const;
};

// `defined`: functions that have a body. Calls of others are math functions, system calls or failures and become one
// instruction. `indirect`: where calls through pointers can lead.
// Errors: opcodes and shapes that are not known, with the instruction's text; the number of its IR instruction is in
// `failed_id` then.
absl::StatusOr<FlowFunction> BuildFlow(const PtxFunction& function, const std::set<std::string>& defined,
                                       const IndirectCalls& indirect, uint32_t* failed_id);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_FLOW_H_
