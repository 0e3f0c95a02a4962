// HARP: what becomes of a warp whose instruction is done.
#include <algorithm>
#include <bit>

#include "replay/policies/divergence/harp/harp.h"

namespace heddle::replay {

Verdict HarpPolicy::Resolve(const Resolution& resolution, WarpEditor& editor) {
  const SlotId slot = resolution.slot;
  accepted_[slot] = 0;
  const uint8_t port = editor.table().port[slot];
  HarpTables& tables = tables_[port];
  if (resolution.exited != 0) {
    complete_.clear();
    tables.barriers.Exit(*resolution.lanes, resolution.exited, complete_);
    ReviveAll(port, editor);
  }
  if (!shares_[slot].empty() && LeaveWaitingLookup(resolution, port, editor)) {
    // Its threads have gone on in warps of the table.
  } else if (barrier_latency_ == 1) {
    Apply(port, slot, resolution.groups, *resolution.lanes, resolution.reconvergence, resolution.exited == 0, editor);
  } else {
    Postpone(port, slot, resolution, editor);
  }
  TrackLow(tables, editor.now());
  return Verdict::kAccepted;
}

void HarpPolicy::Apply(uint8_t port, SlotId slot, std::span<const PathGroup> groups, const Lanes& lanes,
                       Position reconvergence, bool whole, WarpEditor& editor) {
  HarpTables& tables = tables_[port];
  if (groups.size() == 1) {
    Lanes left = lanes;
    left.mask = groups[0].lanes;
    if (slot != kNoSlot && whole && tables.barriers.Expected(groups[0].at, left) == 0) {
      GoOn(tables, slot, editor);
      return;
    }
    if (slot != kNoSlot) Dissolve(port, slot, editor);
    Arrive(port, groups[0].at, left, editor);
    if (left.mask != 0) SpawnReady(port, groups[0].at, left, editor);
    return;
  }
  const BlockId block = groups.empty() ? BlockId{0} : editor.block_of(lanes.thread[std::countr_zero(groups[0].lanes)]);
  if (slot != kNoSlot) Dissolve(port, slot, editor);
  if (groups.empty()) return;
  ++counters_[kDivergences];
  if (!reconvergence.is_exit()) {
    Lanes live = lanes;
    live.mask = 0;
    for (const PathGroup& group : groups) live.mask |= group.lanes;
    counters_[kBarrierMisses] += static_cast<uint64_t>(tables.barriers.Reserve(reconvergence, block, live));
    Raise(kMaxBarriers, tables.barriers.most_live());
    SumReserved();
  }
  // The lower PC first (ours; the paper leaves it open).
  for (const PathGroup& group : groups) {
    Lanes left = lanes;
    left.mask = group.lanes;
    Arrive(port, group.at, left, editor);
    if (left.mask != 0) MergeReady(port, group.at, left, block, editor);
  }
}

void HarpPolicy::SumReserved() {
  counters_[kBarriersReserved] = 0;
  for (const HarpTables& tables : tables_) counters_[kBarriersReserved] += tables.barriers.reserved();
}

// --- pipelined search of the barrier table

void HarpPolicy::Postpone(uint8_t port, SlotId slot, const Resolution& resolution, WarpEditor& editor) {
  if (resolution.groups.empty()) {
    Dissolve(port, slot, editor);
    return;
  }
  PendingCommit& commit = NewCommit(port, editor);
  commit.reconvergence = resolution.reconvergence;
  commit.lanes = *resolution.lanes;
  commit.groups.assign(resolution.groups.begin(), resolution.groups.end());
  if (resolution.groups.size() == 1 && resolution.exited == 0) {
    commit.slot = slot;
    editor.ContinueParked(slot, HeldReason::kDependency);
    return;
  }
  Dissolve(port, slot, editor);
  for (const PathGroup& group : resolution.groups) Hold(commit.lanes, group.lanes, HeldReason::kDependency, editor);
}

PendingCommit& HarpPolicy::NewCommit(uint8_t port, WarpEditor& editor) {
  size_t index = 0;
  while (index < commits_.size() && commits_[index].used) ++index;
  if (index == commits_.size()) commits_.emplace_back();
  PendingCommit& commit = commits_[index];
  commit.used = true;
  commit.port = port;
  commit.slot = kNoSlot;
  commit.reconvergence = Position::Exit();
  editor.StartTimer(editor.now() + barrier_latency_ - 1, Tag(Event::kCommit, index));
  return commit;
}

void HarpPolicy::ApplyPostponed(uint32_t index, WarpEditor& editor) {
  PendingCommit& commit = commits_[index];
  HarpTables& tables = tables_[commit.port];
  commit.used = false;
  if (commit.slot != kNoSlot && tables.barriers.Expected(commit.groups[0].at, commit.lanes) == 0) {
    MakeReady(tables, commit.slot, editor);
  } else {
    if (commit.slot != kNoSlot) Dissolve(commit.port, commit.slot, editor);
    Apply(commit.port, kNoSlot, commit.groups, commit.lanes, commit.reconvergence, true, editor);
  }
  TrackLow(tables, editor.now());
}

void HarpPolicy::Commit(uint8_t port, Position at, const Lanes& lanes, WarpEditor& editor) {
  const PathGroup group{at, lanes.mask, false};
  if (barrier_latency_ == 1) {
    Apply(port, kNoSlot, std::span(&group, 1), lanes, Position::Exit(), true, editor);
    return;
  }
  PendingCommit& commit = NewCommit(port, editor);
  commit.lanes = lanes;
  commit.groups.assign(1, group);
  Hold(lanes, lanes.mask, HeldReason::kDependency, editor);
}

// --- reconvergence barriers

void HarpPolicy::Arrive(uint8_t port, Position at, Lanes& lanes, WarpEditor& editor) {
  complete_.clear();
  const LaneMask reached = tables_[port].barriers.Reach(at, lanes, complete_);
  if (reached == 0) return;
  Hold(lanes, reached, HeldReason::kReconverging, editor);
  lanes.mask &= ~reached;
  ReviveAll(port, editor);
}

void HarpPolicy::ReviveAll(uint8_t port, WarpEditor& editor) {
  HarpTables& tables = tables_[port];
  std::reverse(complete_.begin(), complete_.end());
  while (!complete_.empty()) {
    RevivedWarp warp;
    warp.lanes = tables.barriers.Release(complete_.back(), warp.at);
    complete_.pop_back();
    ++counters_[kWarpsRevived];
    inner_.clear();
    const LaneMask reached = tables.barriers.Reach(warp.at, warp.lanes, inner_);
    complete_.insert(complete_.end(), inner_.rbegin(), inner_.rend());
    warp.lanes.mask &= ~reached;
    if (warp.lanes.mask == 0) continue;
    if (one_port_) {
      Hold(warp.lanes, warp.lanes.mask, HeldReason::kReady, editor);
      tables.revived.push_back(warp);
      Watch(port, editor);
    } else {
      EnterSecondLevel(port, warp, editor);
    }
  }
}

// --- lookup tables

void HarpPolicy::MergeReady(uint8_t port, Position at, Lanes left, BlockId block, WarpEditor& editor) {
  HarpTables& tables = tables_[port];
  const WarpTable& table = editor.table();
  std::vector<SlotId>& lookup = tables.ready_lookup;
  merged_.clear();
  for (const SlotId entry : lookup) {
    Lanes fit = left;
    fit.mask &= ~table.lanes[entry].mask;
    if (table.position[entry] != at || table.block[entry] != block || fit.mask == 0) continue;
    editor.Join(entry, fit);
    left.mask &= ~fit.mask;
    merged_.push_back(entry);
    ++counters_[kReadyMerges];
    counters_[kReadyThreadsMerged] += static_cast<uint64_t>(std::popcount(fit.mask));
  }
  if (restamp_) {
    for (const SlotId entry : merged_) {
      lookup.erase(std::find(lookup.begin(), lookup.end(), entry));
      lookup.push_back(entry);
    }
  }
  if (left.mask == 0) return;
  if (lookup.size() >= ready_lookup_) {
    ++counters_[kReadyBypasses];
    SpawnReady(port, at, left, editor);
    return;
  }
  const SlotId slot = SpawnParked(port, at, left, HeldReason::kInactive, editor);
  if (slot == kNoSlot) return;
  lookup.push_back(slot);
  Raise(kMaxReadyLookup, lookup.size());
  Watch(port, editor);
}

void HarpPolicy::EnterWaitingLookup(HarpTables& tables, SlotId slot, WarpEditor& editor) {
  if (waiting_lookup_ == 0) return;
  const WarpTable& table = editor.table();
  const Position at = table.position[slot];
  LaneMask left = table.lanes[slot].mask;
  for (const uint32_t index : tables.waiting_order) {
    WaitingEntry& entry = tables.waiting[index];
    const LaneMask fit = left & ~entry.members;
    if (entry.at != at || entry.block != table.block[slot] || fit == 0 || (whole_warps_ && fit != left)) continue;
    entry.members |= fit;
    ++entry.pending;
    shares_[slot].push_back({index, fit});
    left &= ~fit;
    ++counters_[kWaitingMerges];
    counters_[kWaitingThreadsMerged] += static_cast<uint64_t>(std::popcount(fit));
  }
  if (left != 0) {
    if (tables.waiting_order.size() == waiting_lookup_) {
      ++counters_[kWaitingBypasses];
      return;
    }
    uint32_t index = 0;
    while (tables.waiting[index].pending != 0) ++index;
    WaitingEntry& entry = tables.waiting[index];
    entry.at = at;
    entry.block = table.block[slot];
    entry.members = left;
    entry.pending = 1;
    entry.gathered.mask = 0;
    tables.waiting_order.push_back(index);
    Raise(kMaxWaitingLookup, tables.waiting_order.size());
    shares_[slot].push_back({index, left});
  }
  ++tables.waiting_warps;
}

bool HarpPolicy::LeaveWaitingLookup(const Resolution& resolution, uint8_t port, WarpEditor& editor) {
  HarpTables& tables = tables_[port];
  std::vector<WaitingShare>& shares = shares_[resolution.slot];
  const LaneMask all = resolution.lanes->mask;
  LaneMask own = all;  // threads that found no entry
  for (const WaitingShare& share : shares) own &= ~share.lanes;
  if (own == 0) --tables.waiting_warps;
  if (shares.size() == 1 && own == 0 && tables.waiting[shares[0].entry].members == all) {
    FreeWaiting(tables, shares[0].entry);
    shares.clear();
    return false;
  }
  const Position at = resolution.groups[0].at;
  Dissolve(port, resolution.slot, editor);
  for (const WaitingShare& share : shares) {
    WaitingEntry& entry = tables.waiting[share.entry];
    entry.gathered.mask |= share.lanes;
    ForEachLane(share.lanes, [&](int lane) { entry.gathered.thread[lane] = resolution.lanes->thread[lane]; });
    if (--entry.pending != 0) {
      Hold(*resolution.lanes, share.lanes, HeldReason::kDependency, editor);
      continue;
    }
    const Lanes gathered = entry.gathered;
    FreeWaiting(tables, share.entry);
    Commit(port, at, gathered, editor);
  }
  shares.clear();
  if (own != 0) {
    Lanes rest = *resolution.lanes;
    rest.mask = own;
    Commit(port, at, rest, editor);
  }
  return true;
}

void HarpPolicy::FreeWaiting(HarpTables& tables, uint32_t index) {
  tables.waiting[index].pending = 0;
  std::erase(tables.waiting_order, index);
}

}  // namespace heddle::replay
