#include "replay/core/collective_step.h"

#include "absl/strings/match.h"
#include "replay/trace/thread_cursors.h"
#include "traces/format/program/operands.h"

namespace heddle::replay {

using trace::v1::Async;

CollectiveStep::CollectiveStep(const trace::Program& program, Pc pc) {
  const trace::v1::Instruction& instruction = program.instruction(pc);
  role = instruction.async().role();
  most_pending = instruction.async().most_pending();
  for (int i = 0; i < instruction.operand_size(); ++i) {
    const trace::v1::Operand& from = instruction.operand(i);
    Operand& to = operands.emplace_back();
    to.kind = from.kind();
    to.constant = from.constant();
    to.value = from.value();
    if (!to.constant) to.slot = SlotOf(program, FindColumn(program, pc, static_cast<uint32_t>(i)));
  }
  if (role == Async::COPY) bytes = instruction.operand(1).bytes();
  // As PTX and as machine code write it.
  const auto says = [&](const char* ptx, const char* machine) {
    return absl::StrContains(instruction.mnemonic(), ptx) || absl::StrContains(instruction.mnemonic(), machine);
  };
  adds_arrival = role == Async::BARRIER_COPIES && !says(".noinc", ".ARVCNT");
  drops_arrivals = role == Async::BARRIER_ARRIVE && says("arrive_drop", ".OPTOUT");
}

int CollectiveStep::Find(trace::v1::Operand::Kind kind) const {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].kind == kind) return static_cast<int>(i);
  }
  return -1;
}

void TakeOperands(const CollectiveStep& step, const Lanes& lanes, ThreadCursors& cursors, OperandValues& out) {
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const CollectiveStep::Operand& operand = step.operands[i];
    if (operand.constant) {
      out[i].fill(operand.value);
    } else {
      cursors.TakeAddresses(lanes, operand.slot, out[i]);
    }
  }
}

}  // namespace heddle::replay
