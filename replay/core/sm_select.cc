// Selection and issue.
#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "replay/core/sm_core.h"
#include "replay/memory/fixed_latency.h"

namespace heddle::replay {

void SmCore::Select(Cycle now) {
  // Behind a blocked write-back the front end goes on until the stages of the pipeline are full (timing-core.md 2: each
  // stage moves if the next is free), so that a policy whose tables drain by issuing can get out.
  const bool blocked = waiting_.size() - waiting_first_ + pending_.active > context_.pipeline_depth;
  counters_.scheduler_cycles += context_.ports;
  undecided_.clear();
  for (int port = 0; port < context_.ports; ++port) {
    if (!formation_.AnyOffered(port)) {
      undecided_.push_back(static_cast<uint8_t>(port));
    } else if (blocked || now < port_free_[port]) {
      ++counters_.stall;
    } else if ((issue_slots_ == 1 ? IssueOne(port, now) : IssueSeveral(port, now)) > 0) {
      ++counters_.issued;
    } else {
      ++counters_.stall;
    }
  }
  if (!undecided_.empty()) {
    (AllWaitForMemory() ? counters_.memory : counters_.idle) += undecided_.size();
  }
}

int SmCore::IssueOne(int port, Cycle now) {
  const SlotId slot = schedulers_[port]->Pick(formation_.Eligible(port));
  if (slot >= formation_.table().state.size() || formation_.table().state[slot] != SlotState::kOffered ||
      formation_.table().port[slot] != port) {
    Fail(absl::InternalError(absl::StrCat("the scheduler of port ", port, " picked slot ", slot,
                                          ", which is not eligible, in cycle ", now)));
    return 0;
  }
  if ((interests_ & kIssue) != 0 && policy_->AcceptIssue(slot, formation_.editor()) == Verdict::kRefused) return 0;
  if (formation_.table().state[slot] != SlotState::kOffered) return 0;
  const int penalty = policy_->IssuePenalty(slot, formation_.table());
  chosen_.assign(1, slot);
  if (!Enter(port, slot, now)) return 0;
  CountIssue(port, now, penalty, chosen_);
  return 1;
}

// Slots of one issue under MIMD and its like: the scheduler is asked until the issue is full. All of them enter the
// pipeline together, each completes on its own.
int SmCore::IssueSeveral(int port, Cycle now) {
  candidates_ = formation_.Eligible(port);
  chosen_.clear();
  int threads = 0;
  int penalty = 0;
  while (static_cast<int>(chosen_.size()) < issue_slots_ && !candidates_.empty()) {
    const SlotId slot = schedulers_[port]->Pick(candidates_);
    if (!candidates_.Contains(slot)) {
      Fail(absl::InternalError(absl::StrCat("the scheduler of port ", port, " picked slot ", slot,
                                            ", which is not eligible, in cycle ", now)));
      return 0;
    }
    candidates_.Erase(slot);
    const int count = formation_.table().thread_count(slot);
    if (threads + count > context_.warp_size) continue;
    // Inserted instructions are not shared with traced ones: they are counted apart.
    if (!chosen_.empty() && (formation_.inserted(slot) != 0 || in_flight_[chosen_[0]].inserted)) continue;
    if (!chosen_.empty() && !policy_->MayIssueWith(chosen_, slot, formation_.table())) continue;
    if ((interests_ & kIssue) != 0 && policy_->AcceptIssue(slot, formation_.editor()) == Verdict::kRefused) continue;
    if (formation_.table().state[slot] != SlotState::kOffered) continue;
    const int own_penalty = policy_->IssuePenalty(slot, formation_.table());
    if (!Enter(port, slot, now)) continue;
    chosen_.push_back(slot);
    threads += count;
    penalty = std::max(penalty, own_penalty);
    if (threads == context_.warp_size) break;
  }
  if (chosen_.empty()) return 0;
  CountIssue(port, now, penalty, chosen_);
  return static_cast<int>(chosen_.size());
}

// One slot enters the pipeline. False if the memory stage has no room for its access.
bool SmCore::Enter(int port, SlotId slot, Cycle now) {
  const WarpTable& table = formation_.table();
  InFlight& state = in_flight_[slot];
  const Lanes& lanes = table.lanes[slot];
  const Pc pc = table.position[slot].pc();
  const Step& step = steps_[pc];
  state = InFlight();
  state.outstanding = lanes.mask;
  if (formation_.inserted(slot) != 0) {
    state.inserted = true;
    wheel_.Add(now + context_.pipeline_depth, {slot, lanes.mask});
  } else {
    const uint32_t scripted = step.scripted ? ScriptedLatency(slot, pc) : 0;
    if (step.kind == Step::kMemory) {
      const bool generic = step.space == trace::v1::SPACE_GENERIC;
      const bool addresses = step.has_address && (generic || memory_->needs_addresses());
      if (addresses) cursors_.PeekAddresses(lanes, pc, addresses_);
      if (scripted == 0) {
        if (!memory_->StageFree()) return false;
        WarpAccess access;
        access.id = slot;
        access.slot = slot;
        access.op = step.op;
        access.space = step.space;
        access.bytes = step.bytes;
        access.lanes = lanes.mask;
        access.addresses = addresses ? &addresses_ : nullptr;
        memory_->Submit(access, now);
      }
      if (step.has_address) cursors_.SkipAddresses(lanes);
      state.memory = ReachesBeyondShared(step, lanes, addresses);
      if (state.memory) memory_threads_ += std::popcount(lanes.mask);
    }
    if (scripted != 0) {
      wheel_.Add(now + scripted, {slot, lanes.mask});
    } else if (step.kind != Step::kMemory) {
      wheel_.Add(now + context_.pipeline_depth, {slot, lanes.mask});
    }
  }
  formation_.Issue(slot);
  schedulers_[port]->Issued(slot);
  if (step.kind == Step::kBarrier && !state.inserted) ArriveAtBarrier(slot, step);
  return true;
}

// Whether the access counts for W0.Mem: some lane waits for memory other than shared.
bool SmCore::ReachesBeyondShared(const Step& step, const Lanes& lanes, bool has_addresses) const {
  if (step.space != trace::v1::SPACE_GENERIC || !has_addresses) return step.space != trace::v1::SPACE_SHARED;
  for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
    if (context_.windows.SpaceOf(addresses_[std::countr_zero(mask)]) != trace::v1::SPACE_SHARED) return true;
  }
  return false;
}

uint32_t SmCore::ScriptedLatency(SlotId slot, Pc pc) const {
  const Lanes& lanes = formation_.table().lanes[slot];
  for (const machine::v1::ScriptedLatency& entry : context_.scripted) {
    if (!entry.any_instruction() && entry.instruction() != pc) continue;
    for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
      const uint32_t index = formation_.index_in_block(lanes.thread[std::countr_zero(mask)]);
      if (index >= entry.first_thread() && index <= entry.last_thread()) return entry.cycles();
    }
  }
  return 0;
}

// Statistics and the port's time for an issue of one or several slots.
void SmCore::CountIssue(int port, Cycle now, int penalty, std::span<const SlotId> slots) {
  last_progress_ = now;
  const Cycle until = now + static_cast<Cycle>(context_.issue_cycles + penalty);
  port_free_[port] = until;
  occupied_until_ = std::max(occupied_until_, until);
  if (in_flight_[slots[0]].inserted) {
    ++counters_.inserted_instructions;
    return;
  }
  uint32_t threads = 0;
  for (const SlotId slot : slots) threads += static_cast<uint32_t>(formation_.table().thread_count(slot));
  ++counters_.warp_instructions;
  counters_.thread_instructions += threads;
  ++counters_.issues_by_size[threads - 1];
  if (context_.observer != nullptr) Observe(port, now, slots);
}

void SmCore::Observe(int port, Cycle now, std::span<const SlotId> slots) {
  std::array<IssueEvent::Lane, kMaxLanes> lanes;
  size_t count = 0;
  for (const SlotId slot : slots) {
    const Lanes& inside = formation_.table().lanes[slot];
    for (LaneMask mask = inside.mask; mask != 0; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      const ThreadId thread = inside.thread[lane];
      IssueEvent::Lane& out = lanes[count];
      // Threads of several slots may share a home lane; they take the lanes in the order in which they were chosen.
      out.lane = issue_slots_ == 1 ? static_cast<uint32_t>(lane) : static_cast<uint32_t>(count);
      out.pc = formation_.table().position[slot].pc();
      out.block = blocks_[formation_.block_of(thread)].linear_index;
      out.thread = formation_.index_in_block(thread);
      ++count;
    }
  }
  IssueEvent event;
  event.configuration = context_.configuration_index;
  event.launch = context_.launch.launch.id();
  event.sm = sm_;
  event.port = static_cast<uint32_t>(port);
  event.cycle = now;
  event.lanes = std::span(lanes).first(count);
  context_.observer->Issued(event);
}

// --- barriers

// Arrival is at issue; threads are counted per block and barrier id, not per warp or PC (decisions.md D8).
void SmCore::ArriveAtBarrier(SlotId slot, const Step& step) {
  const Lanes& lanes = formation_.table().lanes[slot];
  counters_.barriers += std::popcount(lanes.mask);
  InFlight& state = in_flight_[slot];
  state.at_barrier = true;
  deferred_.push_back({slot, step.barrier, true});
  for (LaneMask left = lanes.mask; left != 0;) {
    const BlockId id = formation_.block_of(lanes.thread[std::countr_zero(left)]);
    LaneMask own = 0;
    for (LaneMask mask = left; mask != 0; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      if (formation_.block_of(lanes.thread[lane]) == id) own |= LaneMask{1} << lane;
    }
    left &= ~own;
    Barrier& barrier = blocks_[id].barriers[step.barrier];
    barrier.arrived += static_cast<uint32_t>(std::popcount(own));
    barrier.expected = step.barrier_threads;
    barrier.slots.push_back(slot);
    ++state.barriers;
    const uint32_t needed = barrier.expected == 0 ? blocks_[id].live : barrier.expected;
    if (barrier.arrived >= needed) OpenBarrier(id, step.barrier);
  }
}

// The barrier opens: its slots resume in the next cycle at the earliest. Later arrivals are for its next use.
void SmCore::OpenBarrier(BlockId id, uint8_t number) {
  Barrier& barrier = blocks_[id].barriers[number];
  opened_slots_.insert(opened_slots_.end(), barrier.slots.begin(), barrier.slots.end());
  barrier.slots.clear();
  barrier.arrived = 0;
  barrier.expected = 0;
  opened_.push_back(id);
}

// Threads that exited may be what a barrier waited for.
void SmCore::CheckBarriers(BlockId id) {
  ResidentBlock& block = blocks_[id];
  for (size_t number = 0; number < block.barriers.size(); ++number) {
    const Barrier& barrier = block.barriers[number];
    if (barrier.arrived == 0 || barrier.expected != 0 || barrier.arrived < block.live) continue;
    OpenBarrier(id, static_cast<uint8_t>(number));
  }
}

}  // namespace heddle::replay
