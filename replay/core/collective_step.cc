#include "replay/core/collective_step.h"

#include <bit>

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
    if (to.constant) continue;
    to.slot = SlotOf(program, FindColumn(program, pc, static_cast<uint32_t>(i)));
    if (to.kind == trace::v1::Operand::UNIFORM) uniform_slots.push_back(to.slot);
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

uint32_t TakeUniformValues(const CollectiveStep& step, const Lanes& lanes, ThreadCursors& cursors) {
  OperandValues values;
  const size_t registers = step.uniform_slots.size();
  for (size_t i = 0; i < registers; ++i) cursors.TakeAddresses(lanes, step.uniform_slots[i], values[i]);
  uint32_t different = 0;
  for (LaneMask left = lanes.mask; left != 0; ++different) {
    const int first = std::countr_zero(left);
    LaneMask others = 0;  // that hold something else
    for (size_t i = 0; i < registers; ++i) {
      const uint64_t value = values[i][static_cast<size_t>(first)];
      for (LaneMask mask = left; mask != 0; mask &= mask - 1) {
        const int lane = std::countr_zero(mask);
        others |= LaneMask{values[i][static_cast<size_t>(lane)] != value} << lane;
      }
    }
    left = others;
  }
  return different;
}

}  // namespace heddle::replay
