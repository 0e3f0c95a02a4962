#include "replay/policies/divergence/block_wide/block_stacks.h"

#include <algorithm>
#include <utility>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

BlockStacks::BlockStacks(BlockStaticWarps static_warps, bool taken_first, BlockStackCounts& counts)
    : taken_first_(taken_first),
      counts_(counts),
      static_warps_(std::move(static_warps)),
      judge_(static_cast<int>(static_warps_.warp_size()), counts),
      stacks_(static_warps_.blocks()) {}

StackEntryId BlockStacks::Open(const BlockAdmission& admission) {
  static_warps_.Set(admission.block, admission.first_thread, static_cast<uint32_t>(admission.warps.size()));
  const StackEntryId id = NewEntry(admission.block);
  stacks_[admission.block].assign(1, id);
  StackEntry& entry = At(id);
  entry.next = admission.entry;
  entry.started = true;
  for (size_t static_warp = 0; static_warp < admission.warps.size(); ++static_warp)
    entry.threads.Insert(static_warp, admission.warps[static_warp]);
  counts_.Raise(kMaxStackDepth, 1);
  return id;
}

void BlockStacks::Close(BlockId block) {
  for (const StackEntryId id : stacks_[block]) entries_.Free(id);
  stacks_[block].clear();
}

StackEntryId BlockStacks::NewEntry(BlockId block) {
  const StackEntryId id = entries_.Take();
  // Field by field, so that the vectors keep their memory. What is known of a branch is set when the first warp
  // arrives.
  StackEntry& entry = At(id);
  entry.block = block;
  entry.next = entry.rpc = Position::Exit();
  entry.started = entry.from_branch = false;
  entry.threads.Reset(static_warps_.static_warps(block));
  entry.apart.Reset(static_warps_.static_warps(block));
  entry.wcnt = entry.running = entry.next_index = 0;
  entry.kept.clear();
  entry.set_aside.clear();
  entry.deferred.clear();
  entry.waiting = 0;
  entry.waiting_since = 0;
  entry.taken = false;
  entry.counts.Clear();
  entry.branch.paths.clear();
  return id;
}

void BlockStacks::Forget(BlockId block, const Lanes& lanes, LaneMask exited) {
  for (const StackEntryId id : stacks_[block]) {
    StackEntry& entry = At(id);
    static_warps_.ForEachStaticWarp(block, lanes, exited, [&](size_t static_warp, LaneMask mask) {
      entry.threads.Erase(static_warp, mask);
      entry.apart.Erase(static_warp, mask);
      for (const StackEntryId path : entry.branch.paths) {
        At(path).threads.Erase(static_warp, mask);
        At(path).apart.Erase(static_warp, mask);
      }
    });
  }
}

// --- threads of a warp that has arrived

void BlockStacks::Leave(StackEntry& entry, const Lanes& lanes, LaneMask mask) {
  static_warps_.ForEachStaticWarp(entry.block, lanes, mask, [&](size_t static_warp, LaneMask of_hw_warp) {
    entry.threads.Erase(static_warp, of_hw_warp);
  });
}

uint32_t BlockStacks::NumberOfPath(StackEntry& entry, const PathGroup& group) {
  StagedBranch& branch = entry.branch;
  uint32_t number = 0;
  for (; number < branch.paths.size(); ++number) {
    if (At(branch.paths[number]).next == group.at) return number;
  }
  const StackEntryId id = NewEntry(entry.block);
  StackEntry& path = At(id);
  path.next = group.at;
  path.rpc = group.at == branch.target ? entry.rpc : branch.target;
  path.taken = group.taken;
  path.from_branch = branch.conditional && group.at != branch.target;
  branch.paths.push_back(id);
  return number;
}

StackEntryId BlockStacks::PathTo(StackEntry& entry, const PathGroup& group) {
  const uint32_t number = NumberOfPath(entry, group);
  return entry.branch.paths[number];
}

bool BlockStacks::Stage(StackEntry& entry, const ArrivedWarp& arrival) {
  StagedBranch& branch = entry.branch;
  const Position target = Target(entry, arrival);
  bool agrees = true;
  if (branch.paths.empty()) {
    branch.from = arrival.from;
    branch.target = target;
    branch.conditional = arrival.conditional;
    branch.diverged = branch.forked = false;
    branch.arrivals = branch.stalled = 0;
    branch.sides.clear();
    branch.bypassed.clear();
  } else if (branch.from != arrival.from || branch.target != target) {
    // All threads of the entry come to its own reconvergence point, whatever way they take.
    branch.target = entry.rpc;
    agrees = branch.forked;
    branch.forked = true;
  }
  branch.diverged |= arrival.groups.size() > 1;
  for (const PathGroup& group : arrival.groups) {
    const uint32_t number = NumberOfPath(entry, group);
    StackEntry& path = At(branch.paths[number]);
    static_warps_.ForEachStaticWarp(
        entry.block, *arrival.lanes, group.lanes,
        [&](size_t static_warp, LaneMask of_hw_warp) { path.threads.Insert(static_warp, of_hw_warp); });
    path.counts.Add(group.lanes);
    branch.sides.push_back({branch.arrivals, number, group.lanes});
  }
  ++branch.arrivals;
  return agrees;
}

void BlockStacks::SetApart(StackEntry& path, const Lanes& lanes, LaneMask mask) {
  static_warps_.ForEachStaticWarp(path.block, lanes, mask, [&](size_t static_warp, LaneMask of_hw_warp) {
    path.apart.Insert(static_warp, of_hw_warp);
  });
}

// --- the stack

bool BlockStacks::AnyRuns(BlockId block) const {
  return std::any_of(stacks_[block].begin(), stacks_[block].end(),
                     [&](StackEntryId id) { return At(id).started && At(id).running != 0; });
}

std::optional<StackEntryId> BlockStacks::Runnable(BlockId block) const {
  const std::vector<StackEntryId>& stack = stacks_[block];
  for (size_t i = stack.size(); i-- > 0;) {
    const StackEntry& entry = At(stack[i]);
    if (entry.started && entry.set_aside.empty()) continue;
    bool covered = false;
    for (size_t above = i + 1; above < stack.size() && !covered; ++above) {
      covered = At(stack[above]).threads.Intersects(entry.threads);
    }
    if (!covered) return stack[i];
  }
  return std::nullopt;
}

bool BlockStacks::Reduce(BlockId block, WarpEditor& editor, std::optional<BranchOutcome>& executed) {
  std::vector<StackEntryId>& stack = stacks_[block];
  for (size_t i = stack.size(); i-- > 0;) {
    StackEntry& entry = At(stack[i]);
    if (entry.wcnt != 0) continue;
    if (entry.started && !entry.branch.paths.empty()) {
      executed = Branch(block, i, editor);
      return true;
    }
    if (entry.threads.empty()) {
      EndWaiting(entry, editor.now());
      entries_.Free(stack[i]);
      stack.erase(stack.begin() + static_cast<ptrdiff_t>(i));
      return true;
    }
  }
  return false;
}

void BlockStacks::EndWaiting(StackEntry& entry, Cycle now) {
  counts_.Count(kSyncWaitCycles, entry.waiting * now - entry.waiting_since);
  entry.waiting = 0;
  entry.waiting_since = 0;
}

void BlockStacks::SortForPushing(std::vector<StackEntryId>& paths) const {
  const bool two_way = paths.size() == 2 && At(paths[0]).taken != At(paths[1]).taken;
  std::sort(paths.begin(), paths.end(), [&](StackEntryId a, StackEntryId b) {
    if (two_way) return At(b).taken == taken_first_ && At(a).taken != taken_first_;
    return At(a).next > At(b).next;
  });
}

std::optional<BranchOutcome> BlockStacks::Branch(BlockId block, size_t index, WarpEditor& editor) {
  std::vector<StackEntryId>& stack = stacks_[block];
  const StackEntryId id = stack[index];
  StackEntry& entry = At(id);
  EndWaiting(entry, editor.now());
  order_.assign(entry.branch.paths.begin(), entry.branch.paths.end());
  SortForPushing(order_);
  const std::optional<BranchOutcome> outcome = judge_.RecordOutcome(entry, order_, entries_);

  entry.branch.paths.clear();
  if (order_.size() == 1) {
    // Nothing is pushed: the entry goes on with the same threads, compacted anew.
    StackEntry& path = At(order_[0]);
    if (path.next == entry.rpc) {
      HoldAtRpc(path, editor);
      entries_.Free(order_[0]);
      entry.threads.Reset(static_warps_.static_warps(block));
      return outcome;
    }
    path.rpc = entry.rpc;
    stack[index] = order_[0];
    entries_.Free(id);
    return outcome;
  }

  StackEntryId at_target = id;
  for (size_t i = 0; i < order_.size(); ++i) {
    if (At(order_[i]).next != entry.branch.target) continue;
    at_target = order_[i];
    order_.erase(order_.begin() + static_cast<ptrdiff_t>(i));
    HoldAtRpc(At(at_target), editor);
    break;
  }
  const Position target = entry.branch.target;
  auto place = stack.begin() + static_cast<ptrdiff_t>(index);
  if (target == entry.rpc) {
    // The entry below waits at this very point. Without this a loop's exit branch would grow the stack with every
    // iteration.
    place = stack.erase(place);
    if (at_target != id) entries_.Free(at_target);
    entries_.Free(id);
  } else {
    // This entry waits at the reconvergence point, with the warps that have run ahead into it.
    if (at_target != id) {
      At(at_target).threads.swap(entry.threads);
      *place = at_target;
      entries_.Free(id);
    } else {
      entry.next = target;
      entry.started = false;
      entry.next_index = 0;
    }
    ++place;
  }
  for (const StackEntryId path : order_) At(path).rpc = target;
  stack.insert(place, order_.begin(), order_.end());
  counts_.Raise(kMaxStackDepth, stack.size());
  return outcome;
}

void BlockStacks::HoldAtRpc(const StackEntry& path, WarpEditor& editor) const {
  for (size_t static_warp = 0; static_warp < path.threads.static_warps(); ++static_warp) {
    ForEachLane(path.threads[static_warp] & ~path.apart[static_warp], [&](int lane) {
      editor.SetHeld(static_warps_.ThreadAt(path.block, static_warp, static_cast<size_t>(lane)),
                     HeldReason::kReconverging);
    });
  }
}

}  // namespace heddle::replay
