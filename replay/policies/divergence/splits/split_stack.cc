#include "replay/policies/divergence/splits/split_stack.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/policies/divergence/shared/explain_diverged.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {
namespace {

std::string Text(Position at) {
  if (at.is_exit()) return "-";
  return at.depth() == 0 ? absl::StrCat(at.pc() * 8) : absl::StrCat(at.pc() * 8, "@", at.depth());
}

}  // namespace

SplitStackPolicy::SplitStackPolicy(const DivergenceContext& context, const Options& options, size_t counters)
    : program_(context.program),
      warp_size_(context.warp_size),
      counters_(counters),
      options_({options.taken_first, options.depth == 0 ? 2 * static_cast<size_t>(context.warp_size) : options.depth,
                options.merge_tails, options.reconvergence}),
      points_(context.program, options.reconvergence),
      warps_(static_cast<size_t>(context.max_threads / context.warp_size) + 1) {}

void SplitStackPolicy::Admit(const BlockAdmission& admission, WarpEditor& editor) {
  uint32_t hw_warp = admission.first_thread / static_cast<uint32_t>(warp_size_);
  for (const LaneMask mask : admission.warps) {
    WarpStack& warp = warps_[hw_warp];
    warp.erase(warp.begin(), warp.end());  // keeps its room
    if (mask != 0) {
      Entry entry;
      entry.next = admission.entry;
      entry.mask = mask;
      warp.push_back(entry);
      Start(warp.back(), hw_warp, kNoSlot, editor);
      if (warp.back().slot != kNoSlot) editor.Offer(warp.back().slot);
      Raise(kMaxStackDepth, 1);
    }
    ++hw_warp;
  }
}

Verdict SplitStackPolicy::Resolve(const Resolution& resolution, WarpEditor& editor) {
  const SlotId slot = resolution.slot;
  const WarpTable& table = editor.table();
  const std::span<const PathGroup> groups = resolution.groups;
  const uint32_t hw_warp = table.group[slot];
  WarpStack& warp = warps_[hw_warp];
  // Nothing has diverged, ended or reconverged. The stack need not know where the running entry is.
  const bool goes_on = groups.size() == 1 && resolution.exited == 0 && groups[0].at != table.stop[slot] &&
                       resolution.reason != ResolveReason::kBarrier;
  if (goes_on && warp.size() == 1) {
    editor.Continue(slot);
    return Verdict::kAccepted;
  }
  const size_t index = IndexOf(warp, slot);
  if (index == warp.size()) {
    editor.Fail("a warp has no entry for the slot that resolves");
    return Verdict::kAccepted;
  }
  warp[index].stalled = false;
  const Position rpc = warp[index].rpc;
  if (goes_on && groups[0].at != rpc && !Yields(resolution, warp, index)) {
    if (table.stop[slot] != rpc) editor.SetStop(slot, rpc);  // it was to be halted
    editor.Continue(slot);
    return Verdict::kAccepted;
  }
  warp[index].slot = kNoSlot;
  LaneMask arrived = 0;  // lanes that have come to a reconvergence point just now
  if (resolution.exited != 0) {
    for (Entry& entry : warp) entry.mask &= ~resolution.exited;
  }
  if (groups.size() == 1) {
    warp[index].next = groups[0].at;
  } else if (groups.size() > 1) {
    arrived = Diverge(resolution, warp, index);
    if (warp.size() > options_.depth) {
      editor.ReportLimitExceeded(absl::StrCat("the reconvergence stack of a warp needs ", warp.size(),
                                              " entries, but stack_depth is ", options_.depth, "; ", 2 * warp_size_,
                                              " are always enough"));
      return Verdict::kAccepted;
    }
  }
  arrived |= PopReconverged(warp);

  LaneMask placed = 0;
  const size_t next = Next(warp);
  if (next < warp.size()) {
    Start(warp[next], hw_warp, slot, editor);
    placed = warp[next].mask;
    StartMore(warp, slot, editor);
  } else {
    editor.Dissolve(slot);
  }
  for (const Entry& entry : warp) {
    if (entry.slot != kNoSlot) placed |= entry.mask;
  }
  ForEachLane(arrived & ~placed & ~resolution.exited,
              [&](int lane) { editor.SetHeld(LanesOf(hw_warp, 0).thread[lane], HeldReason::kReconverging); });
  return Verdict::kAccepted;
}

// Barriers count threads: while one side of a divergence waits at a barrier, another side runs, so that it can get
// there as well.
void SplitStackPolicy::BarrierArrived(SlotId slot, uint32_t /*barrier*/, WarpEditor& editor) {
  WarpStack& warp = WarpOf(slot, editor.table());
  if (warp.size() <= 1) return;
  const size_t index = IndexOf(warp, slot);
  if (index == warp.size()) {
    editor.Fail("a warp has no entry for the slot that arrived at a barrier");
    return;
  }
  warp[index].at_barrier = true;
  counters_[kBarrierSwitches] += StartMore(warp, slot, editor);
}

bool SplitStackPolicy::BarrierReleased(SlotId slot, uint32_t /*barrier*/, WarpEditor& editor) {
  WarpStack& warp = WarpOf(slot, editor.table());
  const size_t index = IndexOf(warp, slot);
  if (index == warp.size()) return false;
  warp[index].at_barrier = false;
  // Sides that are let go together have to be put in order.
  for (const Entry& entry : warp) {
    if (entry.slot != kNoSlot && entry.slot != slot) return true;
  }
  return false;
}

std::string SplitStackPolicy::Explain(const WarpTable& table) const {
  return ExplainDiverged("warp", warps_, [&](const WarpStack& warp) {
    std::string text;
    if (warp.size() < 2) return text;
    for (const Entry& entry : warp) {
      // The stack does not follow an entry while it runs; its slot does.
      const Position next = entry.slot == kNoSlot ? entry.next : table.position[entry.slot];
      absl::StrAppend(&text, "(", Text(next), ",", Text(entry.rpc), ",", LaneText(entry.mask),
                      entry.at_barrier ? ",barrier)" : ")");
    }
    return text;
  });
}

size_t SplitStackPolicy::Next(const WarpStack& warp) const {
  size_t found = warp.size();
  for (const Entry& entry : warp) {
    if (Runs(entry)) return found;
  }
  ForEachStartable(warp, [&](size_t index, const Entry&) {
    found = index;
    return true;
  });
  return found;
}

size_t SplitStackPolicy::IndexOf(const WarpStack& warp, SlotId slot) {
  for (size_t i = warp.size(); i-- > 0;) {
    if (warp[i].slot == slot) return i;
  }
  return warp.size();
}

size_t SplitStackPolicy::StartMore(WarpStack& warp, SlotId slot, WarpEditor& editor) {
  const uint32_t hw_warp = static_cast<uint32_t>(&warp - warps_.data());
  const uint8_t port = editor.table().port[slot];
  size_t started = 0;
  for (size_t next = Next(warp); next < warp.size(); next = Next(warp)) {
    Start(warp[next], hw_warp, kNoSlot, editor);
    if (warp[next].slot == kNoSlot) break;  // the editor has reported why
    // Parked until now: no other port's scheduler is to hear of it.
    editor.SetPort(warp[next].slot, port);
    editor.Offer(warp[next].slot);
    ++started;
  }
  return started;
}

bool SplitStackPolicy::Halt(Entry& entry, WarpEditor& editor) {
  const WarpTable& table = editor.table();
  const Position at = table.position[entry.slot];
  if (table.state[entry.slot] == SlotState::kOffered) {
    editor.Dissolve(entry.slot);
    entry.slot = kNoSlot;
    entry.next = at;
    return true;
  }
  const Position next(at.pc() + 1, at.depth());
  if (table.stop[entry.slot] == next) return false;
  editor.SetStop(entry.slot, next);
  return true;
}

void SplitStackPolicy::Raise(size_t counter, uint64_t value) {
  counters_[counter] = std::max(counters_[counter], value);
}

void SplitStackPolicy::Start(Entry& entry, uint32_t hw_warp, SlotId slot, WarpEditor& editor) {
  const Lanes lanes = LanesOf(hw_warp, entry.mask);
  if (slot == kNoSlot) {
    slot = editor.SpawnParked(entry.next, lanes);
    if (slot == kNoSlot) return;  // the editor has reported why
    editor.SetGroup(slot, hw_warp);
  } else {
    editor.Place(slot, entry.next, lanes);
  }
  editor.SetStop(slot, entry.rpc);
  entry.slot = slot;
}

LaneMask SplitStackPolicy::Diverge(const Resolution& resolution, WarpStack& warp, size_t index) {
  ++counters_[kDivergences];
  const Position outer = warp[index].rpc;
  Position rpc = points_.Of(resolution);
  if (rpc.is_exit()) rpc = outer;  // such as a return to several callers: no reconvergence point of its own
  const auto paths = static_cast<size_t>(
      std::ranges::count_if(resolution.groups, [&](const PathGroup& group) { return group.at != rpc; }));
  // The entry below waits at this very point. Without this a loop's exit branch would grow the stack with every
  // iteration, and twice the warp size would not bound it.
  const bool tail = rpc == outer && !rpc.is_exit() && (paths <= 1 || options_.merge_tails);
  Entry path = warp[index];
  if (!tail || paths > 1) path.branch = NewBranch();
  size_t at = index + 1;
  if (tail) {
    warp.erase(warp.begin() + static_cast<ptrdiff_t>(index));
    at = index;
  } else {
    warp[index].next = rpc;
  }
  const size_t first = at;
  // The one that is pushed last is on top and runs first: the taken path, or of a wide branch the lowest PC.
  std::array<const PathGroup*, 2> pair = {&resolution.groups.front(), &resolution.groups.back()};
  const bool two_way = resolution.groups.size() == 2 && pair[0]->taken != pair[1]->taken;
  if (two_way && pair[0]->taken == options_.taken_first) std::swap(pair[0], pair[1]);
  LaneMask arrived = 0;
  for (size_t i = 0; i < resolution.groups.size(); ++i) {
    const PathGroup& group = two_way ? *pair[i] : resolution.groups[resolution.groups.size() - 1 - i];
    if (group.at == rpc) {
      arrived |= group.lanes;
      continue;
    }
    path.next = group.at;
    path.rpc = rpc;
    path.mask = group.lanes;
    warp.insert(warp.begin() + static_cast<ptrdiff_t>(at++), path);
  }
  Raise(kMaxStackDepth, warp.size());
  Pushed(warp, first, at - first, rpc);
  return arrived;
}

// Drops entries without threads, and those that have come to their reconvergence point and wait for nobody above.
// Returns the lanes of the latter.
LaneMask SplitStackPolicy::PopReconverged(WarpStack& warp) {
  LaneMask arrived = 0;
  LaneMask above = 0;
  for (size_t i = warp.size(); i-- > 0;) {
    const Entry& entry = warp[i];
    const bool done = entry.slot == kNoSlot && entry.next == entry.rpc && !entry.rpc.is_exit();
    if (entry.mask == 0 || (done && (entry.mask & above) == 0)) {
      arrived |= entry.mask;
      warp.erase(warp.begin() + static_cast<ptrdiff_t>(i));
      continue;
    }
    above |= entry.mask;
  }
  return arrived;
}

std::string SplitStackPolicy::LaneText(LaneMask mask) const {
  std::string text(static_cast<size_t>(warp_size_), '0');
  for (int lane = 0; lane < warp_size_; ++lane) text[static_cast<size_t>(lane)] += mask >> lane & 1;
  return text;
}

ParameterSpec TakenFirstParameter() {
  return {.name = "taken_first",
          .type = ParameterType::kBool,
          .default_value = "true",
          .description = "whether the taken path of a conditional branch runs before the fall-through",
          .source = "Fung, section 3.2, text of Figure 3.1"};
}

std::vector<CounterSpec> StackCounterSpecs(std::vector<CounterSpec> further) {
  std::vector<CounterSpec> specs = {
      {"divergences", "branches", "executed branches at which a warp took more than one path"},
      {"max_stack_depth", "entries", "the deepest reconvergence stack", CounterSpec::Combine::kMaximum},
      {"barrier_switches", "switches", "times a path ran because another of the warp waited at a barrier"},
  };
  specs.insert(specs.end(), further.begin(), further.end());
  return specs;
}

}  // namespace heddle::replay
