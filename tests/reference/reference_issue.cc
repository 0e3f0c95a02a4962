// The second half of ReferenceCore: selection, latencies and statistics.
#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "tests/reference/reference_core.h"

namespace heddle::replay {

namespace v1 = trace::v1;

void ReferenceCore::Select(Cycle now) {
  if (resident() == 0) return;
  std::vector<Slotting> slottings;  // of a scheduler cycle
  if (now % issue_cycles_ == 0) {
    for (size_t port = 0; port < ports_.size(); ++port) slottings.push_back(SelectPort(now, static_cast<int>(port)));
  }
  NotifyArrivals();
  OpenBarriers(now);
  for (Slotting slotting : slottings) CountSchedulerCycle(slotting);
  if (!slottings.empty()) {
    CountActivity(std::ranges::count(slottings, Slotting::kIssued) != 0,
                  std::ranges::count(slottings, Slotting::kStalled) != 0, AllWaitForMemory(), AnyInFlight(),
                  static_cast<uint64_t>(issue_cycles_));
  }
  CountCycle(now);
}

// What the issues of the cycle set off, in their order.
void ReferenceCore::NotifyArrivals() {
  for (SlotId slot : issued_now_) {
    const InFlight& in_flight = in_flight_.at(slot);
    if (in_flight.barrier) {
      const uint32_t barrier = program().instruction(in_flight.pc).barrier_id();
      if ((interests_ & kBarriers) != 0) policy_->BarrierArrived(slot, barrier, formation_.editor());
      for (const auto& scheduler : schedulers_) scheduler->BarrierArrived(slot);
    } else if (in_flight.off_core) {
      if ((interests_ & kLongLatency) != 0) policy_->LongLatency(slot, formation_.editor());
      schedulers_[formation_.table().port[slot]]->LongLatencyStarted(slot);
    }
  }
  issued_now_.clear();
}

// Long waits that have ended in this cycle, by slot.
void ReferenceCore::NotifyEnds() {
  const WarpTable& table = formation_.table();
  for (const auto& [slot, formed] : ended_) {
    const bool same = table.state[slot] != SlotState::kFree && table.formed[slot] == formed;
    if (same) policy_->LongLatencyEnded(slot, formation_.editor());
  }
  ended_.clear();
}

Lack ReferenceCore::LackOf(SlotId slot) const {
  const WarpTable& table = formation_.table();
  if (table.state[slot] == SlotState::kFree || table.lanes[slot].mask == 0) return Lack::kWarp;
  if (table.state[slot] == SlotState::kResolving) return Lack::kDecision;
  if (table.state[slot] == SlotState::kBarrier) return Lack::kBarrier;
  if (table.state[slot] != SlotState::kInFlight) return ShowsRoom(table.port[slot]) ? Lack::kNothing : Lack::kUnit;
  const InFlight& in_flight = in_flight_.at(slot);
  if (in_flight.inserted) return Lack::kResult;
  const v1::OpClass op = program().instruction(in_flight.pc).op();
  if (in_flight.barrier || op == v1::OP_FENCE) return Lack::kBarrier;
  if (in_flight.off_core) return Lack::kFarMemory;
  const bool memory = op == v1::OP_LOAD || op == v1::OP_STORE || op == v1::OP_ATOMIC || op == v1::OP_TEXTURE;
  return memory && Executing(table.lanes[slot]) != 0 ? Lack::kMemory : Lack::kResult;
}

ReferenceCore::Slotting ReferenceCore::SelectPort(Cycle now, int port) {
  if (Eligible(port, [](SlotId) { return true; }).empty()) return Slotting::kNothing;
  if (ports_[port].free_at > now) return Slotting::kStalled;
  if (!HasRoom(port)) return Slotting::kStalled;
  int penalty = 0;
  if (Choose(now, port, penalty).empty()) return Slotting::kStalled;
  ports_[port].busy_until = now + issue_cycles_;
  ports_[port].free_at = now + issue_cycles_ + penalty;
  return Slotting::kIssued;
}

// Not if write-back is blocked and the stages of the pipeline are full.
bool ReferenceCore::HasRoom(int /*port*/) const {
  return queue_.size() + asked_.has_value() <= launch_.PipelineDepth();
}

// Fung's thesis, section 5.1.1.
int ReferenceCore::RegisterBankPenalty(SlotId slot) const {
  const machine::v1::ThesisPipeline& pipeline = launch_.machine->core().thesis();
  std::map<int, int> threads_of_bank;
  const Lanes& lanes = formation_.table().lanes[slot];
  ForEachLaneOf(lanes.mask, [&](int lane) { ++threads_of_bank[lanes.thread[lane] % warp_size()]; });
  int most = 0;
  for (const auto& [bank, threads] : threads_of_bank) most = std::max(most, threads);
  if (most <= 1) return 0;
  const int unit = pipeline.bank_penalty_per_issue() ? issue_cycles_ : 1;
  switch (pipeline.register_bank_penalty()) {
    case machine::v1::ThesisPipeline::BANK_PENALTY_M:
      return most * unit;
    case machine::v1::ThesisPipeline::BANK_PENALTY_M_MINUS_1:
      return (most - 1) * unit;
    default:
      return 0;
  }
}

std::vector<SlotId> ReferenceCore::Choose(Cycle now, int port, int& penalty) {
  const WarpTable& table = formation_.table();
  std::vector<SlotId> chosen;
  std::set<SlotId> refused;
  int room = warp_size();
  uint32_t most_issues = 1;  // that one of the slots takes
  while (static_cast<int>(chosen.size()) < policy_->issue_slots() && room > 0) {
    const SlotSet eligible = Eligible(port, [&](SlotId slot) { return !refused.contains(slot); });
    if (eligible.empty()) break;
    const SlotId pick = schedulers_[port]->Pick(eligible);
    if (pick == kNoSlot) break;  // the scheduler lets none of them issue
    if (!eligible.Contains(pick)) {
      status_ = absl::InternalError("scheduler " + launch_.policies->scheduler.name() + " picked slot " +
                                    std::to_string(pick) + ", which is not eligible");
      break;
    }
    refused.insert(pick);  // asked once per scheduler cycle
    if (table.thread_count(pick) > room) continue;
    // Instructions of the policy's own are counted apart, so they issue alone.
    if (!chosen.empty() && (formation_.inserted(pick) != 0 || in_flight_.at(chosen[0]).inserted)) continue;
    if (!chosen.empty() && !policy_->MayIssueWith(chosen, pick, table)) continue;
    if ((interests_ & kIssue) != 0 && policy_->AcceptIssue(pick, formation_.editor()) == Verdict::kRefused) {
      if (policy_->issue_slots() == 1) break;  // the port's cycle is lost
      continue;
    }
    if (table.state[pick] != SlotState::kOffered) {
      if (policy_->issue_slots() == 1) break;
      continue;
    }
    most_issues = std::max(most_issues, formation_.inserted(pick) != 0 ? 1 : IssuesPerValue(table.lanes[pick]));
    penalty = std::max(penalty, policy_->IssuePenalty(pick, table));
    if (policy_->issue_slots() == 1) penalty = std::max(penalty, RegisterBankPenalty(pick));
    room -= table.thread_count(pick);
    chosen.push_back(pick);
    StartInstruction(now, pick);
  }
  if (!chosen.empty() && policy_->issue_slots() > 1) policy_->IssuedTogether(chosen, table);
  penalty += static_cast<int>(most_issues - 1) * static_cast<int>(issue_cycles_);
  if (!chosen.empty()) Entered(now, port, chosen, penalty);
  if (!chosen.empty()) Announce(now, port, chosen, in_flight_.at(chosen[0]).inserted);
  return chosen;
}

void ReferenceCore::StartInstruction(Cycle now, SlotId slot) {
  const WarpTable& table = formation_.table();
  InFlight in_flight;
  in_flight.pc = table.position[slot].pc();
  in_flight.outstanding = table.lanes[slot].mask;
  in_flight.inserted = formation_.inserted(slot) > 0;
  in_flight.barrier = !in_flight.inserted && program().instruction(in_flight.pc).op() == v1::OP_BARRIER;
  if (in_flight.barrier) ArriveAtBarrier(slot);
  Start(now, slot, in_flight);
  formation_.Issue(slot);
  schedulers_[table.port[slot]]->Issued(slot);
  in_flight_[slot] = in_flight;
  issued_now_.push_back(slot);
}

void ReferenceCore::Start(Cycle now, SlotId slot, InFlight& in_flight) {
  const uint64_t order = issues_++;
  for (const auto& [due, lanes] : Latencies(now, slot, in_flight)) pending_.push_back({due, order, slot, lanes, false});
}

v1::MemorySpace ReferenceCore::SpaceOf(uint64_t address) const {
  for (const v1::AddressWindow& window : launch_.reader->header().window()) {
    if (address >= window.base() && address - window.base() < window.bytes()) return window.space();
  }
  return v1::SPACE_GLOBAL;
}

std::map<Cycle, LaneMask> ReferenceCore::Latencies(Cycle now, SlotId slot, InFlight& in_flight) const {
  const Lanes& lanes = formation_.table().lanes[slot];
  const machine::v1::FixedLatency& fixed = launch_.machine->memory().fixed();
  const v1::Instruction& instruction = program().instruction(in_flight.pc);
  const bool is_memory = instruction.op() == v1::OP_LOAD || instruction.op() == v1::OP_STORE ||
                         instruction.op() == v1::OP_ATOMIC || instruction.op() == v1::OP_TEXTURE;
  const LaneMask accessing = is_memory && !in_flight.inserted ? Executing(lanes) : 0;
  if (accessing == 0) {
    if (!in_flight.inserted) {
      if (const uint32_t scripted = ScriptedLatency(in_flight.pc, lanes)) return {{now + scripted, lanes.mask}};
    }
    return {{now + launch_.PipelineDepth(), lanes.mask}};
  }
  std::map<Cycle, LaneMask> done;
  bool off_core = false;
  in_flight.outstanding = accessing;
  ForEachLaneOf(accessing, [&](int lane) {
    const ScriptStep& step = (*threads_[lanes.thread[lane]].steps)[threads_[lanes.thread[lane]].next];
    v1::MemorySpace space = instruction.space();
    if (space == v1::SPACE_GENERIC && step.has_address) space = SpaceOf(step.address);
    uint32_t cycles = fixed.global_cycles();
    if (space == v1::SPACE_SHARED) cycles = fixed.shared_cycles();
    if (space == v1::SPACE_LOCAL) cycles = fixed.local_cycles();
    if (space == v1::SPACE_CONSTANT) cycles = fixed.constant_cycles();
    if (space == v1::SPACE_PARAM) cycles = fixed.param_cycles();
    if (space == v1::SPACE_TEXTURE) cycles = fixed.texture_cycles();
    // Atomics are done where the data are: in shared memory, or at the second-level cache.
    if (instruction.op() == v1::OP_ATOMIC && space != v1::SPACE_SHARED) cycles = fixed.atomic_cycles();
    done[now + cycles] |= LaneMask{1} << lane;
    in_flight.memory |= space != v1::SPACE_SHARED;
    off_core |= space == v1::SPACE_GLOBAL || space == v1::SPACE_LOCAL || space == v1::SPACE_TEXTURE ||
                (instruction.op() == v1::OP_ATOMIC && space != v1::SPACE_SHARED);
  });
  if (const uint32_t scripted = ScriptedLatency(in_flight.pc, lanes)) {
    in_flight.outstanding = lanes.mask;
    return {{now + scripted, lanes.mask}};
  }
  in_flight.off_core = off_core;
  return done;
}

// The latency that the machine file gives to this instruction of these threads; 0 if it gives none.
uint32_t ReferenceCore::ScriptedLatency(Pc pc, const Lanes& lanes) const {
  for (const machine::v1::ScriptedLatency& scripted : launch_.machine->core().scripted_latency()) {
    if (!scripted.any_instruction() && scripted.instruction() != pc) continue;
    bool matches = false;
    ForEachLaneOf(lanes.mask, [&](int lane) {
      const uint32_t index = threads_[lanes.thread[lane]].index;
      matches |= index >= scripted.first_thread() && index <= scripted.last_thread();
    });
    if (matches) return scripted.cycles();
  }
  return 0;
}

// ---------------------------------------------------------------------------------------------------------- statistics

// W0.Mem: Fung's thesis, figure 6.3.
bool ReferenceCore::AllWaitForMemory() const {
  bool any = false;
  for (size_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].place < 0 || threads_[t].done()) continue;
    const SlotId slot = formation_.slot_of(static_cast<ThreadId>(t));
    if (slot != kNoSlot && BlockPaused(slot)) continue;
    const auto in_flight = in_flight_.find(slot);
    if (slot == kNoSlot || in_flight == in_flight_.end() || !in_flight->second.memory) return false;
    any = true;
  }
  return any;
}

bool ReferenceCore::AnyInFlight() const {
  for (size_t i = 0; i < formation_.table().state.size(); ++i) {
    const SlotId slot = static_cast<SlotId>(i);
    if (formation_.table().state[slot] == SlotState::kInFlight && !BlockPaused(slot)) return true;
  }
  return false;
}

void ReferenceCore::CountSchedulerCycle(Slotting slotting) {
  ++statistics_.scheduler_total;
  switch (slotting) {
    case Slotting::kIssued:
      ++statistics_.scheduler_issued;
      break;
    case Slotting::kStalled:
      ++statistics_.scheduler_stall;
      break;
    case Slotting::kNothing:
      ++(AllWaitForMemory() ? statistics_.scheduler_memory : statistics_.scheduler_idle);
      break;
  }
}

ThreadState ReferenceCore::Classify(ThreadId hardware_thread) const {
  if (threads_[hardware_thread].done()) return ThreadState::kFinished;
  const SlotId slot = formation_.slot_of(hardware_thread);
  if (slot == kNoSlot) return formation_.StateOfThread(hardware_thread);
  switch (formation_.table().state[slot]) {
    case SlotState::kOffered:
      return ThreadState::kReady;
    case SlotState::kBarrier:
      return ThreadState::kBarrier;
    case SlotState::kParked:
      switch (formation_.table().held[slot]) {
        case HeldReason::kInactive:
          return ThreadState::kInactive;
        case HeldReason::kReconverging:
          return ThreadState::kReconverging;
        case HeldReason::kReady:
          return ThreadState::kReady;
        case HeldReason::kDependency:
          break;
      }
      return ThreadState::kDependency;
    default:
      return ThreadState::kDependency;
  }
}

void ReferenceCore::CountCycle(Cycle now) {
  bool held = false;
  for (const Port& port : ports_) {
    ++statistics_.port_cycles;
    statistics_.busy_port_cycles += port.busy_until > now;
    held |= port.free_at > now;
  }
  std::array<uint64_t, kThreadStates> states{};
  uint64_t paused = 0;
  for (size_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].place < 0) continue;
    ++states[static_cast<int>(Classify(static_cast<ThreadId>(t)))];
    const SlotId slot = formation_.slot_of(static_cast<ThreadId>(t));
    paused += slot != kNoSlot && formation_.table().state[slot] == SlotState::kOffered && BlockPaused(slot);
  }
  if (states != formation_.thread_states() && status_.ok()) {
    status_ = absl::InternalError("cycle " + std::to_string(now) + ": the formation's thread states are not those of " +
                                  "the threads one by one");
  }
  if (held) return;
  ++statistics_.idle_cycles;
  statistics_.idle_dependency += states[static_cast<int>(ThreadState::kDependency)];
  statistics_.idle_barrier += states[static_cast<int>(ThreadState::kBarrier)];
  statistics_.idle_inactive += states[static_cast<int>(ThreadState::kInactive)];
  statistics_.idle_reconverging += states[static_cast<int>(ThreadState::kReconverging)];
  statistics_.idle_finished += states[static_cast<int>(ThreadState::kFinished)];
  statistics_.idle_ready += states[static_cast<int>(ThreadState::kReady)];
  statistics_.idle_paused += paused;
}

}  // namespace heddle::replay
