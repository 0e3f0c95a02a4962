// PDOM: one reconvergence stack per static warp; diverged paths run one after the other and rejoin at the branch's
// immediate post-dominator (Fung, section 3.2 and Table 3.1; the baseline of CAPRI and HARP as well).
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/divergence/divergence_policy.h"

namespace heddle::replay {
namespace {

enum Counter { kDivergences, kMaxStackDepth, kBarrierSwitches, kCounters };

class Pdom final : public DivergencePolicy {
 public:
  Pdom(const DivergenceContext& context, const Parameters& parameters)
      : warp_size_(context.warp_size),
        taken_first_(parameters.Bool("taken_first")),
        stack_depth_(static_cast<size_t>(parameters.Integer("stack_depth"))),
        warps_(static_cast<size_t>(context.max_threads / context.warp_size) + 1) {
    if (stack_depth_ == 0) stack_depth_ = 2 * static_cast<size_t>(warp_size_);
    for (Warp& warp : warps_) warp.reserve(stack_depth_ + 2);
  }

  uint32_t interests() const override { return kBarriers; }

  void Admit(const BlockAdmission& admission, WarpEditor& editor) override {
    uint32_t row = admission.first_thread / warp_size_;
    for (const LaneMask mask : admission.rows) {
      Warp& warp = warps_[row];
      warp.clear();
      if (mask != 0) {
        warp.push_back({admission.entry, Position::Exit(), mask});
        Start(warp.back(), row, kNoSlot, editor);
        Raise(kMaxStackDepth, 1);
      }
      ++row;
    }
  }

  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    const SlotId slot = resolution.slot;
    const WarpTable& table = editor.table();
    const std::span<const PathGroup> groups = resolution.groups;
    // Nothing has diverged, ended or reconverged. The stack need not know where the running entry is.
    if (groups.size() == 1 && resolution.exited == 0 && groups[0].at != table.stop[slot] &&
        resolution.reason != ResolveReason::kBarrier) {
      editor.Continue(slot);
      return Verdict::kAccepted;
    }

    const uint32_t row = table.group[slot];
    Warp& warp = warps_[row];
    size_t index = IndexOf(warp, slot);
    if (index == warp.size()) {
      editor.Fail("a warp has no entry for the slot that resolves");
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
      if (warp.size() > stack_depth_) {
        editor.Fail(absl::StrCat("the reconvergence stack of a warp needs ", warp.size(),
                                 " entries, but stack_depth is ", stack_depth_,
                                 "; twice the warp size is always enough"));
        return Verdict::kAccepted;
      }
    }
    arrived |= PopReconverged(warp);

    const size_t next = Runnable(warp);
    LaneMask placed = 0;
    if (next < warp.size()) {
      Start(warp[next], row, slot, editor);
      placed = warp[next].mask;
    } else {
      editor.Dissolve(slot);
    }
    for (LaneMask left = arrived & ~placed & ~resolution.exited; left != 0; left &= left - 1) {
      editor.SetHeld(ThreadOf(row, std::countr_zero(left)), HeldReason::kReconverging);
    }
    return Verdict::kAccepted;
  }

  // Barriers count threads: while one side of a divergence waits at a barrier, another side runs, so that it can get
  // there as well.
  void BarrierArrived(SlotId slot, uint32_t /*barrier*/, WarpEditor& editor) override {
    const uint32_t row = editor.table().group[slot];
    Warp& warp = warps_[row];
    if (warp.size() <= 1) return;
    const size_t index = IndexOf(warp, slot);
    if (index == warp.size()) {
      editor.Fail("a warp has no entry for the slot that arrived at a barrier");
      return;
    }
    warp[index].at_barrier = true;
    const size_t next = Runnable(warp);
    if (next == warp.size()) return;
    Start(warp[next], row, kNoSlot, editor);
    editor.SetPort(warp[next].slot, editor.table().port[slot]);
    ++counters_[kBarrierSwitches];
  }

  bool BarrierReleased(SlotId slot, uint32_t /*barrier*/, WarpEditor& editor) override {
    Warp& warp = warps_[editor.table().group[slot]];
    if (warp.size() <= 1) return false;
    const size_t index = IndexOf(warp, slot);
    if (index == warp.size()) return false;
    warp[index].at_barrier = false;
    // A warp runs one side at a time, so sides that are let go together have to be put in order.
    for (const Entry& entry : warp) {
      if (entry.slot != kNoSlot && entry.slot != slot) return true;
    }
    return false;
  }

  std::span<const uint64_t> counters() const override { return counters_; }

  // The stacks of diverged warps from bottom to top, as (next PC, reconvergence PC, lanes), the first ones only.
  std::string Explain(const WarpTable& table) const override {
    constexpr int kShown = 4;
    std::string text;
    int diverged = 0;
    for (size_t row = 0; row < warps_.size(); ++row) {
      const Warp& warp = warps_[row];
      if (warp.size() < 2 || ++diverged > kShown) continue;
      absl::StrAppend(&text, text.empty() ? "" : "; ", "warp ", row, ": ");
      for (const Entry& entry : warp) {
        // The stack does not follow an entry while it runs; its slot does.
        const Position next = entry.slot == kNoSlot ? entry.next : table.position[entry.slot];
        absl::StrAppend(&text, "(", Text(next), ",", Text(entry.rpc), ",", LaneText(entry.mask),
                        entry.at_barrier ? ",barrier)" : ")");
      }
    }
    if (diverged > kShown) absl::StrAppend(&text, "; and ", diverged - kShown, " more diverged warps");
    return text;
  }

 private:
  struct Entry {
    Position next;
    Position rpc;
    LaneMask mask = 0;
    SlotId slot = kNoSlot;  // where the entry's threads are, if it runs or waits at a barrier
    bool at_barrier = false;
  };
  // From the bottom of the stack to its top. Entries that were pushed together have disjoint masks; each mask is a
  // subset of the one of the entry that waits for it.
  using Warp = std::vector<Entry>;

  static std::string Text(Position at) {
    if (at.is_exit()) return "-";
    return at.depth() == 0 ? absl::StrCat(at.pc() * 8) : absl::StrCat(at.pc() * 8, "@", at.depth());
  }
  // One digit per lane, lane 0 first.
  std::string LaneText(LaneMask mask) const {
    std::string text(static_cast<size_t>(warp_size_), '0');
    for (int lane = 0; lane < warp_size_; ++lane) text[static_cast<size_t>(lane)] += mask >> lane & 1;
    return text;
  }

  ThreadId ThreadOf(uint32_t row, int lane) const { return static_cast<ThreadId>(row * warp_size_ + lane); }

  static size_t IndexOf(const Warp& warp, SlotId slot) {
    for (size_t i = warp.size(); i-- > 0;) {
      if (warp[i].slot == slot) return i;
    }
    return warp.size();
  }

  void Raise(Counter counter, uint64_t value) { counters_[counter] = std::max(counters_[counter], value); }

  // Lets the entry's threads run, in `slot` if there is one.
  void Start(Entry& entry, uint32_t row, SlotId slot, WarpEditor& editor) {
    Lanes lanes;
    lanes.mask = entry.mask;
    for (int lane = 0; lane < warp_size_; ++lane) lanes.thread[lane] = ThreadOf(row, lane);
    if (slot == kNoSlot) {
      slot = editor.Spawn(entry.next, lanes);
      if (slot == kNoSlot) return;  // the editor has reported why
      editor.SetGroup(slot, row);
    } else {
      editor.Place(slot, entry.next, lanes);
    }
    editor.SetStop(slot, entry.rpc);
    entry.slot = slot;
  }

  // Replaces the running entry by one per path. Returns the lanes that are at the reconvergence point already: they get
  // no entry, their threads wait in the entry below.
  LaneMask Diverge(const Resolution& resolution, Warp& warp, size_t index) {
    ++counters_[kDivergences];
    const Position outer = warp[index].rpc;
    Position rpc = resolution.reconvergence;
    if (rpc.is_exit()) rpc = outer;  // a return to several callers has no reconvergence point of its own
    size_t at = index + 1;
    if (rpc == outer && !rpc.is_exit()) {
      // The entry below waits at this very point. Without this a loop's exit branch would grow the stack with every
      // iteration, and twice the warp size would not bound it.
      warp.erase(warp.begin() + static_cast<ptrdiff_t>(index));
      at = index;
    } else {
      warp[index].next = rpc;
    }
    // The one that is pushed last is on top and runs first: the taken path, or of a wide branch the lowest PC.
    std::array<const PathGroup*, 2> pair = {&resolution.groups.front(), &resolution.groups.back()};
    const bool two_way = resolution.groups.size() == 2 && pair[0]->taken != pair[1]->taken;
    if (two_way && pair[0]->taken == taken_first_) std::swap(pair[0], pair[1]);
    LaneMask arrived = 0;
    for (size_t i = 0; i < resolution.groups.size(); ++i) {
      const PathGroup& group = two_way ? *pair[i] : resolution.groups[resolution.groups.size() - 1 - i];
      if (group.at == rpc) {
        arrived |= group.lanes;
        continue;
      }
      warp.insert(warp.begin() + static_cast<ptrdiff_t>(at++), Entry{group.at, rpc, group.lanes});
    }
    Raise(kMaxStackDepth, warp.size());
    return arrived;
  }

  // Drops entries without threads, and those that have come to their reconvergence point and wait for nobody above.
  // Returns the lanes of the latter.
  static LaneMask PopReconverged(Warp& warp) {
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

  // The topmost entry that waits neither for entries above it nor at a barrier; the stack's size if there is none, or
  // if another entry runs.
  static size_t Runnable(const Warp& warp) {
    LaneMask above = 0;
    size_t found = warp.size();
    for (size_t i = warp.size(); i-- > 0;) {
      const Entry& entry = warp[i];
      if (entry.slot != kNoSlot && !entry.at_barrier) return warp.size();
      if (found == warp.size() && entry.slot == kNoSlot && (entry.mask & above) == 0) found = i;
      above |= entry.mask;
    }
    return found;
  }

  int warp_size_;
  bool taken_first_;
  size_t stack_depth_;
  std::vector<Warp> warps_;  // by row of hardware threads
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "pdom",
        .summary = "Runs diverged paths of a warp one after the other and rejoins them at the immediate post-dominator",
        .source = "Fung, section 3.2, Table 3.1",
        .traits = {.static_warps = true},
        .parameters =
            {
                {.name = "taken_first",
                 .type = ParameterType::kBool,
                 .default_value = "true",
                 .description = "whether the taken path of a conditional branch runs before the fall-through",
                 .source = "Fung, section 3.2, text of Figure 3.1"},
                {.name = "stack_depth",
                 .type = ParameterType::kInteger,
                 .default_value = "0",
                 .unit = "entries",
                 .minimum = 0,
                 .maximum = 4096,
                 .description = "entries of a warp's stack; a warp that needs more ends the run; 0 = 2 * warp size, "
                                "which is always enough",
                 .source = "Fung, section 3.2"},
            },
        .counters =
            {
                {"divergences", "branches", "executed branches at which a warp took more than one path"},
                {"max_stack_depth", "entries", "the deepest reconvergence stack", CounterSpec::Combine::kMaximum},
                {"barrier_switches", "switches", "times a path ran because another of the warp waited at a barrier"},
            },
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      return std::make_unique<Pdom>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
