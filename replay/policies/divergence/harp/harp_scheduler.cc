#include "replay/policies/divergence/harp/harp_scheduler.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {

HarpScheduler::HarpScheduler(const HarpOptions& options, uint8_t port, HarpCounters& counters)
    : options_(options),
      port_(port),
      counters_(counters),
      barriers_(options.barriers),
      levels_(options, port, counters),
      ready_lookup_(options.ready_lookup, options.restamp, counters),
      waiting_lookup_(options, counters),
      low_water_(counters) {}

void HarpScheduler::Admit(const BlockAdmission& admission, size_t own_hw_warp, WarpEditor& editor) {
  const size_t warp_size = static_cast<size_t>(options_.barriers.warp_size);
  const size_t first_hw_warp = admission.first_thread / warp_size;
  ++resident_;
  for (size_t hw_warp = 0; hw_warp < admission.warps.size(); ++hw_warp) {
    barriers_.SetHwWarp(first_hw_warp + hw_warp, static_cast<uint32_t>((own_hw_warp + hw_warp) % barriers_.sets()));
    Lanes lanes;
    lanes.mask = admission.warps[hw_warp];
    for (size_t lane = 0; lane < warp_size; ++lane) {
      lanes.thread[lane] = static_cast<ThreadId>((first_hw_warp + hw_warp) * warp_size + lane);
    }
    if (lanes.mask != 0) SpawnReady(admission.entry, lanes, editor);
  }
  TrackLowWater(editor.now());
}

void HarpScheduler::Retire(Cycle now) {
  --resident_;
  TrackLowWater(now);
}

void HarpScheduler::Issued(SlotId slot, bool waits_for_memory, WarpEditor& editor) {
  levels_.Issued(editor);
  if (waits_for_memory) waiting_lookup_.Enter(slot, editor.table());
  CheckSecondLevel(editor);
  TrackLowWater(editor.now());
}

void HarpScheduler::Resolve(const Resolution& resolution, WarpEditor& editor) {
  const SlotId slot = resolution.slot;
  if (resolution.exited != 0) {
    complete_.clear();
    barriers_.Exit(*resolution.lanes, resolution.exited, complete_);
    ReviveAll(editor);
  }
  if (waiting_lookup_.Holds(slot) && LeaveWaitingLookup(resolution, editor)) {
    // Its threads have gone on in warps of the table.
  } else if (options_.barrier_latency == 1) {
    Apply(slot, resolution.groups, *resolution.lanes, resolution.reconvergence, resolution.exited == 0, editor);
  } else {
    Postpone(slot, resolution, editor);
  }
  TrackLowWater(editor.now());
}

void HarpScheduler::Timer(const HarpTimer& timer, WarpEditor& editor) {
  switch (timer.event) {
    case HarpTimer::Event::kTransitions:
      Transitions(editor);
      return;
    case HarpTimer::Event::kArrival:
      levels_.Arrived(static_cast<SlotId>(timer.which), editor);
      TrackLowWater(editor.now());
      return;
    case HarpTimer::Event::kFirstLevel:
      editor.Offer(static_cast<SlotId>(timer.which));
      return;
    case HarpTimer::Event::kCommit:
      ApplyPostponed(timer.which, editor);
      return;
  }
}

// --- slots

SlotId HarpScheduler::SpawnParked(Position at, const Lanes& lanes, HeldReason reason, WarpEditor& editor) {
  const SlotId slot = editor.SpawnParked(at, lanes, reason);
  if (slot == kNoSlot) return kNoSlot;  // the editor has reported why
  editor.SetPort(slot, port_);
  ++warps_;
  CheckSecondLevel(editor);
  return slot;
}

void HarpScheduler::SpawnReady(Position at, const Lanes& lanes, WarpEditor& editor) {
  const SlotId slot = SpawnParked(at, lanes, HeldReason::kReady, editor);
  if (slot != kNoSlot) levels_.MakeReady(slot, editor);
}

void HarpScheduler::Dissolve(SlotId slot, WarpEditor& editor) {
  --warps_;
  editor.Dissolve(slot);
}

void HarpScheduler::Hold(const Lanes& lanes, LaneMask mask, HeldReason reason, WarpEditor& editor) {
  ForEachLane(mask, [&](int lane) { editor.SetHeld(lanes.thread[lane], reason); });
}

void HarpScheduler::CheckSecondLevel(WarpEditor& editor) {
  const int used = warps_ - levels_.first_level() - static_cast<int>(ready_lookup_.size()) - waiting_lookup_.warps();
  counters_.Raise(kMaxSecondLevel, static_cast<uint64_t>(std::max(used, 0)));
  if (used <= options_.second_level) return;
  counters_.Count(kSecondLevelOverflows);
  if (!options_.spill) {
    editor.ReportLimitExceeded(absl::StrCat("the Second-Level table needs ", used, " entries, but second_level is ",
                                            options_.second_level,
                                            "; make it larger, or set second_level_overflow=spill"));
  }
}

// --- commit

void HarpScheduler::Apply(SlotId slot, std::span<const PathGroup> groups, const Lanes& lanes, Position reconvergence,
                          bool whole, WarpEditor& editor) {
  if (groups.size() == 1) {
    Lanes left = lanes;
    left.mask = groups[0].lanes;
    if (slot != kNoSlot && whole && barriers_.Expected(groups[0].at, left) == 0) {
      levels_.GoOn(slot, editor);
      return;
    }
    if (slot != kNoSlot) Dissolve(slot, editor);
    Arrive(groups[0].at, left, editor);
    if (left.mask != 0) SpawnReady(groups[0].at, left, editor);
    return;
  }
  const BlockId block = groups.empty() ? BlockId{0} : editor.block_of(lanes.thread[std::countr_zero(groups[0].lanes)]);
  if (slot != kNoSlot) Dissolve(slot, editor);
  if (groups.empty()) return;
  counters_.Count(kDivergences);
  if (!reconvergence.is_exit()) {
    Lanes live = lanes;
    live.mask = 0;
    for (const PathGroup& group : groups) live.mask |= group.lanes;
    Reserve(reconvergence, block, live);
  }
  // The lower PC first (ours; the paper leaves it open).
  for (const PathGroup& group : groups) {
    Lanes left = lanes;
    left.mask = group.lanes;
    Arrive(group.at, left, editor);
    if (left.mask != 0) MergeReady(group.at, left, block, editor);
  }
}

void HarpScheduler::Commit(Position at, const Lanes& lanes, WarpEditor& editor) {
  const PathGroup group{at, lanes.mask, false};
  if (options_.barrier_latency == 1) {
    Apply(kNoSlot, std::span(&group, 1), lanes, Position::Exit(), true, editor);
    return;
  }
  PendingCommit& commit = NewCommit(editor);
  commit.lanes = lanes;
  commit.groups.assign(1, group);
  Hold(lanes, lanes.mask, HeldReason::kDependency, editor);
}

void HarpScheduler::Postpone(SlotId slot, const Resolution& resolution, WarpEditor& editor) {
  if (resolution.groups.empty()) {
    Dissolve(slot, editor);
    return;
  }
  PendingCommit& commit = NewCommit(editor);
  commit.reconvergence = resolution.reconvergence;
  commit.lanes = *resolution.lanes;
  commit.groups.assign(resolution.groups.begin(), resolution.groups.end());
  if (resolution.groups.size() == 1 && resolution.exited == 0) {
    commit.slot = slot;
    editor.ContinueParked(slot, HeldReason::kDependency);
    return;
  }
  Dissolve(slot, editor);
  for (const PathGroup& group : resolution.groups) Hold(commit.lanes, group.lanes, HeldReason::kDependency, editor);
}

PendingCommit& HarpScheduler::NewCommit(WarpEditor& editor) {
  const uint32_t index = commits_.Take();
  editor.StartTimer(editor.now() + options_.barrier_latency - 1,
                    HarpTimer{HarpTimer::Event::kCommit, port_, index}.Tag());
  return commits_[index];
}

void HarpScheduler::ApplyPostponed(uint32_t index, WarpEditor& editor) {
  const PendingCommit& commit = commits_[index];
  commits_.Free(index);
  if (commit.slot != kNoSlot && barriers_.Expected(commit.groups[0].at, commit.lanes) == 0) {
    levels_.MakeReady(commit.slot, editor);
  } else {
    if (commit.slot != kNoSlot) Dissolve(commit.slot, editor);
    Apply(kNoSlot, commit.groups, commit.lanes, commit.reconvergence, true, editor);
  }
  TrackLowWater(editor.now());
}

bool HarpScheduler::LeaveWaitingLookup(const Resolution& resolution, WarpEditor& editor) {
  const SlotId slot = resolution.slot;
  const Lanes& lanes = *resolution.lanes;
  if (waiting_lookup_.LeaveAlone(slot, lanes.mask)) return false;
  const Position at = resolution.groups[0].at;
  Dissolve(slot, editor);
  Lanes own = lanes;
  own.mask = waiting_lookup_.Leave(
      slot, lanes, [&](LaneMask waiting) { Hold(lanes, waiting, HeldReason::kDependency, editor); },
      [&](const Lanes& gathered) { Commit(at, gathered, editor); });
  if (own.mask != 0) Commit(at, own, editor);
  return true;
}

void HarpScheduler::MergeReady(Position at, const Lanes& lanes, BlockId block, WarpEditor& editor) {
  const Lanes left = ready_lookup_.Merge(at, block, lanes, editor);
  if (left.mask == 0) return;
  if (ready_lookup_.full()) {
    counters_.Count(kReadyBypasses);
    SpawnReady(at, left, editor);
    return;
  }
  const SlotId slot = SpawnParked(at, left, HeldReason::kInactive, editor);
  if (slot == kNoSlot) return;
  ready_lookup_.Push(slot);
  Watch(editor);
}

// --- barriers

void HarpScheduler::Reserve(Position point, BlockId block, const Lanes& live) {
  const uint64_t before = barriers_.reserved();
  counters_.Count(kBarrierMisses, static_cast<uint64_t>(barriers_.Reserve(point, block, live)));
  counters_.Count(kBarriersReserved, barriers_.reserved() - before);
  counters_.Raise(kMaxBarriers, barriers_.most_live());
}

void HarpScheduler::Arrive(Position at, Lanes& lanes, WarpEditor& editor) {
  complete_.clear();
  const LaneMask reached = barriers_.Reach(at, lanes, complete_);
  if (reached == 0) return;
  Hold(lanes, reached, HeldReason::kReconverging, editor);
  lanes.mask &= ~reached;
  ReviveAll(editor);
}

void HarpScheduler::ReviveAll(WarpEditor& editor) {
  std::reverse(complete_.begin(), complete_.end());
  while (!complete_.empty()) {
    RevivedWarp warp;
    warp.lanes = barriers_.Release(complete_.back(), warp.at);
    complete_.pop_back();
    counters_.Count(kWarpsRevived);
    inner_.clear();
    const LaneMask reached = barriers_.Reach(warp.at, warp.lanes, inner_);
    complete_.insert(complete_.end(), inner_.rbegin(), inner_.rend());
    warp.lanes.mask &= ~reached;
    if (warp.lanes.mask == 0) continue;
    if (options_.one_port) {
      Hold(warp.lanes, warp.lanes.mask, HeldReason::kReady, editor);
      revived_.push_back(warp);
      Watch(editor);
    } else {
      EnterSecondLevel(warp, editor);
    }
  }
}

// --- moves into the Second-Level

void HarpScheduler::EnterSecondLevel(const RevivedWarp& warp, WarpEditor& editor) {
  const SlotId slot = SpawnParked(warp.at, warp.lanes, HeldReason::kReady, editor);
  if (slot == kNoSlot) return;
  CheckSecondLevel(editor);
  levels_.MoveIn(slot, options_.barrier_delay, editor);
}

void HarpScheduler::Watch(WarpEditor& editor) {
  if (watched_) return;
  watched_ = true;
  editor.StartTimer(editor.now(), HarpTimer{HarpTimer::Event::kTransitions, port_, 0}.Tag());
}

void HarpScheduler::Transitions(WarpEditor& editor) {
  watched_ = false;
  bool port_free = true;
  if (!revived_.empty()) {
    const RevivedWarp warp = revived_.front();
    revived_.pop_front();
    EnterSecondLevel(warp, editor);
    port_free = false;
  }
  for (int i = 0; i < options_.lookups_per_cycle && (port_free || !options_.one_port); ++i) {
    if (ready_lookup_.empty() || levels_.ready() >= options_.low_water) break;
    const SlotId slot = ready_lookup_.Pop();
    CheckSecondLevel(editor);
    levels_.MoveIn(slot, options_.lookup_delay, editor);
    port_free = false;
  }
  TrackLowWater(editor.now());
  if (ready_lookup_.empty() && revived_.empty()) return;
  watched_ = true;
  editor.StartTimer(editor.now() + 1, HarpTimer{HarpTimer::Event::kTransitions, port_, 0}.Tag());
}

}  // namespace heddle::replay
