#include "replay/core/single_pipeline/single_pipeline_core.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "replay/seams/lane_mask.h"
#include "replay/stats/instruction_profile.h"

namespace heddle::replay {

SinglePipelineCore::SinglePipelineCore(const LaunchContext& context, uint32_t sm,
                                       std::unique_ptr<DivergencePolicy> policy, ChunkCache& cache,
                                       MemorySystem& memory)
    : SmCore(context, sm, std::move(policy), cache, memory, std::max(context.pipeline_depth, context.longest_scripted)),
      in_flight_(table().state.size()),
      port_free_(context.ports, 0),
      eligible_(sm_),
      fences_(context.max_threads) {
  sm_.policy->SetIssueView(*this);
  if (!context.has_memory_stage) return;
  const bool lane_wise = (sm_.interests & kLaneReturns) != 0;
  SinglePipeline::Core& core = *this;
  pipeline_ = std::make_unique<SinglePipeline>(context, sm_.issue_slots > 1, lane_wise, sm_.memory.memory(), core);
}

// --- time

// `count` scheduler cycles of a port in which nothing was issued.
void SinglePipelineCore::Classify(int port, uint64_t count) {
  sm_.issues.counters().scheduler_cycles += count;
  PortLoss loss = PortLoss::kIdle;
  if (AnyOffered(port) || sm_.AnyGroupReady(port)) {
    sm_.issues.counters().stall += count;
    loss = PortLoss::kStall;
  } else if (AllWaitForMemory()) {
    sm_.issues.counters().memory += count;
    loss = PortLoss::kMemory;
  } else {
    sm_.issues.counters().idle += count;
  }
  if (sm_.context.profile != nullptr) ProfilePort(port, loss, count);
}

// Cycles before `until` that have not been counted had the state that is there now: nothing changes between two cycles
// that are run.
void SinglePipelineCore::Credit(Cycle until) {
  if (until <= credited_) return;
  if (resident() > 0) {
    sm_.issues.counters().resident_cycles += until - credited_;
    if (sm_.context.observes_states) ObserveStates(credited_, until - credited_);
    const Cycle idle_from = std::max(credited_, std::min(until, occupied_until_));
    if (const uint64_t idle = until - idle_from; idle != 0) {
      sm_.issues.counters().idle_cycles += idle;
      const auto& states = sm_.formation.thread_states();
      for (int state = 0; state < kThreadStates; ++state)
        sm_.issues.counters().idle_threads[state] += idle * states[state];
      if (sm_.blocks.any_paused()) sm_.issues.counters().idle_paused += idle * sm_.PausedThreads(/*offered=*/true);
    }
    if (until > decided_) {
      const uint64_t period = static_cast<uint64_t>(sm_.context.issue_cycles);
      const uint64_t decisions =
          period == 1 ? until - decided_ : (until + period - 1) / period - (decided_ + period - 1) / period;
      if (decisions != 0) {
        for (int port = 0; port < sm_.context.ports; ++port) Classify(port, decisions);
        if (sm_.context.counts_activity) CountActivity(decisions);
      }
    }
  }
  credited_ = until;
  decided_ = std::max(decided_, until);
}

SmWarps SinglePipelineCore::CountWarps() const {
  const WarpTable& warps = table();
  SmWarps count;
  for (size_t i = 0; i < warps.lanes.size(); ++i) {
    const auto slot = static_cast<SlotId>(i);
    if (warps.state[slot] == SlotState::kFree || warps.lanes[slot].mask == 0) continue;
    if (sm_.IsPaused(slot)) {
      ++count.paused;
      continue;
    }
    switch (warps.state[slot]) {
      case SlotState::kOffered:
        ++count.ready;
        break;
      case SlotState::kInFlight:
        ++(in_flight_[slot].memory ? count.memory : count.other);
        break;
      case SlotState::kBarrier:
        ++count.barrier;
        break;
      default:
        ++count.held;
    }
  }
  return count;
}

void SinglePipelineCore::RunCycle(Cycle now) {
  Credit(now);
  sm_.BeginCycle(now);
  Complete(now);
  sm_.memory.memory().RunCycle(now);
  TakeDue(now);
  if (pipeline_ != nullptr) {
    pipeline_->WriteBack(now);
    pipeline_->Advance(now);
  }
  if (sm_.has_collectives) RunCollectives(now);
  sm_.notifier.DeliverEnds();
  RunBarriersAndTimers(now);
  if (resident() > 0) {
    if (sm_.context.issue_cycles == 1 || now % static_cast<Cycle>(sm_.context.issue_cycles) == 0) Select(now);
    sm_.notifier.DeliverDeferred();
    CheckProgress(now);
  }
  decided_ = now + 1;
}

Cycle SinglePipelineCore::NextWake(Cycle now) const {
  const Cycle next = now + 1;
  const bool busy = resident() > 0;
  if (busy && (sm_.context.force_tick || (sm_.interests & kEveryCycle) != 0)) return next;
  if (resolve_.waits() || sm_.write_back.held() != 0 || sm_.barriers.opened()) return next;
  Cycle wake =
      std::min({sm_.write_back.Next(), std::max(next, sm_.formation.next_timer()), sm_.memory.memory().NextWake(now)});
  if (pipeline_ != nullptr) wake = std::min(wake, pipeline_->NextWake(now));
  if (sm_.has_collectives) wake = std::min(wake, sm_.NextCollective(now));
  for (int port = 0; port < sm_.context.ports; ++port) {
    if (sm_.AnyGroupReady(port)) wake = std::min(wake, NextDecision(std::max(next, port_free_[port])));
    if (!AnyOffered(port) || (pipeline_ != nullptr && !pipeline_->HasRoom(port))) continue;
    wake = std::min(wake, NextDecision(std::max(next, port_free_[port])));
  }
  return wake;
}

// --- memory

void SinglePipelineCore::LanesDone(AccessId access, LaneMask lanes, Cycle at, bool returned) {
  if (SmParts::IsCollective(access)) return sm_.CollectiveLanesDone(access, lanes, at);
  if (pipeline_ != nullptr && pipeline_->ArriveInStage(access, lanes, at, returned, sm_.run.now)) return;
  sm_.write_back.Add(at, {access, Completion::kLanes, lanes});
}

void SinglePipelineCore::WaitsOffCore(AccessId access) {
  if (SmParts::IsCollective(access)) return;
  const auto start = [this](SlotId slot) {
    InFlightInstruction& state = in_flight_[slot];
    if (state.off_core) return;
    state.off_core = true;
    sm_.notifier.DeferLongWait(slot);
  };
  if (pipeline_ == nullptr) {
    start(static_cast<SlotId>(access));
  } else {
    const SinglePipeline::Access& lanes = pipeline_->access(access);
    ForEachLane(lanes.mask, [&](int lane) { start(lanes.slot[lane]); });
  }
}

// --- completions

void SinglePipelineCore::Complete(Cycle now) {
  const auto process = [this](const Completion& item) { return Process(item); };
  if (!resolve_.waits() || resolve_.AskAgain()) sm_.write_back.TakeHeld(process);
  TakeDue(now);
}

void SinglePipelineCore::TakeDue(Cycle now) {
  sm_.write_back.TakeDue(
      now, resolve_.waits(), [this](const Completion& item) { return Process(item); },
      [this](const Completion& item) {  // behind a refused write-back
        if (item.kind != Completion::kIssue) {
          sm_.write_back.Hold(item);
          return;
        }
        for (const SlotId slot : issues_[item.id]) {
          sm_.write_back.Hold({slot, Completion::kFinish, table().lanes[slot].mask});
        }
        issues_[item.id].clear();
        free_issues_.push_back(item.id);
      });
}

bool SinglePipelineCore::Process(const Completion& item) {
  const SlotId slot = static_cast<SlotId>(item.id);
  switch (item.kind) {
    case Completion::kResume:
      return resolve_.ResumeFromBarrier(slot);
    case Completion::kFinish:
      return ProcessLanes(slot, item.lanes);
    case Completion::kAcknowledged:
      Acknowledge(item.id);
      return true;
    case Completion::kLanes:
      if (pipeline_ == nullptr) return ProcessLanes(slot, item.lanes);
      pipeline_->Arrive(item.id, item.lanes);
      return true;
    case Completion::kIssue:
      return ProcessIssue(item.id);
    case Completion::kBranch:  // of the other front end
    case Completion::kRegisters:
    case Completion::kOperands:
      break;
  }
  return true;
}

// FinishInstruction for all of them, as far as most need it: they go on, and the policy is not asked.
bool SinglePipelineCore::ProcessIssue(uint32_t number) {
  sm_.run.last_progress = sm_.run.now;
  std::vector<SlotId>& slots = issues_[number];
  const SlotEntry* const entries = table().entries.data();
  const Lanes* const lanes = table().lanes.data();
  const bool asks = (sm_.interests & kEveryInstruction) != 0;
  const bool asks_at_ends = (sm_.interests & (kEveryInstruction | kEveryBlockEnd)) != 0;
  std::array<SlotId, kMaxLanes> advancing;  // the first `count`; the others behind them have to wait for these
  std::array<Position, kMaxLanes> to;
  size_t count = 0;
  const auto advance = [&] {
    if (count != 0) sm_.formation.AdvanceTogether(std::span(advancing).first(count), std::span(to).first(count));
    count = 0;
  };
  bool accepted = true;
  for (const SlotId slot : slots) {
    if (!accepted) {
      sm_.write_back.Hold({slot, Completion::kFinish, lanes[slot].mask});
      continue;
    }
    const Position at = entries[slot].position;
    const Step& step = sm_.steps[at.pc()];
    Position next(at.pc() + 1, at.depth());
    const bool goes_on =
        step.ends_block ? !asks_at_ends && entries[slot].stop.is_exit() &&
                              sm_.control_flow.NextOfOne(lanes[slot], at, sm_.context.program.block(step.block), next)
                        : !asks && next != entries[slot].stop;
    if (goes_on) {
      advancing[count] = slot;
      to[count++] = next;
    } else {
      advance();
      accepted = resolve_.FinishInstruction(slot, /*ask_after_barrier=*/false);
    }
  }
  advance();
  slots.clear();
  free_issues_.push_back(number);
  return accepted;
}

bool SinglePipelineCore::ProcessLanes(SlotId slot, LaneMask lanes) {
  sm_.run.last_progress = sm_.run.now;
  InFlightInstruction& state = in_flight_[slot];
  state.outstanding &= ~lanes;
  if (state.outstanding != 0) {
    if ((sm_.interests & kLaneReturns) == 0) return true;
    if (!sm_.policy->LanesReturned(slot, lanes, sm_.formation.editor())) return true;
    if (state.memory) memory_threads_ -= static_cast<uint64_t>(std::popcount(table().lanes[slot].mask & lanes));
    return resolve_.TakeLanes(slot, lanes);
  }
  if (state.memory) {
    memory_threads_ -= static_cast<uint64_t>(table().thread_count(slot));
    state.memory = false;
  }
  if (state.off_core) {
    state.off_core = false;
    sm_.notifier.scheduler_of(slot).LongLatencyEnded(slot);
    sm_.notifier.DeferLongWaitEnd(slot);
  }
  if (state.inserted) {
    sm_.formation.TookInserted(slot);
    sm_.formation.Advance(slot, table().position[slot]);
    return true;
  }
  if (state.at_barrier) {
    if (sm_.barriers.IsOpenFor(slot)) return resolve_.ResumeFromBarrier(slot);
    sm_.formation.WaitAtBarrier(slot);
    return true;
  }
  if (state.meets) {
    if (sm_.rendezvous.IsOver(slot)) return resolve_.ResumeFromBarrier(slot);
    sm_.formation.WaitAtBarrier(slot);
    return true;
  }
  if (sm_.async.used() && AsyncWaits(slot)) {
    sm_.async.Wait(slot);
    return true;
  }
  if (pipeline_ != nullptr && FenceWaits(slot)) {
    fences_.Wait(slot);
    return true;
  }
  return resolve_.FinishInstruction(slot, /*ask_after_barrier=*/false);
}

}  // namespace heddle::replay
