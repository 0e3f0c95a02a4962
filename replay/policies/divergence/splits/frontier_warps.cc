#include "replay/policies/divergence/splits/frontier_warps.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "replay/policies/divergence/shared/explain_diverged.h"

namespace heddle::replay {

FrontierPolicy::FrontierPolicy(const DivergenceContext& context, const Options& options, size_t counters)
    : counters_(counters),
      program_(context.program),
      warp_size_(context.warp_size),
      options_(options),
      points_(context.program, options.reconvergence),
      warps_(static_cast<size_t>(context.max_threads / context.warp_size) + 1),
      diverging_(context.program.blocks().size(), trace::kNoPc) {
  for (WarpSplits& warp : warps_) warp.reserve(static_cast<size_t>(warp_size_) + 1);
  order_.reserve(static_cast<size_t>(warp_size_) + 1);
  for (const trace::Block& block : program_.blocks()) {
    if (block.post_dominator == trace::kNoBlock) continue;
    if (block.terminator != trace::v1::BRANCH_CONDITIONAL && block.terminator != trace::v1::BRANCH_WIDE) continue;
    diverging_[block.post_dominator] = std::min(diverging_[block.post_dominator], block.first + block.count - 1);
  }
}

void FrontierPolicy::Admit(const BlockAdmission& admission, WarpEditor& editor) {
  uint32_t hw_warp = admission.first_thread / static_cast<uint32_t>(warp_size_);
  for (const LaneMask mask : admission.warps) {
    WarpSplits& warp = warps_[hw_warp];
    warp.clear();
    if (mask != 0) {
      const SlotId slot = editor.Spawn(admission.entry, LanesOf(hw_warp, mask));
      if (slot == kNoSlot) return;  // the editor has reported why
      editor.SetGroup(slot, hw_warp);
      warp.push_back({admission.entry, mask, slot, false});
      counters_[kMaxSplits] = std::max<uint64_t>(counters_[kMaxSplits], 1);
    }
    ++hw_warp;
  }
}

Verdict FrontierPolicy::Resolve(const Resolution& resolution, WarpEditor& editor) {
  const SlotId slot = resolution.slot;
  const WarpTable& table = editor.table();
  const uint32_t hw_warp = table.group[slot];
  WarpSplits& warp = warps_[hw_warp];
  const bool together = resolution.groups.size() == 1 && resolution.exited == 0;
  if (together && warp.size() == 1 && resolution.reason != ResolveReason::kBarrier) {
    editor.Continue(slot);
    return Verdict::kAccepted;
  }
  const size_t index = IndexOf(warp, slot);
  if (index == warp.size()) {
    editor.Fail("a warp has no split for the slot that resolves");
    return Verdict::kAccepted;
  }
  const uint8_t port = table.port[slot];
  counters_[kDivergences] += resolution.groups.size() > 1;
  Split self = warp[index];
  warp.erase(warp.begin() + static_cast<ptrdiff_t>(index));
  for (const PathGroup& group : resolution.groups) Enter(warp, hw_warp, group.at, group.lanes, editor);
  counters_[kMaxSplits] = std::max<uint64_t>(counters_[kMaxSplits], warp.size());
  SlotId free = slot;
  if (together && !warp.empty() && warp.back().mask == self.mask && warp.back().slot == kNoSlot) {
    // Nobody has joined it. It goes on in its slot as it is, if it is among the first.
    Choose(warp, table);
    size_t running = 0;
    for (const Split& split : warp) running += Runs(split);
    const bool first = std::ranges::find(order_, warp.size() - 1) != order_.end();
    if (first && running < options_.paths) {
      warp.back().slot = slot;
      editor.Continue(slot);
      free = kNoSlot;
    }
  }
  Arrange(warp, hw_warp, free, port, editor);
  return Verdict::kAccepted;
}

// Threads count at a barrier, not warps: while one split waits there, another runs, so that it can get there as well.
void FrontierPolicy::BarrierArrived(SlotId slot, uint32_t /*barrier*/, WarpEditor& editor) {
  const uint32_t hw_warp = editor.table().group[slot];
  WarpSplits& warp = warps_[hw_warp];
  if (warp.size() <= 1) return;
  const size_t index = IndexOf(warp, slot);
  if (index == warp.size()) {
    editor.Fail("a warp has no split for the slot that arrived at a barrier");
    return;
  }
  warp[index].at_barrier = true;
  counters_[kBarrierSwitches] += Arrange(warp, hw_warp, kNoSlot, editor.table().port[slot], editor);
}

bool FrontierPolicy::BarrierReleased(SlotId slot, uint32_t /*barrier*/, WarpEditor& editor) {
  WarpSplits& warp = warps_[editor.table().group[slot]];
  const size_t index = IndexOf(warp, slot);
  if (index == warp.size()) return false;
  warp[index].at_barrier = false;
  return warp.size() > 1;
}

std::string FrontierPolicy::Explain(const WarpTable& table) const {
  return ExplainDiverged("warp", warps_, [&](const WarpSplits& warp) {
    std::string text;
    if (warp.size() < 2) return text;
    for (const Split& split : warp) {
      absl::StrAppend(&text, "(pc ", PlaceOf(split, table).pc() * kInstructionBytes, ", ", std::popcount(split.mask),
                      " lanes", split.at_barrier ? ", barrier)" : ")");
    }
    return text;
  });
}

size_t FrontierPolicy::IndexOf(const WarpSplits& warp, SlotId slot) {
  size_t i = 0;
  while (i < warp.size() && warp[i].slot != slot) ++i;
  return i;
}

void FrontierPolicy::Enter(WarpSplits& warp, uint32_t hw_warp, Position at, LaneMask lanes, WarpEditor& editor) {
  const WarpTable& table = editor.table();
  const bool may_reconverge = points_.MayReconverge(at);
  for (Split& split : warp) {
    if (!may_reconverge) break;
    if (PlaceOf(split, table) != at) continue;
    if (split.slot != kNoSlot) {
      if (table.state[split.slot] != SlotState::kOffered) continue;
      editor.Join(split.slot, LanesOf(hw_warp, lanes));
    }
    split.mask |= lanes;
    ++counters_[kMerges];
    return;
  }
  warp.push_back({at, lanes, kNoSlot, false});
}

void FrontierPolicy::Choose(const WarpSplits& warp, const WarpTable& table) {
  order_.clear();
  for (size_t i = 0; i < warp.size(); ++i) {
    if (!warp[i].at_barrier) order_.push_back(i);
  }
  std::ranges::sort(order_, [&](size_t a, size_t b) {
    const Position left = PlaceOf(warp[a], table);
    const Position right = PlaceOf(warp[b], table);
    return left != right ? Before(left, right) : a < b;
  });
  if (options_.synchronise && order_.size() > 1) {
    const Position first = PlaceOf(warp[order_[0]], table);
    std::erase_if(order_, [&](size_t i) { return i != order_[0] && MustWait(PlaceOf(warp[i], table), first); });
  }
  if (order_.size() > options_.paths) order_.resize(options_.paths);
}

bool FrontierPolicy::MustWait(Position at, Position first) const {
  if (at.depth() != first.depth()) return false;
  const uint32_t block = program_.block_of(at.pc());
  const Pc diverging = diverging_[block];
  return program_.block(block).first == at.pc() && diverging != trace::kNoPc && first.pc() >= diverging &&
         first.pc() < at.pc();
}

size_t FrontierPolicy::Arrange(WarpSplits& warp, uint32_t hw_warp, SlotId free, uint8_t port, WarpEditor& editor) {
  const WarpTable& table = editor.table();
  Choose(warp, table);
  size_t running = 0;
  for (size_t i = 0; i < warp.size(); ++i) {
    Split& split = warp[i];
    if (!Runs(split)) continue;
    const bool chosen = std::ranges::find(order_, i) != order_.end();
    if (!chosen && table.state[split.slot] == SlotState::kOffered) {
      split.at = table.position[split.slot];
      editor.Dissolve(split.slot);
      split.slot = kNoSlot;
    } else {
      ++running;
    }
  }
  size_t started = 0;
  for (const size_t i : order_) {
    Split& split = warp[i];
    if (split.slot != kNoSlot) continue;
    if (running == options_.paths) break;
    if (free != kNoSlot) {
      editor.Place(free, split.at, LanesOf(hw_warp, split.mask));
      split.slot = free;
      free = kNoSlot;
    } else {
      split.slot = editor.SpawnParked(split.at, LanesOf(hw_warp, split.mask));
      if (split.slot == kNoSlot) return started;  // the editor has reported why
      editor.SetGroup(split.slot, hw_warp);
      editor.SetPort(split.slot, port);  // before any port's scheduler hears of it
      editor.Offer(split.slot);
    }
    ++running;
    ++started;
  }
  if (free != kNoSlot) editor.Dissolve(free);
  return started;
}

std::vector<CounterSpec> FrontierCounterSpecs(std::vector<CounterSpec> further) {
  std::vector<CounterSpec> specs = {
      {"divergences", "branches", "executed branches at which a warp took more than one path"},
      {"merges", "splits", "threads that came to a place where others of their warp were"},
      {"max_splits", "splits", "the most places at which the threads of one warp were", CounterSpec::Combine::kMaximum},
      {"barrier_switches", "switches", "times a path ran because another of the warp waited at a barrier"},
  };
  specs.insert(specs.end(), further.begin(), further.end());
  return specs;
}

}  // namespace heddle::replay
