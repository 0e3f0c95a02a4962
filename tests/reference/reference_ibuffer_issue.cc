// Selection and issue of the reference core with instruction buffers (steps 5 and 6).
#include <algorithm>
#include <string>
#include <utility>

#include "tests/reference/reference_ibuffer_core.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

bool IsAccess(const v1::Instruction& instruction) {
  return instruction.op() == v1::OP_LOAD || instruction.op() == v1::OP_STORE || instruction.op() == v1::OP_ATOMIC ||
         instruction.op() == v1::OP_TEXTURE;
}

}  // namespace

void ReferenceBufferCore::SelectPort(int port) {
  SyncBuffers();
  if (port_free_[port] > now_) return;
  const SlotSet eligible = Eligible(port, [&](SlotId slot) { return MayIssue(slot); });
  if (eligible.empty()) return;
  const SlotId pick = schedulers_[port]->Pick(eligible);
  if (pick == kNoSlot) return;
  if (!eligible.Contains(pick)) {
    status_ = absl::InternalError("scheduler " + launch_.policies->scheduler.name() + " picked slot " +
                                  std::to_string(pick) + ", which is not eligible");
    return;
  }
  if ((interests_ & kIssue) != 0 && policy_->AcceptIssue(pick, formation_.editor()) == Verdict::kRefused) return;
  LookAgain();
  if (formation_.table().state[pick] != SlotState::kOffered) return;
  port_free_[port] = now_ + 1 + static_cast<Cycle>(policy_->IssuePenalty(pick, formation_.table()));
  issued_[port] = pick;
  last_issued_[port] = pick;
  issued_formed_[port] = formation_.table().formed[pick];
  Issue(port, pick);
  LookAgain();
}

bool ReferenceBufferCore::MayIssue(SlotId slot) const {
  if (std::find(issued_.begin(), issued_.end(), slot) != issued_.end()) return false;
  if (formation_.inserted(slot) > 0) return HasUnit(slot);
  if (one_in_flight()) {
    return now_ >= offered_.at(slot) + launch_.machine->core().ibuffer().reformed_warp_cycles() && HasUnit(slot);
  }
  if (Paused(slot) || buffers_[slot].entries == 0 || !HasUnit(slot)) return false;
  return ByControlBits() ? !WaitAtBarriers(slot).blocked : WritersOf(slot, true, true).empty();
}

bool ReferenceBufferCore::HasUnit(SlotId slot) const {
  const v1::Instruction& instruction = program().instruction(formation_.table().position[slot].pc());
  if (formation_.inserted(slot) == 0 && IsAccess(instruction)) {
    return now_ >= memory_input_free_ && memory_->StageFree();
  }
  const bool inserted = formation_.inserted(slot) > 0;
  return units_.HasRoom(units_.NeedOf(inserted ? nullptr : &instruction, formation_.table().lanes[slot].mask), now_);
}

uint32_t ReferenceBufferCore::HwWarpOf(const Lanes& lanes) const {
  int lowest = 0;
  while ((lanes.mask >> lowest & 1) == 0) ++lowest;
  return lanes.thread[lowest] / static_cast<uint32_t>(warp_size());
}

// The threads whose registers an instruction of these lanes uses: a scoreboard is one per hardware warp where a warp is
// of one hardware warp, and one per thread where it is of several, or where the policy asks for more.
std::set<ThreadId> ReferenceBufferCore::Owners(const Lanes& lanes) const {
  std::set<ThreadId> own;
  std::set<int> hw_warps;
  ForEachLaneOf(lanes.mask, [&](int lane) {
    own.insert(lanes.thread[lane]);
    hw_warps.insert(lanes.thread[lane] / warp_size());
  });
  if (hw_warps.size() != 1 || Scope() != ScoreboardScope::kWarp) return own;
  for (int lane = 0; lane < warp_size(); ++lane) {
    const ThreadId thread = static_cast<ThreadId>(*hw_warps.begin() * warp_size() + lane);
    if (threads_[thread].place >= 0) own.insert(thread);
  }
  return own;
}

// Of the owners those whose registers are pending: where each thread has a scoreboard, those that carry it out.
std::set<ThreadId> ReferenceBufferCore::PendingFor(const Work& work) const {
  if (Scope() != ScoreboardScope::kThread) return work.threads;
  std::set<ThreadId> executing;
  ForEachLaneOf(work.inserted ? work.lanes.mask : Executing(work.lanes),
                [&](int lane) { executing.insert(work.lanes.thread[lane]); });
  return executing;
}

std::vector<uint32_t> ReferenceBufferCore::Destinations(const v1::Instruction& instruction) const {
  const std::vector<uint32_t> written(instruction.dst().begin(), instruction.dst().end());
  if (!launch_.machine->core().reductions() || instruction.op() != v1::OP_ATOMIC) return written;
  for (const v1::Instruction& other : program().proto().instruction()) {
    for (const uint32_t number : other.src()) {
      if (std::find(written.begin(), written.end(), number) != written.end()) return written;
    }
  }
  return {};
}

std::vector<const ReferenceBufferCore::Work*> ReferenceBufferCore::WritersOf(SlotId slot, bool sources,
                                                                             bool destinations) const {
  const Position at = formation_.table().position[slot];
  const v1::Instruction& instruction = program().instruction(at.pc());
  std::set<Register> used;
  if (sources) {
    for (const uint32_t number : instruction.src()) used.insert({at.depth(), number});
  }
  if (destinations) {
    for (const uint32_t number : Destinations(instruction)) used.insert({at.depth(), number});
  }
  std::vector<const Work*> writers;
  const Lanes& lanes = formation_.table().lanes[slot];
  for (const auto& [number, work] : works_) {
    bool writes = false;
    for (const Register& written : work.writes) writes |= used.contains(written);
    bool meets = false;
    ForEachLaneOf(lanes.mask, [&](int lane) { meets |= work.pending.contains(lanes.thread[lane]); });
    if (writes && meets) writers.push_back(&work);
  }
  return writers;
}

void ReferenceBufferCore::Issue(int port, SlotId slot) {
  const WarpTable& table = formation_.table();
  const Lanes lanes = table.lanes[slot];
  const Position at = table.position[slot];
  const v1::Instruction& instruction = program().instruction(at.pc());
  Work work;
  work.number = numbers_++;
  work.sequence = sequence_++;
  work.slot = slot;
  work.at = at;
  work.inserted = formation_.inserted(slot) > 0;
  work.control = !work.inserted && HoldsForControl(at.pc());
  const bool decides = !work.inserted && IsControl(at.pc()) && !work.control;
  work.to_memory = !work.inserted && IsAccess(instruction);
  const LaneMask accessing = work.to_memory ? Executing(lanes) : 0;
  work.access = accessing != 0;
  work.store = work.access && instruction.op() == v1::OP_STORE;
  work.memory = work.access && !work.store;
  work.outstanding = work.access ? accessing : lanes.mask;
  work.lanes = lanes;
  work.threads = Owners(lanes);
  work.pending = PendingFor(work);
  const bool barrier = !work.inserted && instruction.op() == v1::OP_BARRIER;
  work.fence = !work.inserted && instruction.op() == v1::OP_FENCE;
  if (work.fence) {  // it waits for the stores of its own threads
    work.threads.clear();
    ForEachLaneOf(lanes.mask, [&](int lane) { work.threads.insert(lanes.thread[lane]); });
  }
  const bool fence_waits = work.fence && StoresOutstanding(work.threads);
  const bool lanes_go_alone = work.to_memory && instruction.op() != v1::OP_STORE && (interests_ & kLaneReturns) != 0;
  const bool atomic_holds = work.access && instruction.op() == v1::OP_ATOMIC && launch_.machine->core().atomics_hold();
  work.holds =
      !barrier && (work.inserted || work.control || one_in_flight() || fence_waits || lanes_go_alone || atomic_holds);
  work.result_there = !one_in_flight();
  if (!work.inserted && !one_in_flight() && !lanes_go_alone) {
    for (const uint32_t number : Destinations(instruction)) work.writes.insert({at.depth(), number});
  }
  if (!work.inserted && !one_in_flight()) {
    --buffers_[slot].entries;
    buffers_[slot].head = at.pc() + 1;
    NotePause(slot, lanes, at.pc());
    if (!lanes_go_alone) RaiseBarriers(work);
  }
  const Cycle late = work.inserted || one_in_flight() ? 0 : register_file_.Read(port, HwWarpOf(lanes), at.pc(), now_);
  if (late != 0) port_free_[port] = std::max(port_free_[port], now_ + 1 + late);
  Announce(now_, port, {slot}, work.inserted);

  const uint32_t issues = work.inserted ? 1 : IssuesPerValue(lanes);
  port_free_[port] += issues - 1;
  const bool raises =
      std::any_of(raises_.begin(), raises_.end(), [&](const Raise& raise) { return raise.number == work.number; });
  const bool under_way = work.holds || work.to_memory || !work.writes.empty() || raises;
  if (work.to_memory) {
    const uint32_t interval = launch_.machine->core().units().memory_initiation_interval();
    memory_input_free_ = now_ + interval * units_.GroupsOf(lanes.mask) * issues;
    if (work.access) {
      SubmitAccess(works_[work.number] = work, {accessing, lanes.thread});
    } else {
      works_[work.number] = work;
      AddDue({.kind = Due::Kind::kResult, .at = now_ + 1, .sequence = work.sequence, .number = work.number});
    }
  } else {
    const machine::v1::ExecutionUnits& units = launch_.machine->core().units();
    UnitNeed need = units_.NeedOf(work.inserted ? nullptr : &instruction, lanes.mask);
    need.before_last += need.input_cycles * (issues - 1);
    need.input_cycles *= issues;
    work.after_start = static_cast<uint32_t>(late) + need.before_last + need.latency + units.write_back_cycles();
    std::vector<uint32_t> reads;
    for (const uint32_t reg : instruction.src()) {
      if (!work.inserted && std::find(reads.begin(), reads.end(), reg) == reads.end()) reads.push_back(reg);
    }
    const bool started = units_.Issue(work.number, need, reads, HwWarpOf(lanes), now_);
    // A fence has no result of its own, but where the warp holds until one.
    if (under_way && !(fence_waits && !one_in_flight())) {
      if (started) {
        AddDue({.kind = Due::Kind::kResult,
                .at = now_ + work.after_start,
                .sequence = work.sequence,
                .number = work.number});
      }
    }
    if (under_way) works_[work.number] = work;
  }
  formation_.Issue(slot);
  schedulers_[port]->Issued(slot);
  if (barrier) {
    arrived_.push_back(slot);
    ArriveAtBarrier(slot);
    WaitAtBarrier(slot);
    return;
  }
  if (work.holds) return;
  if (asked_.has_value() && (decides || OutcomeOf(slot, lanes, at.pc()).asks)) {
    queue_.push_back({.kind = Due::Kind::kResolve, .slot = slot});
    return;
  }
  Finish(slot, lanes, at.pc(), /*barrier_resolve=*/false, /*take=*/false);
}

void ReferenceBufferCore::SubmitAccess(Work& work, const Lanes& lanes) {
  const v1::Instruction& instruction = program().instruction(work.at.pc());
  std::set<AccessId> taken;
  for (const auto& [number, other] : works_) {
    if (other.access && other.number != work.number) taken.insert(other.id);
  }
  for (const Unacknowledged& store : unacknowledged_) taken.insert(store.id);
  work.id = 0;
  while (taken.contains(work.id)) ++work.id;
  work.beyond_shared = !(instruction.space() == v1::SPACE_SHARED);
  if (work.store) unacknowledged_.push_back({work.id, work.pending});
  bool has_address = false;
  ForEachLaneOf(lanes.mask, [&](int lane) {
    const Thread& thread = threads_[lanes.thread[lane]];
    has_address = (*thread.steps)[thread.next].has_address;
    addresses_[lane] = (*thread.steps)[thread.next].address;
    lane_threads_[lane] = lanes.thread[lane];
  });
  if (instruction.space() == v1::SPACE_GENERIC && has_address) {
    work.beyond_shared = false;
    ForEachLaneOf(lanes.mask, [&](int lane) { work.beyond_shared |= !IsShared(addresses_[lane]); });
  }
  WarpAccess access;
  access.id = work.id;
  access.slot = work.slot;
  access.op = instruction.op();
  access.space = instruction.space();
  access.bytes = instruction.access_bytes();
  access.lanes = lanes.mask;
  access.addresses = has_address ? &addresses_ : nullptr;
  access.threads = &lane_threads_;
  access.pc = work.at.pc();
  access.is_volatile = (program().instruction(work.at.pc()).flags() & v1::FLAG_VOLATILE) != 0;
  memory_->Submit(access, now_);
}

// --- step 6

bool ReferenceBufferCore::IsShared(uint64_t address) const {
  for (const v1::AddressWindow& window : launch_.reader->header().window()) {
    if (address >= window.base() && address - window.base() < window.bytes()) {
      return window.space() == v1::SPACE_SHARED;
    }
  }
  return false;
}

// Barrier arrivals in order of issue, then long waits by slot.
void ReferenceBufferCore::DeliverDeferred() {
  const std::vector<SlotId> arrived = std::move(arrived_);
  arrived_.clear();
  for (const SlotId slot : arrived) {
    const uint32_t barrier = program().instruction(arrivals_.at(slot).pc).barrier_id();
    if ((interests_ & kBarriers) != 0) policy_->BarrierArrived(slot, barrier, formation_.editor());
    for (const auto& scheduler : schedulers_) scheduler->BarrierArrived(slot);
    LookAgain();
  }
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const SlotId slot = static_cast<SlotId>(i);
    if (!WaitsLong(slot) || long_waits_.contains(slot)) continue;
    long_waits_[slot] = {formation_.table().formed[slot], formation_.table().port[slot]};
    if ((interests_ & kLongLatency) != 0) {
      told_waits_[slot] = formation_.table().formed[slot];
      policy_->LongLatency(slot, formation_.editor());
    }
    schedulers_[formation_.table().port[slot]]->LongLatencyStarted(slot);
    LookAgain();
  }
}

// Whether the slot's head is blocked by an access that went beyond the core, or such an access holds it.
bool ReferenceBufferCore::WaitsLong(SlotId slot) const {
  if (!Live(slot)) return false;
  if (const Work* held = Holding(slot); held != nullptr) return held->access && held->off_core;
  if (one_in_flight() || formation_.table().state[slot] != SlotState::kOffered) return false;
  if (ConditionOf(slot).what != kData || formation_.inserted(slot) > 0) return false;
  if (Paused(slot)) return false;
  const std::vector<const Work*> producers = Producers(slot);
  return std::any_of(producers.begin(), producers.end(), [](const Work* work) { return work->off_core; });
}

// The works whose results the slot's next instruction waits for.
std::vector<const ReferenceBufferCore::Work*> ReferenceBufferCore::Producers(SlotId slot) const {
  return ByControlBits() ? WaitAtBarriers(slot).results : WritersOf(slot, true, true);
}

// The same of a slot that may be parked, whether or not its instruction has been fetched.
bool ReferenceBufferCore::WaitsForFarData(SlotId slot) const {
  const SlotState state = formation_.table().state[slot];
  if (!Live(slot)) return false;
  if (state == SlotState::kInFlight) {
    const Work* held = Holding(slot);
    return held != nullptr && !held->control && held->access && held->off_core;
  }
  if (state != SlotState::kOffered && state != SlotState::kParked) return false;
  if (one_in_flight() || formation_.inserted(slot) > 0) return false;
  const std::vector<const Work*> producers = Producers(slot);
  return std::any_of(producers.begin(), producers.end(), [](const Work* work) { return work->off_core; });
}

// Between steps 2 and 3: waits that the policy knows of and that are over, by slot.
void ReferenceBufferCore::DeliverEnds() {
  const WarpTable& table = formation_.table();
  const std::map<SlotId, uint64_t> told = told_waits_;
  for (const auto& [slot, formed] : told) {
    const bool same = table.state[slot] != SlotState::kFree && table.formed[slot] == formed;
    if (same && WaitsForFarData(slot)) continue;
    told_waits_.erase(slot);
    if (same) policy_->LongLatencyEnded(slot, formation_.editor());
    LookAgain();
  }
}

// What may have changed with whatever the policy has just done, or with a result.
void ReferenceBufferCore::LookAgain() {
  SyncBuffers();
  EndLongWaits();
}

// Of slots that wait no longer.
void ReferenceBufferCore::EndLongWaits() {
  const std::map<SlotId, LongWait> before = long_waits_;
  for (const auto& [slot, wait] : before) {
    if (formation_.table().formed[slot] == wait.formed && WaitsLong(slot)) {
      long_waits_[slot].port = formation_.table().port[slot];
      continue;
    }
    long_waits_.erase(slot);
    schedulers_[wait.port]->LongLatencyEnded(slot);
  }
}

}  // namespace heddle::replay
