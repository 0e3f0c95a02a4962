// Selection and issue of the front end with a single pipeline.
#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/core/single_pipeline/register_banks.h"
#include "replay/core/single_pipeline/scripted_latency.h"
#include "replay/core/single_pipeline/single_pipeline_core.h"
#include "replay/stats/instruction_profile.h"

namespace heddle::replay {

namespace {

// The port's cycles beyond an issue's own for one that is `issues` of them.
int CyclesOfFurther(const LaunchContext& context, uint32_t issues) {
  return static_cast<int>(issues - 1) * context.issue_cycles;
}

}  // namespace

void SinglePipelineCore::Select(Cycle now) {
  // Behind a blocked write-back the front end goes on until the stages of the pipeline are full, so that a policy whose
  // tables drain by issuing can get out.
  const bool blocked = sm_.write_back.held() + resolve_.waits() > sm_.context.pipeline_depth;
  SmCounters& counters = sm_.issues.counters();
  counters.scheduler_cycles += sm_.context.ports;
  undecided_.clear();
  for (int port = 0; port < sm_.context.ports; ++port) {
    // Threads that have met go before the warps of their port.
    if (sm_.AnyGroupReady(port) && now >= port_free_[port]) {
      HoldPort(port, now, 0);
      sm_.IssueGroup(port, now + sm_.context.pipeline_depth);
      ++sm_.issues.counters().issued;
      continue;
    }
    if (!AnyOffered(port) && !sm_.AnyGroupReady(port)) {
      undecided_.push_back(static_cast<uint8_t>(port));
      continue;
    }
    const bool held = (pipeline_ == nullptr ? blocked : !pipeline_->HasRoom(port)) || now < port_free_[port];
    if (!held && (sm_.issue_slots == 1 ? IssueOne(port, now) : IssueSeveral(port, now)) > 0) {
      ++sm_.issues.counters().issued;
      continue;
    }
    ++sm_.issues.counters().stall;
    if (sm_.context.profile != nullptr) ProfilePort(port, PortLoss::kStall, 1);
  }
  if (sm_.context.counts_activity) [[unlikely]]
    CountActivity(1);
  if (undecided_.empty()) return;
  const bool memory = AllWaitForMemory();
  (memory ? sm_.issues.counters().memory : sm_.issues.counters().idle) += undecided_.size();
  if (sm_.context.profile == nullptr) return;
  for (const uint8_t port : undecided_) ProfilePort(port, memory ? PortLoss::kMemory : PortLoss::kIdle, 1);
}

SlotId SinglePipelineCore::Checked(int port, SlotId slot, const SlotSet& eligible) {
  if (slot == kNoSlot || (slot < kMaxSlots && eligible.Contains(slot))) return slot;
  sm_.run.Fail(absl::InternalError(absl::StrCat("the scheduler of port ", port, " picked slot ", slot,
                                                ", which is not eligible, in cycle ", sm_.run.now)));
  return kNoSlot;
}

int SinglePipelineCore::IssueOne(int port, Cycle now) {
  const SlotSet& eligible = Eligible(port);
  if (eligible.empty()) return 0;
  const SlotId slot = Pick(port, eligible);
  if (slot == kNoSlot) return 0;
  if ((sm_.interests & kIssue) != 0 && sm_.policy->AcceptIssue(slot, sm_.formation.editor()) == Verdict::kRefused)
    return 0;
  if (table().state[slot] != SlotState::kOffered) return 0;
  int penalty =
      std::max(sm_.policy->IssuePenalty(slot, table()), RegisterBankPenalty(sm_.context, table().lanes[slot]));
  if (!Enter(port, slot, now)) return 0;
  penalty += CyclesOfFurther(sm_.context, in_flight_[slot].issues);
  const std::span<const SlotId> chosen(&slot, 1);
  HoldPort(port, now, penalty);
  if (pipeline_ != nullptr) pipeline_->Issue(port, chosen, now, static_cast<Cycle>(penalty));
  const auto threads = static_cast<uint32_t>(table().thread_count(slot));
  sm_.issues.Count(port, chosen, threads, in_flight_[slot].inserted || in_flight_[slot].meets);
  return 1;
}

// Slots of one issue under MIMD and its like: the scheduler is asked until the issue is full. All of them enter the
// pipeline together. With fixed latencies those that take the same time complete together, the others on their own.
// Runs for every thread of MIMD, so that what most of them do not need is left to Enter, and what they need is done for
// several at once where the scheduler has told in advance which come next.
int SinglePipelineCore::IssueSeveral(int port, Cycle now) {
  candidates_ = Eligible(port);
  WarpScheduler& scheduler = sm_.notifier.scheduler(port);
  const Lanes* const lanes = table().lanes.data();
  const SlotEntry* const entries = table().entries.data();
  const bool may_refuse = (sm_.interests & kIssue) != 0;
  const bool restricts = sm_.policy->restricts_issues();
  // Whether the scheduler may know an order. A policy that is asked may change warps, so that no order holds.
  bool ordered = !may_refuse;
  const size_t most = static_cast<size_t>(sm_.issue_slots);
  std::array<SlotId, kMaxLanes> chosen;  // the first `count`: each has a thread, and a warp's worth of these may issue
  size_t count = 0;
  size_t issued = 0;   // of these, what formation and scheduler know of
  size_t entered = 0;  // of these, what comes before those whose results are to come together
  bool first_inserted = false;
  bool first_meets = false;             // they arrive at matrix instructions, which is counted apart, too
  std::array<SlotId, kMaxLanes> order;  // that the scheduler has told in advance: from `next` to `known`
  size_t next = 0;
  size_t known = 0;
  int room = sm_.context.warp_size;  // threads
  uint64_t issued_threads = 0;       // of `chosen` from `issued` on
  int penalty = 0;
  uint32_t most_issues = 1;  // that a slot of these takes
  const bool plainly = pipeline_ == nullptr && !may_refuse && !restricts;
  const auto is_plain = [&](SlotId slot) {
    const Step& step = sm_.steps[entries[slot].position.pc()];
    return step.kind == Step::kPlain && !step.scripted && !step.meets() && !step.guarded && step.collective == 0 &&
           sm_.formation.inserted(slot) == 0;
  };
  const auto issue = [&] {
    if (issued == count) return;
    const std::span<const SlotId> slots = std::span(chosen).first(count).subspan(issued);
    if (slots.size() == 1) {  // always, if the scheduler has to be asked for each
      sm_.formation.Issue(slots.front());
      scheduler.Issued(slots.front());
    } else {
      sm_.formation.IssueTogether(slots, issued_threads);
      scheduler.IssuedInOrder(slots);
    }
    issued = count;
    issued_threads = 0;
  };
  while (count < most && room > 0 && !candidates_.empty()) {
    if (next == known && ordered) {
      issue();
      next = 0;
      const std::span<SlotId> wanted = std::span(order).first(std::min(most - count, static_cast<size_t>(room)));
      known = std::min(wanted.size(), scheduler.PickInOrder(candidates_, wanted));
      ordered = known != 0;
      // Nearly always they are all alike: plain instructions, which nobody has to be asked about.
      for (; plainly && !first_inserted && !first_meets && next != known; ++next) {
        const SlotId slot = order[next];
        if (slot >= kMaxSlots || !candidates_.Contains(slot)) break;
        const int threads = std::popcount(lanes[slot].mask);
        if (threads > room || !is_plain(slot)) break;
        candidates_.Erase(slot);
        in_flight_[slot] = InFlightInstruction();
        chosen[count++] = slot;
        room -= threads;
        issued_threads += static_cast<uint64_t>(threads);
      }
      if (next == known && known != 0) continue;
    }
    const bool in_order = next != known;
    const SlotId slot = in_order ? order[next++] : scheduler.Pick(candidates_);
    if (slot >= kMaxSlots || !candidates_.Contains(slot)) {
      Checked(port, slot, candidates_);
      break;
    }
    candidates_.Erase(slot);
    const int threads = std::popcount(lanes[slot].mask);
    if (threads > room) continue;
    const bool inserted = sm_.formation.inserted(slot) != 0;
    const bool meets = !inserted && sm_.steps[entries[slot].position.pc()].meets() && sm_.MustMeet(slot);
    if (count != 0) {
      if (meets != first_meets) continue;
      // Inserted instructions are not shared with traced ones: they are counted apart.
      if (inserted || first_inserted) continue;
      if (restricts && !sm_.policy->MayIssueWith(std::span(chosen).first(count), slot, table())) continue;
    }
    if (may_refuse) {
      if (sm_.policy->AcceptIssue(slot, sm_.formation.editor()) == Verdict::kRefused) continue;
      if (table().state[slot] != SlotState::kOffered) continue;
    }
    const int own_penalty = restricts ? sm_.policy->IssuePenalty(slot, table()) : 0;
    if (pipeline_ == nullptr && is_plain(slot)) {
      in_flight_[slot] = InFlightInstruction();
      chosen[count++] = slot;
      issued_threads += static_cast<uint64_t>(threads);
      if (!in_order || restricts) issue();
    } else {
      issue();
      CloseIssue(std::span(chosen).first(count).subspan(entered), now);  // results of one cycle come in this order
      entered = count;
      if (!Enter(port, slot, now)) continue;
      most_issues = std::max(most_issues, in_flight_[slot].issues);
      if (count == 0) {
        first_inserted = inserted;
        first_meets = meets;
      }
      chosen[count++] = slot;
      issued = entered = count;
    }
    penalty = std::max(penalty, own_penalty);
    room -= threads;
  }
  issue();
  const std::span<const SlotId> slots = std::span(chosen).first(count);
  CloseIssue(slots.subspan(entered), now);
  if (slots.empty()) return 0;
  if (!first_meets) sm_.policy->IssuedTogether(slots, table());
  penalty += CyclesOfFurther(sm_.context, most_issues);
  HoldPort(port, now, penalty);
  if (pipeline_ != nullptr) pipeline_->Issue(port, slots, now, static_cast<Cycle>(penalty));
  const auto threads = static_cast<uint32_t>(sm_.context.warp_size - room);
  sm_.issues.Count(port, slots, threads, first_inserted || first_meets);
  return static_cast<int>(count);
}

void SinglePipelineCore::CloseIssue(std::span<const SlotId> slots, Cycle now) {
  if (slots.empty()) return;
  if (free_issues_.empty()) {
    free_issues_.push_back(static_cast<uint32_t>(issues_.size()));
    issues_.emplace_back();
  }
  const uint32_t number = free_issues_.back();
  free_issues_.pop_back();
  issues_[number].assign(slots.begin(), slots.end());
  sm_.write_back.Add(now + sm_.context.pipeline_depth, {number, Completion::kIssue, 0});
}

bool SinglePipelineCore::StartFixed(SlotId slot, const Step& step, Cycle now) {
  InFlightInstruction& state = in_flight_[slot];
  const Lanes& lanes = table().lanes[slot];
  const Pc pc = table().position[slot].pc();
  const Completion done{slot, Completion::kLanes, lanes.mask};
  const uint32_t scripted =
      !state.inserted && !state.meets && step.scripted ? ScriptedLatency(sm_.context, sm_.formation, lanes, pc) : 0;
  const bool accesses = !state.inserted && !state.meets && step.kind == Step::kMemory;
  if (accesses && scripted == 0 && !sm_.memory.memory().StageFree()) return false;
  if (step.guarded && !state.inserted) state.passes = sm_.IssueGuarded(slot, pc) == 0;
  if (!accesses || state.passes) {
    sm_.write_back.Add(now + (scripted != 0 ? scripted : sm_.context.pipeline_depth), done);
    return true;
  }
  const LaneMask accessing = sm_.LanesThatAccess(step, slot, lanes.mask);
  const bool addresses = step.has_address && (step.by_lane() || sm_.memory.memory().needs_addresses());
  state.outstanding = accessing;
  if (addresses) {
    sm_.cursors.TakeAddresses(sm_.LanesThatRecord(step, slot), pc, sm_.memory.addresses());
    sm_.LocateShared(pc, accessing, lanes.thread);
  } else if (step.has_address) {
    sm_.cursors.SkipAddresses(sm_.LanesThatRecord(step, slot));
  }
  if (scripted == 0) {
    sm_.memory.Submit(slot, slot, pc, accessing, lanes.thread, addresses, now);
  } else {
    state.outstanding = lanes.mask;
    sm_.write_back.Add(now + scripted, done);
  }
  state.memory = sm_.memory.ReachesBeyondShared(step, accessing, addresses);
  if (state.memory) memory_threads_ += static_cast<uint64_t>(std::popcount(lanes.mask));
  return true;
}

void SinglePipelineCore::StartPipelined(SlotId slot, const Step& step) {
  InFlightInstruction& state = in_flight_[slot];
  const Pc pc = table().position[slot].pc();
  if (step.guarded && !state.inserted) state.passes = sm_.IssueGuarded(slot, pc) == 0;
  if (state.inserted || state.meets || state.passes || step.kind != Step::kMemory) return;
  const Lanes& lanes = table().lanes[slot];
  state.outstanding = sm_.LanesThatAccess(step, slot, lanes.mask);
  const bool addresses = step.has_address && step.by_lane();
  if (addresses) {
    sm_.cursors.PeekAddresses(sm_.LanesThatRecord(step, slot), pc, sm_.memory.addresses());
    sm_.LocateShared(pc, state.outstanding, lanes.thread);
  }
  state.memory = sm_.memory.ReachesBeyondShared(step, state.outstanding, addresses);
  if (state.memory) memory_threads_ += static_cast<uint64_t>(std::popcount(lanes.mask));
}

// One slot enters the pipeline. False if the memory stage has no room for its access.
bool SinglePipelineCore::Enter(int port, SlotId slot, Cycle now) {
  InFlightInstruction& state = in_flight_[slot];
  const Lanes& lanes = table().lanes[slot];
  const Pc pc = table().position[slot].pc();
  const Step& step = sm_.steps[pc];
  state = InFlightInstruction();
  state.outstanding = lanes.mask;
  state.inserted = sm_.formation.inserted(slot) != 0;
  state.meets = step.meets() && !state.inserted && sm_.MustMeet(slot);
  if (pipeline_ != nullptr) {
    StartPipelined(slot, step);
  } else if (!StartFixed(slot, step, now)) {
    return false;
  }
  if (step.collective != 0 && !state.inserted && sm_.context.HasUniformValues(pc)) [[unlikely]] {
    // With fixed latencies the threads have gone past their addresses.
    if (pipeline_ != nullptr && step.kind == Step::kMemory) {
      if (taken_addresses_.empty()) taken_addresses_.resize(in_flight_.size());
      if (step.has_address) sm_.cursors.TakeAddresses(sm_.LanesThatRecord(step, slot), pc, taken_addresses_[slot]);
    }
    state.issues = sm_.TakeUniformValues(pc, slot);
  }
  sm_.formation.Issue(slot);
  sm_.notifier.scheduler(port).Issued(slot);
  if (step.kind == Step::kBarrier && !state.inserted) {
    state.at_barrier = step.waits;
    resolve_.ArriveAtBarrier(slot);
  } else if (step.kind == Step::kAsync && !state.inserted) {
    sm_.IssueAsync(slot);
  } else if (state.meets) {
    sm_.ArriveAtRendezvous(slot);
  }
  return true;
}

}  // namespace heddle::replay
