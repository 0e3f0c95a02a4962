// The second half of ReferenceCore: selection, latencies and statistics.
#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "tests/replay/reference/reference_core.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

template <typename Function>
void ForEachLane(LaneMask mask, Function function) {
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    if ((mask >> lane & 1) != 0) function(lane);
  }
}

}  // namespace

SlotSet ReferenceCore::Eligible(int port, const std::set<SlotId>& refused) const {
  const WarpTable& table = formation_.table();
  int highest = -1;
  for (size_t slot = 0; slot < table.state.size(); ++slot) {
    if (table.state[slot] != SlotState::kOffered || table.port[slot] != port) continue;
    if (!refused.contains(static_cast<SlotId>(slot))) highest = std::max<int>(highest, table.priority[slot]);
  }
  SlotSet eligible;
  for (size_t slot = 0; slot < table.state.size(); ++slot) {
    if (table.state[slot] != SlotState::kOffered || table.port[slot] != port) continue;
    if (refused.contains(static_cast<SlotId>(slot)) || table.priority[slot] != highest) continue;
    eligible.Insert(static_cast<SlotId>(slot));
  }
  return eligible;
}

void ReferenceCore::Select(Cycle now) {
  if (resident() == 0) return;
  std::vector<Slotting> slottings;  // of a scheduler cycle
  if (now % issue_cycles_ == 0) {
    for (size_t port = 0; port < ports_.size(); ++port) slottings.push_back(SelectPort(now, static_cast<int>(port)));
  }
  TellArrivals();
  OpenBarriers(now);
  for (Slotting slotting : slottings) CountSchedulerCycle(slotting);
  CountCycle(now);
}

// What the issues of the cycle set off, in their order.
void ReferenceCore::TellArrivals() {
  for (SlotId slot : issued_now_) {
    const Flight& flight = flights_.at(slot);
    if (flight.barrier) {
      const uint32_t barrier = program().instruction(flight.pc).barrier_id();
      if ((interests_ & kBarriers) != 0) policy_->BarrierArrived(slot, barrier, formation_.editor());
      for (const auto& scheduler : schedulers_) scheduler->BarrierArrived(slot);
    } else if (flight.off_core) {
      if ((interests_ & kLongLatency) != 0) policy_->LongLatency(slot, formation_.editor());
      schedulers_[formation_.table().port[slot]]->LongLatencyStarted(slot);
    }
  }
  issued_now_.clear();
}

ReferenceCore::Slotting ReferenceCore::SelectPort(Cycle now, int port) {
  if (Eligible(port, {}).empty()) return Slotting::kNothing;
  if (ports_[port].free_at > now) return Slotting::kStalled;
  // Write-back is blocked and the stages of the pipeline are full.
  if (queue_.size() + asked_.has_value() > launch_.machine->core().pipeline_depth()) return Slotting::kStalled;
  int penalty = 0;
  if (Choose(now, port, penalty).empty()) return Slotting::kStalled;
  ports_[port].busy_until = now + issue_cycles_;
  ports_[port].free_at = now + issue_cycles_ + penalty;
  return Slotting::kIssued;
}

std::vector<SlotId> ReferenceCore::Choose(Cycle now, int port, int& penalty) {
  const WarpTable& table = formation_.table();
  std::vector<SlotId> chosen;
  std::set<SlotId> refused;
  int room = warp_size();
  while (static_cast<int>(chosen.size()) < policy_->issue_slots() && room > 0) {
    const SlotSet eligible = Eligible(port, refused);
    if (eligible.empty()) break;
    const SlotId pick = schedulers_[port]->Pick(eligible);
    if (pick == kNoSlot) break;  // the scheduler lets none of them issue
    if (!eligible.Contains(pick)) {
      status_ = absl::InternalError("scheduler " + launch_.scheduler->info.name + " picked slot " +
                                    std::to_string(pick) + ", which is not eligible");
      break;
    }
    refused.insert(pick);  // asked once per scheduler cycle
    if (table.thread_count(pick) > room) continue;
    // Instructions of the policy's own are counted apart, so they issue alone.
    if (!chosen.empty() && (formation_.inserted(pick) != 0 || flights_.at(chosen[0]).inserted)) continue;
    if (!chosen.empty() && !policy_->MayIssueWith(chosen, pick, table)) continue;
    if ((interests_ & kIssue) != 0 && policy_->AcceptIssue(pick, formation_.editor()) == Verdict::kRefused) {
      if (policy_->issue_slots() == 1) break;  // the port's cycle is lost
      continue;
    }
    if (table.state[pick] != SlotState::kOffered) {
      if (policy_->issue_slots() == 1) break;
      continue;
    }
    penalty = std::max(penalty, policy_->IssuePenalty(pick, table));
    room -= table.thread_count(pick);
    chosen.push_back(pick);
    StartInstruction(now, pick);
  }
  if (!chosen.empty()) Announce(now, port, chosen);
  return chosen;
}

void ReferenceCore::StartInstruction(Cycle now, SlotId slot) {
  const WarpTable& table = formation_.table();
  Flight flight;
  flight.pc = table.position[slot].pc();
  flight.outstanding = table.lanes[slot].mask;
  flight.inserted = formation_.inserted(slot) > 0;
  flight.barrier = !flight.inserted && program().instruction(flight.pc).op() == v1::OP_BARRIER;
  if (flight.barrier) {
    for (int place : PlacesOf(slot)) flight.release[place] = kNever;
  }
  const uint64_t order = issues_++;
  for (const auto& [due, lanes] : Latencies(now, slot, flight)) pending_.push_back({due, order, slot, lanes, false});
  formation_.Issue(slot);
  schedulers_[table.port[slot]]->Issued(slot);
  flights_[slot] = std::move(flight);
  issued_now_.push_back(slot);
}

v1::MemorySpace ReferenceCore::SpaceOf(uint64_t address) const {
  for (const v1::AddressWindow& window : launch_.reader->header().window()) {
    if (address >= window.base() && address - window.base() < window.bytes()) return window.space();
  }
  return v1::SPACE_GLOBAL;
}

std::map<Cycle, LaneMask> ReferenceCore::Latencies(Cycle now, SlotId slot, Flight& flight) const {
  const Lanes& lanes = formation_.table().lanes[slot];
  const machine::v1::Core& core = launch_.machine->core();
  const machine::v1::FixedLatency& fixed = launch_.machine->memory().fixed();
  const v1::Instruction& instruction = program().instruction(flight.pc);
  const bool is_memory = instruction.op() == v1::OP_LOAD || instruction.op() == v1::OP_STORE ||
                         instruction.op() == v1::OP_ATOMIC || instruction.op() == v1::OP_TEXTURE;
  if (flight.inserted || !is_memory) {
    if (!flight.inserted) {
      if (const uint32_t scripted = ScriptedLatency(flight.pc, lanes)) return {{now + scripted, lanes.mask}};
    }
    return {{now + core.pipeline_depth(), lanes.mask}};
  }
  std::map<Cycle, LaneMask> done;
  bool off_core = false;
  ForEachLane(lanes.mask, [&](int lane) {
    const Step& step = (*threads_[lanes.thread[lane]].steps)[threads_[lanes.thread[lane]].next];
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
    flight.memory |= space != v1::SPACE_SHARED;
    off_core |= space == v1::SPACE_GLOBAL || space == v1::SPACE_LOCAL || space == v1::SPACE_TEXTURE ||
                (instruction.op() == v1::OP_ATOMIC && space != v1::SPACE_SHARED);
  });
  if (const uint32_t scripted = ScriptedLatency(flight.pc, lanes)) return {{now + scripted, lanes.mask}};
  flight.off_core = off_core;
  return done;
}

// The latency that the machine file gives to this instruction of these threads; 0 if it gives none.
uint32_t ReferenceCore::ScriptedLatency(Pc pc, const Lanes& lanes) const {
  for (const machine::v1::ScriptedLatency& scripted : launch_.machine->core().scripted_latency()) {
    if (!scripted.any_instruction() && scripted.instruction() != pc) continue;
    bool matches = false;
    ForEachLane(lanes.mask, [&](int lane) {
      const uint32_t index = threads_[lanes.thread[lane]].index;
      matches |= index >= scripted.first_thread() && index <= scripted.last_thread();
    });
    if (matches) return scripted.cycles();
  }
  return 0;
}

// ---------------------------------------------------------------------------------------------------------- statistics

void ReferenceCore::Announce(Cycle now, int port, const std::vector<SlotId>& chosen) {
  std::vector<IssueEvent::Lane> lanes;
  const WarpTable& table = formation_.table();
  for (SlotId slot : chosen) {
    if (flights_.at(slot).inserted) {
      ++statistics_.inserted_instructions;
      continue;
    }
    ForEachLane(table.lanes[slot].mask, [&](int lane) {
      const Thread& thread = threads_[table.lanes[slot].thread[lane]];
      IssueEvent::Lane entry;
      entry.lane = policy_->issue_slots() > 1 ? static_cast<uint32_t>(lanes.size()) : static_cast<uint32_t>(lane);
      entry.pc = (*thread.steps)[thread.next].pc;
      entry.block = (*launch_.blocks)[places_[thread.place]->recorded].block;
      entry.thread = thread.index;
      lanes.push_back(entry);
      statistics_.barriers += flights_.at(slot).barrier;
    });
  }
  if (lanes.empty()) return;
  ++statistics_.warp_instructions;
  statistics_.thread_instructions += lanes.size();
  ++statistics_.issues_by_size[lanes.size()];
  if (launch_.observer == nullptr) return;
  IssueEvent event;
  event.launch = launch_.launch;
  event.sm = sm_;
  event.port = static_cast<uint32_t>(port);
  event.cycle = now;
  event.lanes = lanes;
  launch_.observer->Issued(event);
}

// W0.Mem of metrics.md section 3.
bool ReferenceCore::AllWaitForMemory() const {
  bool any = false;
  for (size_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].place < 0 || threads_[t].done()) continue;
    const SlotId slot = formation_.slot_of(static_cast<ThreadId>(t));
    const auto flight = flights_.find(slot);
    if (slot == kNoSlot || flight == flights_.end() || !flight->second.memory) return false;
    any = true;
  }
  return any;
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
      return ThreadState::kInactive;
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
  for (size_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].place >= 0) ++states[static_cast<int>(Classify(static_cast<ThreadId>(t)))];
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
}

namespace {

void AddCounters(std::span<const uint64_t> values, const std::vector<CounterSpec>& specs,
                 std::map<std::string, uint64_t>& sum) {
  for (size_t i = 0; i < specs.size(); ++i) {
    uint64_t& total = sum[specs[i].name];
    const uint64_t value = i < values.size() ? values[i] : 0;
    total = specs[i].combine == CounterSpec::Combine::kSum ? total + value : std::max(total, value);
  }
}

}  // namespace

void ReferenceCore::AddStatistics(ReferenceStatistics& sum) const {
  const ReferenceStatistics& own = statistics_;
  sum.warp_instructions += own.warp_instructions;
  sum.thread_instructions += own.thread_instructions;
  sum.inserted_instructions += own.inserted_instructions;
  sum.barriers += own.barriers;
  sum.scheduler_total += own.scheduler_total;
  sum.scheduler_issued += own.scheduler_issued;
  sum.scheduler_stall += own.scheduler_stall;
  sum.scheduler_memory += own.scheduler_memory;
  sum.scheduler_idle += own.scheduler_idle;
  sum.idle_cycles += own.idle_cycles;
  sum.idle_dependency += own.idle_dependency;
  sum.idle_barrier += own.idle_barrier;
  sum.idle_inactive += own.idle_inactive;
  sum.idle_reconverging += own.idle_reconverging;
  sum.idle_finished += own.idle_finished;
  sum.idle_ready += own.idle_ready;
  sum.port_cycles += own.port_cycles;
  sum.busy_port_cycles += own.busy_port_cycles;
  for (const auto& [size, count] : own.issues_by_size) sum.issues_by_size[size] += count;
  AddCounters(policy_->counters(), launch_.divergence->info.counters, sum.divergence_counters);
  for (const auto& scheduler : schedulers_) {
    AddCounters(scheduler->counters(), launch_.scheduler->info.counters, sum.scheduler_counters);
  }
}

}  // namespace heddle::replay
