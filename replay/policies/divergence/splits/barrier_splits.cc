#include "replay/policies/divergence/splits/barrier_splits.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/policies/divergence/shared/explain_diverged.h"
#include "replay/policies/divergence/shared/home_lanes.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {

using Kind = ConvergenceStep::Kind;

BarrierSplitsPolicy::BarrierSplitsPolicy(const DivergenceContext& context, const Options& options)
    : code_(context.program),
      program_(context.program),
      warp_size_(context.warp_size),
      options_(options),
      warps_(static_cast<size_t>(context.max_threads / context.warp_size) + 1) {}

uint32_t BarrierSplitsPolicy::interests() const {
  return kBarriers | kEveryBlockEnd | (options_.yields_to_memory ? kLongLatency : 0u);
}

void BarrierSplitsPolicy::Admit(const BlockAdmission& admission, WarpEditor& editor) {
  uint32_t hw_warp = admission.first_thread / static_cast<uint32_t>(warp_size_);
  for (const LaneMask mask : admission.warps) {
    Warp& warp = warps_[hw_warp];
    warp.splits.clear();
    warp.barriers.Reset();
    if (mask != 0) {
      Split split;
      split.next = admission.entry;
      split.mask = mask;
      warp.splits.push_back(split);
      Start(warp.splits.back(), hw_warp, kNoSlot, editor);
      if (warp.splits.back().slot != kNoSlot) editor.Offer(warp.splits.back().slot);
      counters_[kMostSplits] = std::max<uint64_t>(counters_[kMostSplits], 1);
    }
    ++hw_warp;
  }
}

Verdict BarrierSplitsPolicy::Resolve(const Resolution& resolution, WarpEditor& editor) {
  const SlotId slot = resolution.slot;
  const uint32_t hw_warp = editor.table().group[slot];
  Warp& warp = warps_[hw_warp];
  size_t index = IndexOf(warp, slot);
  if (index == warp.splits.size()) {
    editor.Fail("a warp has no split for the slot that resolves");
    return Verdict::kAccepted;
  }
  warp.splits[index].stalled = false;
  const ConvergenceStep* const hold = Take(warp, index, resolution.from, resolution.executed);
  if (warp.barriers.any_saved()) {
    for (const PathGroup& group : resolution.groups) {
      if (group.at.depth() < resolution.from.depth()) warp.barriers.Return(resolution.from.depth(), group.lanes);
    }
  }
  if (GoesOn(resolution, hold, warp, warp.splits[index], editor)) return Verdict::kAccepted;

  Advance(resolution, hold, warp, index);
  Release(warp);
  LaneMask placed = 0;
  const size_t next = Next(warp);
  if (next < warp.splits.size()) {
    Start(warp.splits[next], hw_warp, slot, editor);
    StartMore(warp, slot, editor);
  } else {
    editor.Dissolve(slot);
  }
  for (const Split& split : warp.splits) {
    if (!Waits(split)) placed |= split.mask;
  }
  const Lanes home = HomeLanes(hw_warp, 0, warp_size_);
  ForEachLane(resolution.lanes->mask & ~placed & ~resolution.exited,
              [&](int lane) { editor.SetHeld(home.thread[lane], HeldReason::kReconverging); });
  return Verdict::kAccepted;
}

// What the code does with barriers takes effect, and then whoever it lets go is ready. `index` stays the split's.
const ConvergenceStep* BarrierSplitsPolicy::Take(Warp& warp, size_t& index, Position last, LaneMask executed) {
  const Split& split = warp.splits[index];
  const uint32_t b = program_.block_of(last.pc());
  const trace::Block& block = program_.block(b);
  const bool began_here = split.next.pc() >= block.first && split.next.pc() <= block.first + block.count;
  const ConvergenceStep* hold = nullptr;
  bool changed = false;
  const LaneMask lanes = split.mask & ~split.beside & executed;
  for (const ConvergenceStep& step : code_.StepsOf(b, began_here ? split.next.pc() : block.first, last.pc())) {
    switch (step.kind) {
      case Kind::kSet:
        warp.barriers.Set(step.barrier, lanes);
        break;
      case Kind::kBreak:
        warp.barriers.Break(step.barrier, lanes);
        break;
      case Kind::kSave:
        warp.barriers.Save(step.barrier, last.depth(), step.general, lanes, step.clears);
        break;
      case Kind::kRestore:
        warp.barriers.Restore(step.barrier, last.depth(), step.general, lanes);
        break;
      case Kind::kSync:
      case Kind::kWarpSync:
      case Kind::kYield:
        hold = &step;
        continue;
    }
    changed = true;
  }
  if (changed && warp.splits.size() > 1) {
    const SlotId slot = split.slot;
    Release(warp);
    index = IndexOf(warp, slot);
  }
  return hold;
}

// Whether the step lets all threads of the split, which are together, go on at once.
bool BarrierSplitsPolicy::Passes(const ConvergenceStep& hold, const Split& split, Warp& warp) {
  if (hold.kind == Kind::kYield) return !AnyReady(warp);
  if (hold.kind == Kind::kWarpSync) return warp.splits.size() == 1;
  LaneMask lanes = split.mask;
  const ConvergenceBarriers::Id barrier = warp.barriers.Find(hold.barrier, lanes);
  if (lanes != split.mask || (warp.barriers.MembersOf(barrier) & ~lanes) != 0) return false;
  warp.barriers.Remove(barrier);
  return true;
}

bool BarrierSplitsPolicy::GoesOn(const Resolution& resolution, const ConvergenceStep* hold, Warp& warp, Split& split,
                                 WarpEditor& editor) {
  const SlotId slot = resolution.slot;
  const std::span<const PathGroup> groups = resolution.groups;
  if (resolution.reason == ResolveReason::kBarrier || groups.empty() || resolution.exited != 0) return false;
  if (groups.size() > 1) {
    const uint32_t b = program_.block_of(resolution.from.pc());
    if (groups.size() > 2 || hold != nullptr || split.beside != 0 || !code_.IsGuard(b)) return false;
    TakeGuard(groups, split);
    const uint32_t hw_warp = editor.table().group[slot];
    Start(split, hw_warp, slot, editor);
    const Lanes home = HomeLanes(hw_warp, 0, warp_size_);
    ForEachLane(split.beside, [&](int lane) { editor.SetHeld(home.thread[lane], HeldReason::kReconverging); });
    return true;
  }
  if (split.beside != 0 && (hold != nullptr || groups[0].at != split.past)) return false;
  if (hold != nullptr && !Passes(*hold, split, warp)) return false;
  if (Yields(resolution, warp)) return false;
  split.next = groups[0].at;
  if (split.beside != 0) {
    split.beside = 0;
    editor.Place(slot, split.next, HomeLanes(editor.table().group[slot], split.mask, warp_size_));
  } else {
    editor.Continue(slot);
  }
  if (const Position stop = code_.StopBehind(split.next); editor.table().stop[slot] != stop) editor.SetStop(slot, stop);
  return true;
}

// 0 is the way to what is guarded, 1 the one past it.
void BarrierSplitsPolicy::TakeGuard(std::span<const PathGroup> groups, Split& split) {
  const PathGroup& past = groups[groups[0].taken ? 0 : 1];
  split.next = groups[groups[0].taken ? 1 : 0].at;
  split.past = past.at;
  split.beside = past.lanes;
}

bool BarrierSplitsPolicy::Yields(const Resolution& resolution, const Warp& warp) const {
  if (!options_.yields_at_block_ends && !options_.yields_at_backward_branches) return false;
  const trace::Block& block = program_.block(program_.block_of(resolution.from.pc()));
  if (resolution.from.pc() + 1 != block.first + block.count) return false;
  const Position at = resolution.groups[0].at;
  const bool backward = at.depth() == resolution.from.depth() && at.pc() <= resolution.from.pc();
  return (options_.yields_at_block_ends || backward) && AnyReady(warp);
}

void BarrierSplitsPolicy::PartBeside(Warp& warp, size_t& index) {
  Split past = warp.splits[index];
  if (past.beside == 0) return;
  warp.splits[index].mask &= ~past.beside;
  warp.splits[index].beside = 0;
  past.next = past.past;
  past.mask = past.beside;
  past.beside = 0;
  past.slot = kNoSlot;
  past.state = State::kReady;
  past.stalled = false;
  warp.splits.insert(warp.splits.begin() + static_cast<ptrdiff_t>(index++), past);
}

void BarrierSplitsPolicy::Advance(const Resolution& resolution, const ConvergenceStep* hold, Warp& warp, size_t index) {
  const std::span<const PathGroup> groups = resolution.groups;
  const bool rejoins = hold == nullptr && groups.size() == 1 && groups[0].at == warp.splits[index].past;
  if (!rejoins) PartBeside(warp, index);
  if (resolution.exited != 0) warp.barriers.Exit(resolution.exited);
  Split path = warp.splits[index];
  path.slot = kNoSlot;
  path.state = State::kReady;
  const LaneMask joining = std::exchange(path.beside, 0);
  const bool gives_way = (hold != nullptr && hold->kind == Kind::kYield) ||
                         (groups.size() == 1 && hold == nullptr && resolution.exited == 0 && Yields(resolution, warp));
  if (gives_way && AnyReady(warp)) {
    path.turn = ++turns_;
    ++counters_[kYields];
  }
  warp.splits.erase(warp.splits.begin() + static_cast<ptrdiff_t>(index));
  const uint32_t b = program_.block_of(resolution.from.pc());
  const bool meets = hold != nullptr && hold->kind == Kind::kSync;
  if (groups.size() == 2 && hold == nullptr && code_.IsGuard(b)) {
    TakeGuard(groups, path);
    warp.splits.insert(warp.splits.begin() + static_cast<ptrdiff_t>(index), path);
    return;
  }
  if (groups.size() > 1 && !meets && !program_.DecidesGuard(program_.block(b))) ++counters_[kDivergences];
  // The one that comes last runs first: the taken path, or of a wide branch the lowest PC.
  const bool two_way = groups.size() == 2 && groups[0].taken != groups[1].taken;
  const bool ascending = two_way && groups[1].taken == options_.taken_first;
  for (size_t i = 0; i < groups.size(); ++i) {
    const PathGroup& group = groups[ascending ? i : groups.size() - 1 - i];
    path.next = group.at;
    path.mask = group.lanes | joining;
    if (meets) {
      Sync(path, hold->barrier, warp, index);
      continue;
    }
    if (hold != nullptr && hold->kind == Kind::kWarpSync) {
      path.state = State::kWarpSync;
      path.members = hold->members;
    }
    warp.splits.insert(warp.splits.begin() + static_cast<ptrdiff_t>(index++), path);
  }
  counters_[kMostSplits] = std::max<uint64_t>(counters_[kMostSplits], warp.splits.size());
}

// Threads that are no members of what the register names, or for which it names nothing, go on.
void BarrierSplitsPolicy::Sync(const Split& split, uint8_t barrier, Warp& warp, size_t& index) {
  for (LaneMask rest = split.mask; rest != 0;) {
    Split part = split;
    part.mask = rest;
    if (const ConvergenceBarriers::Id id = warp.barriers.Find(barrier, part.mask); id != 0) {
      part.state = State::kSync;
      warp.barriers.Wait(id, part.mask);
    }
    rest &= ~part.mask;
    warp.splits.insert(warp.splits.begin() + static_cast<ptrdiff_t>(index++), part);
  }
}

void BarrierSplitsPolicy::Release(Warp& warp) {
  while (const LaneMask lanes = warp.barriers.TakeComplete()) Rejoin(warp, lanes);
  for (size_t i = 0; i < warp.splits.size();) {
    const Split& first = warp.splits[i++];
    if (first.state != State::kWarpSync || first.members == 0) continue;
    const LaneMask members = first.members;
    LaneMask waiting = 0;
    LaneMask live = 0;
    for (const Split& split : warp.splits) {
      live |= split.mask;
      if (split.state == State::kWarpSync && split.members == members) waiting |= split.mask;
    }
    if ((live & members & ~waiting) != 0) continue;
    Rejoin(warp, waiting);
    i = 0;
  }
}

void BarrierSplitsPolicy::Rejoin(Warp& warp, LaneMask lanes) {
  joined_.clear();
  for (size_t i = 0; i < warp.splits.size();) {
    Split& split = warp.splits[i];
    if (!Waits(split) || (split.mask & lanes) == 0) {
      ++i;
      continue;
    }
    const auto same = std::ranges::find(joined_, split.next, &Split::next);
    if (same == joined_.end()) {
      split.state = State::kReady;
      joined_.push_back(split);
    } else {
      same->mask |= split.mask;
      same->turn = std::max(same->turn, split.turn);
    }
    warp.splits.erase(warp.splits.begin() + static_cast<ptrdiff_t>(i));
  }
  warp.splits.insert(warp.splits.end(), joined_.begin(), joined_.end());
}

bool BarrierSplitsPolicy::AnyReady(const Warp& warp) {
  return std::ranges::any_of(warp.splits, [](const Split& split) { return split.state == State::kReady; });
}

size_t BarrierSplitsPolicy::IndexOf(const Warp& warp, SlotId slot) {
  size_t index = 0;
  while (index < warp.splits.size() && warp.splits[index].slot != slot) ++index;
  return index;
}

size_t BarrierSplitsPolicy::Next(Warp& warp) {
  const size_t none = warp.splits.size();
  size_t found = none;
  bool moves = false;
  LaneMask waits_for_warp = 0;
  for (size_t i = none; i-- > 0;) {
    const Split& split = warp.splits[i];
    if (split.state == State::kRuns && !split.stalled) return none;
    moves |= split.state == State::kRuns || split.state == State::kReady;
    if (split.state == State::kWarpSync) waits_for_warp |= split.mask;
    if (split.state == State::kReady && (found == none || split.turn < warp.splits[found].turn)) found = i;
  }
  if (moves || waits_for_warp == 0) return found;
  Rejoin(warp, waits_for_warp);
  return Next(warp);
}

void BarrierSplitsPolicy::Start(Split& split, uint32_t hw_warp, SlotId slot, WarpEditor& editor) {
  const Lanes lanes = HomeLanes(hw_warp, split.mask & ~split.beside, warp_size_);
  if (slot == kNoSlot) {
    slot = editor.SpawnParked(split.next, lanes);
    if (slot == kNoSlot) return;  // the editor has reported why
    editor.SetGroup(slot, hw_warp);
  } else {
    editor.Place(slot, split.next, lanes);
  }
  editor.SetStop(slot, code_.StopBehind(split.next));
  split.slot = slot;
  split.state = State::kRuns;
}

size_t BarrierSplitsPolicy::StartMore(Warp& warp, SlotId slot, WarpEditor& editor) {
  const auto hw_warp = static_cast<uint32_t>(&warp - warps_.data());
  const uint8_t port = editor.table().port[slot];
  size_t started = 0;
  for (size_t next = Next(warp); next < warp.splits.size(); next = Next(warp)) {
    Split& split = warp.splits[next];
    Start(split, hw_warp, kNoSlot, editor);
    if (split.slot == kNoSlot) break;  // the editor has reported why
    // Parked until now: no other port's scheduler is to hear of it.
    editor.SetPort(split.slot, port);
    editor.Offer(split.slot);
    ++started;
  }
  return started;
}

// Barriers of a thread block count threads: while one split waits at one, another runs, so that it can get there, too.
void BarrierSplitsPolicy::BarrierArrived(SlotId slot, uint32_t /*barrier*/, WarpEditor& editor) {
  Warp& warp = warps_[editor.table().group[slot]];
  size_t index = IndexOf(warp, slot);
  if (index == warp.splits.size()) {
    editor.Fail("a warp has no split for the slot that arrived at a barrier");
    return;
  }
  if (warp.splits.size() == 1 && warp.splits[index].beside == 0) return;
  const Position at = editor.table().position[slot];
  Take(warp, index, at, editor.table().lanes[slot].mask);
  PartBeside(warp, index);
  warp.splits[index].next = Position(at.pc() + 1, at.depth());
  warp.splits[index].state = State::kAtBlockBarrier;
  counters_[kBarrierSwitches] += StartMore(warp, slot, editor);
}

bool BarrierSplitsPolicy::BarrierReleased(SlotId slot, uint32_t /*barrier*/, WarpEditor& editor) {
  Warp& warp = warps_[editor.table().group[slot]];
  const size_t index = IndexOf(warp, slot);
  if (index == warp.splits.size()) return false;
  warp.splits[index].state = State::kRuns;
  // Sides that are let go together have to be put in order.
  return std::ranges::any_of(warp.splits,
                             [slot](const Split& split) { return split.slot != kNoSlot && split.slot != slot; });
}

// The warp does not stand still while a split waits for memory: another one runs, until both are ready again.
void BarrierSplitsPolicy::LongLatency(SlotId slot, WarpEditor& editor) {
  Warp& warp = warps_[editor.table().group[slot]];
  const size_t index = IndexOf(warp, slot);
  if (warp.splits.size() <= 1 || index == warp.splits.size()) return;
  warp.splits[index].stalled = true;
  counters_[kYields] += StartMore(warp, slot, editor);
}

std::string BarrierSplitsPolicy::Explain(const WarpTable& table) const {
  return ExplainDiverged("warp", warps_, [&](const Warp& warp) {
    std::string text;
    if (warp.splits.size() < 2) return text;
    for (const Split& split : warp.splits) {
      const Position next = split.slot == kNoSlot ? split.next : table.position[split.slot];
      absl::StrAppend(&text, "(", next.pc() * kInstructionBytes, ",0x", absl::Hex(split.mask));
      if (split.state == State::kSync) absl::StrAppend(&text, ",behind BSYNC");
      if (split.state == State::kWarpSync) absl::StrAppend(&text, ",behind WARPSYNC");
      absl::StrAppend(&text, split.state == State::kAtBlockBarrier ? ",barrier)" : ")");
    }
    if (const std::string barriers = warp.barriers.Text(); !barriers.empty()) absl::StrAppend(&text, " ", barriers);
    return text;
  });
}

}  // namespace heddle::replay
