// The entries of the block-wide stack: branches, reconvergence, compaction, and which entry runs.
#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/policies/divergence/block_wide/block_stack.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {

BlockStackPolicy::EntryId BlockStackPolicy::NewEntry(BlockId block) {
  if (free_entries_.empty()) {
    free_entries_.push_back(static_cast<EntryId>(entries_.size()));
    entries_.emplace_back();
  }
  const EntryId id = free_entries_.back();
  free_entries_.pop_back();
  // Field by field, so that the vectors keep their memory.
  Entry& entry = At(id);
  entry.block = block;
  entry.next = entry.rpc = Position::Exit();
  entry.started = entry.from_branch = false;
  entry.threads.Reset(blocks_[block].rows);
  entry.apart.Reset(blocks_[block].rows);
  entry.wcnt = entry.running = entry.next_index = 0;
  entry.kept.clear();
  entry.set_aside.clear();
  entry.put_off.clear();
  entry.waiting = 0;
  entry.waiting_since = 0;
  entry.taken = false;
  entry.counts.Clear();
  entry.paths.clear();
  return id;
}

void BlockStackPolicy::FreeEntry(EntryId id) { free_entries_.push_back(id); }

// Brings the stack up to date after something has happened to a warp of the block, and starts the entry that is to run.
void BlockStackPolicy::Settle(BlockId id, WarpEditor& editor) {
  Block& block = blocks_[id];
  for (;;) {
    if (Reduce(block, editor)) continue;
    const size_t next = AnyRuns(block) ? block.stack.size() : Runnable(block);
    if (next == block.stack.size()) break;
    if (At(block.stack[next]).started) {
      Resume(block.stack[next], editor);
    } else {
      Activate(block.stack[next], editor);
    }
  }
  if (spare_ != kNoSlot) editor.Dissolve(std::exchange(spare_, kNoSlot));
}

bool BlockStackPolicy::AnyRuns(const Block& block) const {
  return std::any_of(block.stack.begin(), block.stack.end(),
                     [&](EntryId id) { return At(id).started && At(id).running != 0; });
}

// Carries out one branch that all warps have come to, or drops one entry whose threads have all left it. False if
// there is none.
bool BlockStackPolicy::Reduce(Block& block, WarpEditor& editor) {
  for (size_t i = block.stack.size(); i-- > 0;) {
    Entry& entry = At(block.stack[i]);
    if (entry.wcnt != 0) continue;
    if (entry.started && !entry.paths.empty()) {
      Branch(block, i, editor);
      return true;
    }
    if (entry.threads.empty()) {
      EndWaiting(entry, editor.now());
      FreeEntry(block.stack[i]);
      block.stack.erase(block.stack.begin() + static_cast<ptrdiff_t>(i));
      return true;
    }
  }
  return false;
}

void BlockStackPolicy::EndWaiting(Entry& entry, Cycle now) {
  Count(kSyncWaitCycles, entry.waiting * now - entry.waiting_since);
  entry.waiting = 0;
  entry.waiting_since = 0;
}

// The topmost entry that can be started or resumed: none of its threads is in an entry above it. The stack's size if
// there is none.
size_t BlockStackPolicy::Runnable(const Block& block) const {
  for (size_t i = block.stack.size(); i-- > 0;) {
    const Entry& entry = At(block.stack[i]);
    if (entry.started && entry.set_aside.empty()) continue;
    bool covered = false;
    for (size_t above = i + 1; above < block.stack.size() && !covered; ++above) {
      covered = At(block.stack[above]).threads.Intersects(entry.threads);
    }
    if (!covered) return i;
  }
  return block.stack.size();
}

// The entry becomes the one that runs: warps that ran ahead are its warps from now on, kept ones start as they are, the
// other threads are compacted.
void BlockStackPolicy::Activate(EntryId id, WarpEditor& editor) {
  Entry& entry = At(id);
  entry.started = true;
  for (const KeptWarp& warp : entry.kept) {
    ++entry.wcnt;
    Start(id, warp, editor);
  }
  entry.kept.clear();
  const Block& block = blocks_[entry.block];
  const ThreadId first_thread = static_cast<ThreadId>(block.first_row * static_cast<uint32_t>(warp_size_));
  KeptWarp warp;
  warp.at = entry.next;
  for (const Lanes& lanes : compactor_.Compact(entry.threads, entry.apart, first_thread, warp_size_)) {
    ++entry.wcnt;
    warp.lanes = lanes;
    warp.index = entry.next_index++;
    if (options_.wcu_cycles_per_warp == 0) {
      Start(id, warp, editor);
      continue;
    }
    wcu_free_ = std::max(wcu_free_, editor.now()) + static_cast<Cycle>(options_.wcu_cycles_per_warp);
    ++entry.running;
    in_wcu_.push_back({id, warp});
    editor.StartTimer(wcu_free_, 0);
  }
  if (!entry.apart.empty()) entry.apart.Reset(block.rows);
  if (std::exchange(entry.from_branch, false)) Count(kWarpsAfter, entry.wcnt);

  // Now the ends of basic blocks that warps have come to while they ran ahead count.
  put_off_now_.assign(entry.put_off.begin(), entry.put_off.end());
  entry.put_off.clear();
  for (const uint32_t number : put_off_now_) {
    const PutOff& past = put_off_pool_[number];
    Event event;
    event.slot = past.slot;
    event.from = past.from;
    event.groups = past.groups;
    event.lanes = &past.lanes;
    event.reconvergence = past.reconvergence;
    event.conditional = past.conditional;
    event.uniform = past.uniform;
    event.put_off = true;
    Count(kSyncWaitCycles, editor.now() - past.since);
    ++entry.running;
    Handle(id, event, editor);
    free_put_off_.push_back(number);
  }
}

// Warps that a barrier has let go while another entry ran.
void BlockStackPolicy::Resume(EntryId id, WarpEditor& editor) {
  Entry& entry = At(id);
  for (const KeptWarp& warp : entry.set_aside) Start(id, warp, editor);
  entry.set_aside.clear();
}

void BlockStackPolicy::SortForPushing(std::vector<EntryId>& paths) const {
  const bool two_way = paths.size() == 2 && At(paths[0]).taken != At(paths[1]).taken;
  std::sort(paths.begin(), paths.end(), [&](EntryId a, EntryId b) {
    if (two_way) return At(b).taken == options_.taken_first && At(a).taken != options_.taken_first;
    return At(a).next > At(b).next;
  });
}

// WCnt of an entry is zero and its warps have executed a branch: the paths replace it, or go on top of it.
void BlockStackPolicy::Branch(Block& block, size_t index, WarpEditor& editor) {
  const EntryId id = block.stack[index];
  Entry& entry = At(id);
  EndWaiting(entry, editor.now());
  order_.assign(entry.paths.begin(), entry.paths.end());
  SortForPushing(order_);
  Judge(entry);

  entry.paths.clear();
  if (order_.size() == 1) {
    // Nothing is pushed: the entry goes on with the same threads, compacted anew.
    Entry& path = At(order_[0]);
    if (path.next == entry.rpc) {
      HoldAtRpc(path, editor);
      FreeEntry(order_[0]);
      entry.threads.Reset(block.rows);
      return;
    }
    path.rpc = entry.rpc;
    block.stack[index] = order_[0];
    FreeEntry(id);
    return;
  }

  EntryId at_target = id;
  for (size_t i = 0; i < order_.size(); ++i) {
    if (At(order_[i]).next != entry.target) continue;
    at_target = order_[i];
    order_.erase(order_.begin() + static_cast<ptrdiff_t>(i));
    HoldAtRpc(At(at_target), editor);
    break;
  }
  const Position target = entry.target;
  auto place = block.stack.begin() + static_cast<ptrdiff_t>(index);
  if (target == entry.rpc) {
    // The entry below waits at this very point. Without this a loop's exit branch would grow the stack with every
    // iteration.
    place = block.stack.erase(place);
    if (at_target != id) FreeEntry(at_target);
    FreeEntry(id);
  } else {
    // This entry waits at the reconvergence point, with the warps that have run ahead into it.
    if (at_target != id) {
      At(at_target).threads.swap(entry.threads);
      *place = at_target;
      FreeEntry(id);
    } else {
      entry.next = target;
      entry.started = false;
      entry.next_index = 0;
    }
    ++place;
  }
  for (const EntryId path : order_) At(path).rpc = target;
  block.stack.insert(place, order_.begin(), order_.end());
  Raise(kMaxStackDepth, block.stack.size());
}

// Statistics of a branch, and what a predictor learns of it.
void BlockStackPolicy::Judge(const Entry& entry) {
  if (!entry.conditional) {
    Count(kJumps);
    return;
  }
  BranchOutcome outcome;
  outcome.pc = entry.branch.pc();
  outcome.diverged = entry.diverged;
  for (const EntryId id : entry.paths) {
    const Entry& path = At(id);
    if (!Compacts(entry, path)) continue;
    outcome.all_active += path.counts.active();
    outcome.all_needed += path.counts.needed();
  }
  for (size_t i = order_.size(); i-- > 0;) {
    const Entry& path = At(order_[i]);
    if (!Compacts(entry, path)) continue;
    outcome.next_active = path.counts.active();
    outcome.next_needed = path.counts.needed();
    break;
  }
  Count(kBranches);
  Count(entry.paths.size() == 1                    ? kUniformBranches
        : outcome.all_needed == outcome.all_active ? kIncompactableBranches
                                                   : kCompactableBranches);
  Count(kWarpsBefore, outcome.all_active);

  uint32_t ideal = 0;  // warps that have to wait
  if (outcome.all_needed != outcome.all_active) {
    // The paths that count, numbered anew.
    sides_.clear();
    counts_.clear();
    for (uint32_t number = 0; number < entry.paths.size(); ++number) {
      const Entry& path = At(entry.paths[number]);
      if (!Compacts(entry, path)) continue;
      for (const BranchSide& side : entry.sides) {
        if (side.path == number) sides_.push_back({side.warp, static_cast<uint32_t>(counts_.size()), side.lanes});
      }
      counts_.push_back(path.counts);
    }
    std::sort(sides_.begin(), sides_.end(), [](const BranchSide& a, const BranchSide& b) {
      return std::pair(a.warp, a.path) < std::pair(b.warp, b.path);
    });
    ideal = ideal_.Fewest(sides_, counts_, warp_size_);
  }
  const uint32_t stalled = entry.stalled;
  const uint32_t bypassed = entry.arrivals - stalled;
  Count(kStallStall, std::min(stalled, ideal));
  Count(kBypassBypass, std::min(bypassed, entry.arrivals - ideal));
  Count(kBypassStall, ideal - std::min(ideal, stalled));
  Count(kStallBypass, stalled - std::min(ideal, stalled));
  if (!entry.forked && outcome.next_active != 0) Executed(outcome);
}

// The path's threads wait for the others at the reconvergence point, except those that run ahead there.
void BlockStackPolicy::HoldAtRpc(const Entry& path, WarpEditor& editor) const {
  const Block& block = blocks_[path.block];
  for (size_t row = 0; row < path.threads.rows(); ++row) {
    ForEachLane(path.threads[row] & ~path.apart[row], [&](int lane) {
      editor.SetHeld(
          static_cast<ThreadId>((block.first_row + row) * static_cast<size_t>(warp_size_) + static_cast<size_t>(lane)),
          HeldReason::kReconverging);
    });
  }
}

// --- for people

std::string BlockStackPolicy::TextOf(const Entry& entry) const {
  const auto position = [](Position at) {
    if (at.is_exit()) return std::string("-");
    return at.depth() == 0 ? absl::StrCat(at.pc() * 8) : absl::StrCat(at.pc() * 8, "@", at.depth());
  };
  std::string threads;
  for (size_t row = 0; row < entry.threads.rows(); ++row) {
    for (int lane = 0; lane < warp_size_; ++lane) threads += (entry.threads[row] >> lane & 1) != 0 ? '1' : '0';
  }
  return absl::StrCat("(", position(entry.next), ",", position(entry.rpc), ",", threads, ",", entry.wcnt, ")");
}

std::string BlockStackPolicy::Explain(const WarpTable& /*table*/) const {
  constexpr int kShown = 4;
  std::string text;
  int shown = 0;
  for (size_t id = 0; id < blocks_.size(); ++id) {
    const Block& block = blocks_[id];
    const bool staged =
        std::any_of(block.stack.begin(), block.stack.end(), [&](EntryId entry) { return !At(entry).paths.empty(); });
    if ((block.stack.size() < 2 && !staged) || ++shown > kShown) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", "block ", id, ": ");
    for (const EntryId entry_id : block.stack) {
      const Entry& entry = At(entry_id);
      absl::StrAppend(&text, TextOf(entry));
      if (entry.paths.empty()) continue;
      std::vector<EntryId> paths = entry.paths;
      SortForPushing(paths);
      for (const EntryId path : paths) absl::StrAppend(&text, "+", TextOf(At(path)));
      absl::StrAppend(&text, " update mask ");
      for (uint32_t warp = 0; warp < entry.next_index; ++warp) {
        text += warp < entry.bypassed.size() && entry.bypassed[warp] ? '0' : '1';
      }
    }
  }
  if (shown > kShown) absl::StrAppend(&text, "; and ", shown - kShown, " more blocks");
  return text;
}

}  // namespace heddle::replay
