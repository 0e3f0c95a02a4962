#include "replay/core/ibuffer/issue_status_unit.h"

#include <algorithm>

#include "replay/core/ibuffer/ibuffer_view.h"

namespace heddle::replay {

void IssueStatusUnit::TakeAllChanges() {
  SlotId slot = kNoSlot;
  bool threads = false;
  while (sm_.formation.TakeChange(slot, threads)) Changed(slot, threads);
}

void IssueStatusUnit::Changed(SlotId slot, bool threads) {
  if (slot >= state_.warps.size()) state_.warps.resize(size_t{slot} + 1);
  WarpEntry& warp = state_.warps[slot];
  const WarpTable& warps = sm_.table();
  const SlotState state = warps.state[slot];
  if (!told_.empty()) LookForEnds();
  if (state == SlotState::kFree || warp.formed != warps.formed[slot]) {
    // Another warp, or none. Its wait for a line of the instruction cache stays: the cache knows the slot only.
    const IssueStatus before = state_.issue_status.of(slot);
    const uint8_t port = before.port();
    if (before.state() == WarpClass::kPaused) [[unlikely]]
      state_.issue_status.CountPaused(before, IssueStatus());
    state_.issue_status.Renew(slot);
    buffers_.Flush(slot, warp);
    warp.flushed = false;
    if (warp.long_wait_notified) {
      warp.long_wait_notified = false;
      sm_.notifier.scheduler(port).LongLatencyEnded(slot);
    }
    warp.formed = warps.formed[slot];
    if (!state_.one_in_flight) warp.ready_at = 0;  // the pause was the other warp's
    warp.head = warps.position[slot].is_exit() ? 0 : warps.position[slot].pc();
  }
  if (threads) {
    state_.hw_warps.Locate(slot, warps.lanes[slot], warp);
    if (state_.pauses_travel) InheritPauses(slot, warp);
  }
  warp.paused = state != SlotState::kFree && sm_.IsPaused(slot);
  warp.regular = state_.regular_warps && !warp.paused && state == SlotState::kOffered && warp.threads != 0 &&
                 warp.hw_warp != kMixedHwWarps && sm_.formation.inserted(slot) == 0;
  if (warp.regular) warp.offered = IssueStatus(WarpClass::kStructural, warps.port[slot], warp.threads).Offered();
  if (state == SlotState::kOffered || state == SlotState::kParked) {
    buffers_.Redirect(slot, warp, warps.position[slot].pc());  // GPGPU-Sim 3.2.2 compares PCs, too
    if (state_.one_in_flight && state == SlotState::kOffered && warp.offered_at != warps.offered_at[slot]) {
      warp.offered_at = warps.offered_at[slot];
      warp.ready_at = state_.offer_cycle + state_.setup.reformed_warp_cycles;
      if (warp.ready_at > sm_.run.now) later_.Add(warp.ready_at, {slot, Completion::kLanes, 0});
    }
  }
  Update(slot);
}

void IssueStatusUnit::InheritPauses(SlotId slot, WarpEntry& warp) {
  if (warp.threads == 0) return;
  Cycle until = 0;
  state_.hw_warps.ForEach(
      slot, warp, [&](uint32_t hw_warp, LaneMask own) { until = std::max(until, state_.pauses.Of(hw_warp, own)); });
  if (until == warp.ready_at) return;
  warp.ready_at = until;
  if (until > sm_.run.now) later_.Add(until, {slot, Completion::kLanes, 0});
}

void IssueStatusUnit::UpdateSeveralWaiting(uint32_t hw_warp) {
  for (const SlotId slot : state_.hw_warps[hw_warp].slots) UpdateIfWaiting(slot);
}

Scoreboard::Hazard IssueStatusUnit::HazardOf(SlotId slot, const WarpEntry& warp, const IssueStep& step) const {
  const Position at = sm_.table().position[slot];
  if (warp.hw_warp != kMixedHwWarps) return state_.scoreboard.Check(warp.hw_warp, warp.own, step, at.pc(), at.depth());
  Scoreboard::Hazard hazard;
  for (const HwWarpLanes& one : state_.hw_warps.mixed(slot)) {
    hazard.Add(state_.scoreboard.Check(one.hw_warp, one.lanes, step, at.pc(), at.depth()));
  }
  return hazard;
}

IssueStatus IssueStatusUnit::StatusOf(SlotId slot, const WarpEntry& warp) const {
  if (warp.threads == 0) return IssueStatus();
  if (warp.paused) [[unlikely]]
    return StatusOfPaused(slot, warp);
  const WarpTable& warps = sm_.table();
  const auto status = [&](WarpClass state) { return IssueStatus(state, warps.port[slot], warp.threads); };
  const auto from_flight = [&](WarpClass state) {
    const InFlightEntry& entry = state_.in_flight[warp.in_flight_id];
    return status(state).From(entry.beyond_shared, entry.off_core);
  };
  switch (warps.state[slot]) {
    case SlotState::kFree:
      return IssueStatus();
    case SlotState::kParked:
    case SlotState::kResolving:
      return status(WarpClass::kPolicy);
    case SlotState::kBarrier:
      return status(WarpClass::kBarrier);
    case SlotState::kInFlight:
      switch (warp.in_flight) {
        case InFlightReason::kControl:
          return status(WarpClass::kControl);
        case InFlightReason::kWaitAtEnd:
        case InFlightReason::kFence:
          return status(WarpClass::kBarrier);
        case InFlightReason::kMemory:
          return from_flight(WarpClass::kMemory);
        case InFlightReason::kArithmetic:
          return from_flight(WarpClass::kArithmetic);
        case InFlightReason::kResolve:
          break;
      }
      return status(WarpClass::kPolicy);
    case SlotState::kOffered:
      break;
  }
  const auto offered = [&](WarpClass state) { return status(state).Offered(); };
  const bool not_ready_yet = state_.one_in_flight && sm_.run.now < warp.ready_at;
  if (sm_.formation.inserted(slot) != 0) {
    const WarpClass state = not_ready_yet ? WarpClass::kFetch : WarpClass::kStructural;
    return offered(state).Needs(state_.setup.table.inserted().unit);
  }
  const Pc pc = warps.position[slot].pc();
  // Waits for the warps of another block, as at a barrier.
  if (sm_.context.by_warp && sm_.SharedHeld(slot, sm_.steps[pc])) return offered(WarpClass::kBarrier);
  if (state_.one_in_flight) {
    const WarpClass state = not_ready_yet ? WarpClass::kFetch : WarpClass::kStructural;
    return offered(state).Needs(state_.setup.table[pc].unit);
  }
  return StatusAtHead(state_, offered(WarpClass::kStructural), warp,
                      [&](const IssueStep& step) { return HazardOf(slot, warp, step); });
}

// What holds a warp in flight goes on; what an offered one lacks is not asked for, so that it waits for nothing long.
IssueStatus IssueStatusUnit::StatusOfPaused(SlotId slot, const WarpEntry& warp) const {
  const WarpTable& warps = sm_.table();
  const IssueStatus status(WarpClass::kPaused, warps.port[slot], warp.threads);
  const SlotState state = warps.state[slot];
  if (state == SlotState::kOffered) return status.Offered();
  const bool has_result = warp.in_flight == InFlightReason::kMemory || warp.in_flight == InFlightReason::kArithmetic;
  if (state != SlotState::kInFlight || !has_result) return status;
  return status.From(/*beyond_shared=*/false, state_.in_flight[warp.in_flight_id].off_core);
}

void IssueStatusUnit::PauseChanged(BlockId block) {
  TakeChanges();
  const WarpTable& warps = sm_.table();
  for (size_t i = 0; i < state_.warps.size(); ++i) {
    const auto slot = static_cast<SlotId>(i);
    if (warps.state[slot] != SlotState::kFree && warps.block[slot] == block) Changed(slot, /*threads=*/false);
  }
}

void IssueStatusUnit::Update(SlotId slot) {
  IBufferState& state = state_;
  WarpEntry& warp = state.warps[slot];
  const IssueStatus status = warp.regular ? StatusOfRegular(state, warp) : StatusOf(slot, warp);
  if (status.off_core() != warp.long_wait_notified) ChangeLongWait(slot, warp);
  const IssueStatus before = state.issue_status.of(slot);
  if (before.state() == WarpClass::kPaused || status.state() == WarpClass::kPaused) [[unlikely]]
    state.issue_status.CountPaused(before, status);
  state.issue_status.Set(slot, status);
  if (!state.one_in_flight) buffers_.UpdateFetchable(slot, warp);
}

void IssueStatusUnit::ChangeLongWait(SlotId slot, WarpEntry& warp) {
  if (!warp.long_wait_notified) {
    long_waits_.push_back(slot);
    return;
  }
  warp.long_wait_notified = false;
  sm_.notifier.scheduler(state_.issue_status.of(slot).port()).LongLatencyEnded(slot);  // that it has waited on
}

void IssueStatusUnit::DeliverLongWaits() {
  std::sort(long_waits_.begin(), long_waits_.end());
  for (size_t i = 0; i < long_waits_.size(); ++i) {  // the policy may add some
    const SlotId slot = long_waits_[i];
    if (!state_.issue_status.of(slot).off_core() || state_.warps[slot].long_wait_notified) continue;
    state_.warps[slot].long_wait_notified = true;
    if ((sm_.interests & kLongLatency) != 0) NoteTold(slot);
    sm_.notifier.NotifyLongWait(slot);
    TakeChanges();
  }
  long_waits_.clear();
}

void IssueStatusUnit::NoteTold(SlotId slot) {
  const auto at = std::find_if(told_.begin(), told_.end(), [=](const Told& told) { return told.slot == slot; });
  const Told told{slot, sm_.table().formed[slot]};
  if (at == told_.end()) {
    told_.push_back(told);
  } else {
    *at = told;
  }
}

void IssueStatusUnit::DeliverEnds(const IBufferView& view) {
  ends_due_ = false;
  const WarpTable& warps = sm_.table();
  const auto same = [&](const Told& told) {
    return warps.state[told.slot] != SlotState::kFree && warps.formed[told.slot] == told.formed;
  };
  std::sort(told_.begin(), told_.end(), [](const Told& a, const Told& b) { return a.slot < b.slot; });
  for (size_t i = 0; i < told_.size(); ++i) {  // the policy may change any slot
    const Told told = told_[i];
    if (same(told) && view.WaitsLong(told.slot)) continue;
    told_[i].slot = kNoSlot;
    if (same(told)) sm_.policy->LongLatencyEnded(told.slot, sm_.formation.editor());
    TakeChanges();
  }
  std::erase_if(told_, [](const Told& told) { return told.slot == kNoSlot; });
}

void IssueStatusUnit::EndLongWait(SlotId slot) {
  if (!state_.warps[slot].long_wait_notified) return;
  state_.warps[slot].long_wait_notified = false;
  sm_.notifier.scheduler_of(slot).LongLatencyEnded(slot);
}

}  // namespace heddle::replay
