// Control bits of machine code in the reference core: pauses, and barriers that instructions raise and wait for.
#include <algorithm>
#include <array>
#include <optional>

#include "tests/reference/reference_ibuffer_core.h"
#include "traces/format/program/control_bits.h"

namespace heddle::replay {

using trace::ControlBits;

bool ReferenceBufferCore::ByControlBits() const {
  return launch_.machine->core().dependences() == machine::v1::Core::CONTROL_BITS;
}

// --- pauses

void ReferenceBufferCore::NotePause(SlotId slot, const Lanes& lanes, Pc pc) {
  const std::optional<ControlBits> bits = trace::UnpackControl(program().instruction(pc).control());
  if (!bits.has_value() || one_in_flight()) return;
  Cycle pause = bits->stall;
  if (ByControlBits() && bits->yield && pause < 2) pause = 2;  // the next cycle is for others
  if (pause < 2) return;
  pauses_[slot] = {formation_.table().formed[slot], now_ + pause};
  ForEachLaneOf(lanes.mask, [&](int lane) { thread_pauses_[lanes.thread[lane]] = now_ + pause; });
}

// By control bits a thread takes its pause along; else it is the warp's.
bool ReferenceBufferCore::Paused(SlotId slot) const {
  if (!ByControlBits()) {
    const auto found = pauses_.find(slot);
    return found != pauses_.end() && found->second.formed == formation_.table().formed[slot] &&
           found->second.until > now_;
  }
  const Lanes& lanes = formation_.table().lanes[slot];
  bool paused = false;
  ForEachLaneOf(lanes.mask, [&](int lane) {
    const auto found = thread_pauses_.find(lanes.thread[lane]);
    paused |= found != thread_pauses_.end() && found->second > now_;
  });
  return paused;
}

// --- barriers

// What the instruction raises: who waits at a barrier of threads or at a fence raises nothing.
std::vector<ReferenceBufferCore::Raise> ReferenceBufferCore::RaisesOf(Pc pc) const {
  const trace::v1::Instruction& instruction = program().instruction(pc);
  const std::optional<ControlBits> bits = trace::UnpackControl(instruction.control());
  std::vector<Raise> raises;
  if (!bits.has_value() || !ByControlBits() || instruction.op() == trace::v1::OP_BARRIER) return raises;
  if (instruction.op() == trace::v1::OP_FENCE && !IsControl(pc)) return raises;
  for (const bool operands : {false, true}) {
    const uint8_t barrier = operands ? bits->read_barrier : bits->write_barrier;
    if (barrier != ControlBits::kNoBarrier) raises.push_back({.barrier = barrier, .operands = operands});
  }
  return raises;
}

void ReferenceBufferCore::RaiseBarriers(const Work& work) {
  const machine::v1::ExecutionUnits& units = launch_.machine->core().units();
  const uint32_t of_memory =
      units.memory_operand_read_cycles() == 0 ? units.memory_issue_latency() : units.memory_operand_read_cycles();
  for (Raise& raise : RaisesOf(work.at.pc())) {
    raise.number = work.number;
    raise.threads = work.pending;
    raise.holders = work.threads;
    if (raise.operands) {
      AddDue({.kind = Due::Kind::kOperands,
              .at = now_ + (work.to_memory ? of_memory : std::max(1u, units.operand_read_cycles())),
              .sequence = work.sequence,
              .number = work.number});
    }
    raises_.push_back(raise);
  }
}

void ReferenceBufferCore::LowerBarrier(uint64_t number, bool operands) {
  std::erase_if(raises_, [=](const Raise& raise) { return raise.number == number && raise.operands == operands; });
}

ReferenceBufferCore::BarrierWait ReferenceBufferCore::WaitAtBarriers(SlotId slot) const {
  constexpr int kMost = 63;
  const Pc pc = formation_.table().position[slot].pc();
  const std::optional<ControlBits> bits = trace::UnpackControl(program().instruction(pc).control());
  BarrierWait wait;
  if (!bits.has_value()) return wait;
  const Lanes& lanes = formation_.table().lanes[slot];
  std::map<int, std::set<ThreadId>> by_hw_warp;
  ForEachLaneOf(lanes.mask, [&](int lane) { by_hw_warp[lanes.thread[lane] / warp_size()].insert(lanes.thread[lane]); });
  for (const auto& [hw_warp, threads] : by_hw_warp) {
    std::array<int, ControlBits::kBarriers> count{};
    for (const Raise& raise : raises_) {
      const bool meets = std::any_of(threads.begin(), threads.end(),
                                     [&raise = raise](ThreadId thread) { return raise.threads.contains(thread); });
      if (!meets) continue;
      ++count[raise.barrier];
      if ((bits->wait_mask >> raise.barrier & 1) == 0) continue;
      wait.blocked = true;
      if (!raise.operands) wait.results.push_back(&works_.at(raise.number));
    }
    for (const Raise& raise : RaisesOf(pc)) wait.blocked |= ++count[raise.barrier] > kMost;
  }
  return wait;
}

}  // namespace heddle::replay
