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
      port_free_(context.ports, 0) {
  if (!context.has_memory_stage) return;
  const bool lane_wise = (interests_ & kLaneReturns) != 0;
  SinglePipeline::Core& core = *this;
  pipeline_ = std::make_unique<SinglePipeline>(context, issue_slots_ > 1, lane_wise, *memory_, core);
  stores_of_thread_.assign(context.max_threads, 0);
  admitted_at_.assign(context.max_threads, 0);
}

// --- time

Cycle SinglePipelineCore::NextDecision(Cycle at) const {
  const Cycle period = static_cast<Cycle>(context_.issue_cycles);
  return period == 1 ? at : (at + period - 1) / period * period;
}

// `count` scheduler cycles of a port in which nothing was issued.
void SinglePipelineCore::Classify(int port, uint64_t count) {
  counters_.scheduler_cycles += count;
  PortLoss loss = PortLoss::kIdle;
  if (formation_.AnyOffered(port)) {
    counters_.stall += count;
    loss = PortLoss::kStall;
  } else if (AllWaitForMemory()) {
    counters_.memory += count;
    loss = PortLoss::kMemory;
  } else {
    counters_.idle += count;
  }
  if (context_.profile != nullptr) ProfilePort(port, loss, count);
}

// Cycles before `until` that have not been counted had the state that is there now: nothing changes between two cycles
// that are run.
void SinglePipelineCore::Credit(Cycle until) {
  if (until <= credited_) return;
  if (resident_ > 0) {
    counters_.resident_cycles += until - credited_;
    if (context_.observes_states) ObserveStates(credited_, until - credited_);
    const Cycle idle_from = std::max(credited_, std::min(until, occupied_until_));
    if (const uint64_t idle = until - idle_from; idle != 0) {
      counters_.idle_cycles += idle;
      const auto& states = formation_.thread_states();
      for (int state = 0; state < kThreadStates; ++state) counters_.idle_threads[state] += idle * states[state];
    }
    if (until > decided_) {
      const uint64_t period = static_cast<uint64_t>(context_.issue_cycles);
      const uint64_t decisions =
          period == 1 ? until - decided_ : (until + period - 1) / period - (decided_ + period - 1) / period;
      if (decisions != 0) {
        for (int port = 0; port < context_.ports; ++port) Classify(port, decisions);
      }
    }
  }
  credited_ = until;
  decided_ = std::max(decided_, until);
}

void SinglePipelineCore::RunCycle(Cycle now) {
  Credit(now);
  BeginCycle(now);
  Complete(now);
  memory_->RunCycle(now);
  TakeDue(now);
  if (pipeline_ != nullptr) {
    pipeline_->WriteBack(now);
    pipeline_->Advance(now);
  }
  RunBarriersAndTimers(now);
  if (resident_ > 0) {
    if (context_.issue_cycles == 1 || now % static_cast<Cycle>(context_.issue_cycles) == 0) Select(now);
    TellDeferred();
    CheckProgress(now);
  }
  decided_ = now + 1;
}

Cycle SinglePipelineCore::NextWake(Cycle now) const {
  const Cycle next = now + 1;
  const bool busy = resident_ > 0;
  if (busy && (context_.force_tick || (interests_ & kEveryCycle) != 0)) return next;
  if (resolve_waits_ || write_back_.held() != 0 || barrier_opened()) return next;
  Cycle wake = std::min({write_back_.Next(), std::max(next, formation_.next_timer()), memory_->NextWake(now)});
  if (pipeline_ != nullptr) wake = std::min(wake, pipeline_->NextWake(now));
  for (int port = 0; port < context_.ports; ++port) {
    if (!formation_.AnyOffered(port) || (pipeline_ != nullptr && !pipeline_->HasRoom(port))) continue;
    wake = std::min(wake, NextDecision(std::max(next, port_free_[port])));
  }
  return wake;
}

std::string SinglePipelineCore::WhatSlotWaitsFor(SlotId slot) const {
  const bool ready = table().state[slot] == SlotState::kOffered;
  return ready ? "are ready, but are not issued" : "wait for an instruction to complete";
}

// --- memory

void SinglePipelineCore::LanesDone(AccessId access, LaneMask lanes, Cycle at, bool returned) {
  if (pipeline_ != nullptr && pipeline_->ArriveInStage(access, lanes, at, returned, now_)) return;
  write_back_.Add(at, {access, Completion::kLanes, lanes});
}

void SinglePipelineCore::StoreAcknowledged(AccessId access, Cycle at) {
  if (pipeline_ != nullptr) write_back_.Add(at, {access, Completion::kAcknowledged, 0});
}

void SinglePipelineCore::WaitsOffCore(AccessId access) {
  const auto start = [this](SlotId slot) {
    InFlight& state = in_flight_[slot];
    if (state.off_core) return;
    state.off_core = true;
    DeferLongWait(slot);
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
  if (!resolve_waits_ || AskPolicy()) write_back_.TakeHeld(process);
  TakeDue(now);
}

void SinglePipelineCore::TakeDue(Cycle now) {
  write_back_.TakeDue(
      now, resolve_waits_, [this](const Completion& item) { return Process(item); },
      [this](const Completion& item) { HoldBack(item); });
}

bool SinglePipelineCore::Process(const Completion& item) {
  const SlotId slot = static_cast<SlotId>(item.id);
  switch (item.kind) {
    case Completion::kResume:
      return ResumeFromBarrier(slot);
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
      break;
  }
  return true;
}

// FinishInstruction for all of them, as far as most need it: they go on, and the policy is not asked.
bool SinglePipelineCore::ProcessIssue(uint32_t number) {
  last_progress_ = now_;
  std::vector<SlotId>& slots = issues_[number];
  const SlotRow* const rows = table().rows.data();
  const Lanes* const lanes = table().lanes.data();
  const bool asks = (interests_ & kEveryInstruction) != 0;
  const bool asks_at_ends = (interests_ & (kEveryInstruction | kEveryBlockEnd)) != 0;
  std::array<SlotId, kMaxLanes> advancing;  // the first `count`; the others behind them have to wait for these
  std::array<Position, kMaxLanes> to;
  size_t count = 0;
  const auto advance = [&] {
    if (count != 0) formation_.AdvanceTogether(std::span(advancing).first(count), std::span(to).first(count));
    count = 0;
  };
  bool accepted = true;
  for (const SlotId slot : slots) {
    if (!accepted) {
      write_back_.Hold({slot, Completion::kFinish, lanes[slot].mask});
      continue;
    }
    const Position at = rows[slot].position;
    const Step& step = steps_[at.pc()];
    Position next(at.pc() + 1, at.depth());
    const bool goes_on = step.ends_block
                             ? !asks_at_ends && rows[slot].stop.is_exit() &&
                                   control_flow_.NextOfOne(lanes[slot], at, context_.program.block(step.block), next)
                             : !asks && next != rows[slot].stop;
    if (goes_on) {
      advancing[count] = slot;
      to[count++] = next;
    } else {
      advance();
      accepted = FinishInstruction(slot, /*ask_after_barrier=*/false);
    }
  }
  advance();
  slots.clear();
  free_issues_.push_back(number);
  return accepted;
}

void SinglePipelineCore::HoldBack(const Completion& item) {
  if (item.kind != Completion::kIssue) {
    write_back_.Hold(item);
    return;
  }
  for (const SlotId slot : issues_[item.id]) {
    write_back_.Hold({slot, Completion::kFinish, table().lanes[slot].mask});
  }
  issues_[item.id].clear();
  free_issues_.push_back(item.id);
}

bool SinglePipelineCore::ProcessLanes(SlotId slot, LaneMask lanes) {
  last_progress_ = now_;
  InFlight& state = in_flight_[slot];
  state.outstanding &= ~lanes;
  if (state.outstanding != 0) {
    if ((interests_ & kLaneReturns) == 0) return true;
    if (!policy_->LanesReturned(slot, lanes, formation_.editor())) return true;
    if (state.memory) memory_threads_ -= static_cast<uint64_t>(std::popcount(table().lanes[slot].mask & lanes));
    return TakeLanes(slot, lanes);
  }
  if (state.memory) {
    memory_threads_ -= static_cast<uint64_t>(table().thread_count(slot));
    state.memory = false;
  }
  if (state.off_core) {
    state.off_core = false;
    schedulers_[table().port[slot]]->LongLatencyEnded(slot);
  }
  if (state.inserted) {
    formation_.TookInserted(slot);
    formation_.Advance(slot, table().position[slot]);
    return true;
  }
  if (state.at_barrier) {
    if (BarrierIsOpenFor(slot)) return ResumeFromBarrier(slot);
    formation_.WaitAtBarrier(slot);
    return true;
  }
  if (pipeline_ != nullptr && FenceWaits(slot)) {
    fences_.insert(std::upper_bound(fences_.begin(), fences_.end(), slot), slot);
    return true;
  }
  return FinishInstruction(slot, /*ask_after_barrier=*/false);
}

}  // namespace heddle::replay
