// DWS: dynamic warp subdivision (Meng, Tarjan and Skadron, ISCA 2010). Paths of a branch, and threads whose data have
// come, become warp splits that are scheduled as warps. Rules and sources: docs/policies/dws.md.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replay/policies/divergence/splits/split_stack.h"

namespace heddle::replay {
namespace {

class DynamicWarpSubdivision final : public SplitStackPolicy {
 public:
  DynamicWarpSubdivision(const DivergenceContext& context, const Options& options, const Parameters& parameters)
      : SplitStackPolicy(context, options, kCounters),
        always_at_branches_(parameters.Choice("branch") == "always"),
        at_short_blocks_(parameters.Choice("branch") == "short_block"),
        short_block_(static_cast<uint32_t>(parameters.Integer("short_block"))),
        at_memory_(parameters.Choice("memory") != "none"),
        lazy_(parameters.Choice("memory") == "lazy"),
        revive_(parameters.Choice("memory") == "revive"),
        branch_limited_(parameters.Choice("run_ahead") == "branch_limited"),
        joins_at_pc_(parameters.Bool("pc_reconvergence")),
        asked_(kMaxSlots, Position::Exit()) {}

  void SetIssueView(const IssueView& view) override { view_ = &view; }
  uint32_t interests() const override {
    uint32_t wanted = kBarriers;
    if (joins_at_pc_ || at_memory_) wanted |= kEveryBlockEnd;
    if (at_memory_) wanted |= kLaneReturns;
    return wanted;
  }

  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    if (resolution.reason == ResolveReason::kLanes) {
      RunAhead(resolution, editor);
      return Verdict::kAccepted;
    }
    asked_[resolution.slot] = Position::Exit();
    if (joins_at_pc_ && JoinAtPc(resolution, editor)) return Verdict::kAccepted;
    return SplitStackPolicy::Resolve(resolution, editor);
  }

  // Whether the threads whose data have come go on without the others.
  bool LanesReturned(SlotId slot, LaneMask /*lanes*/, WarpEditor& editor) override {
    const WarpTable& table = editor.table();
    const Position at = table.position[slot];
    const bool first = asked_[slot] != at;
    asked_[slot] = at;
    if (lazy_ && !first) return false;
    if ((lazy_ || revive_) && AnyMayIssue(table)) return false;
    const trace::Block& block = program_.block(program_.block_of(at.pc()));
    const Pc last = block.first + block.count - 1;
    // Behind a block's last instruction there is nothing to run ahead to before the threads may part.
    return at.pc() != last && !(branch_limited_ && at.pc() + 1 == last);
  }

 protected:
  enum Counter : size_t { kBranchSplits = kStackCounters, kMemorySplits, kJoins, kCounters };

  // All splits run, but the paths of a branch that does not subdivide one after the other.
  size_t Next(const WarpStack& warp) const override {
    size_t found = warp.size();
    ForEachStartable(warp, [&](size_t index, const Entry& entry) {
      if (!entry.together && SiblingRuns(warp, index)) return false;
      found = index;
      return true;
    });
    return found;
  }

  void Pushed(WarpStack& warp, size_t first, size_t count, Position rpc) override {
    if (count < 2) return;
    const bool subdivides = always_at_branches_ || (at_short_blocks_ && IsShort(rpc));
    for (size_t i = first; i < first + count; ++i) warp[i].together = subdivides;
    counters_[kBranchSplits] += subdivides;
  }

 private:
  // Whether some warp of the SM could issue. With instruction buffers an offered one may lack an instruction or data.
  bool AnyMayIssue(const WarpTable& table) const {
    bool any = false;
    table.offered.ForEach([&](SlotId slot) { any = any || view_->MayIssue(slot); });
    return any;
  }

  bool IsShort(Position rpc) const {
    return !rpc.is_exit() && program_.block(program_.block_of(rpc.pc())).count <= short_block_;
  }

  // Whether threads of another path of the entry's branch run.
  static bool SiblingRuns(const WarpStack& warp, size_t index) {
    LaneMask siblings = 0;
    for (size_t i = 0; i < warp.size(); ++i) {
      if (i != index && warp[i].branch == warp[index].branch) siblings |= warp[i].mask;
    }
    for (const Entry& entry : warp) {
      if (Runs(entry) && (entry.mask & siblings) != 0) return true;
    }
    return false;
  }

  // The lanes of the resolution leave their slot, which waits for the others' data.
  void RunAhead(const Resolution& resolution, WarpEditor& editor) {
    const SlotId slot = resolution.slot;
    WarpStack& warp = WarpOf(slot, editor.table());
    const size_t index = IndexOf(warp, slot);
    if (index == warp.size() || resolution.groups.size() != 1 || resolution.exited != 0) {
      editor.Fail("threads that run ahead of a load have no entry, or take several ways");
      return;
    }
    ++counters_[kMemorySplits];
    Entry& whole = warp[index];
    Entry behind = whole;
    behind.mask &= ~resolution.lanes->mask;
    behind.together = true;
    size_t at = index;
    if (branch_limited_) {
      const trace::Block& block = program_.block(program_.block_of(resolution.from.pc()));
      const Position end(block.first + block.count - 1, resolution.from.depth());
      if (whole.rpc != end) {
        behind.rpc = end;
        behind.branch = NewBranch();
        whole.next = end;
        whole.slot = kNoSlot;
        at = index + 1;
        editor.SetStop(slot, end);
      }
    }
    Entry ahead = behind;
    ahead.mask = resolution.lanes->mask;
    ahead.slot = kNoSlot;
    ahead.next = resolution.groups[0].at;
    if (at == index) {
      warp[index] = behind;
    } else {
      warp.insert(warp.begin() + static_cast<ptrdiff_t>(at), behind);
    }
    warp.insert(warp.begin() + static_cast<ptrdiff_t>(at) + 1, ahead);
    Raise(kMaxStackDepth, warp.size());
    StartMore(warp, slot, editor);
  }

  // Whether every entry that waits for one of the two waits for the other as well. If not, they have to meet there
  // first: joined earlier, they would leave entries behind that wait for parts of them, more with every iteration.
  static bool WaitedForTogether(const WarpStack& warp, size_t a, size_t b) {
    for (size_t i = 0; i < warp.size(); ++i) {
      if (i == a || i == b) continue;
      if (((warp[i].mask & warp[a].mask) != 0) != ((warp[i].mask & warp[b].mask) != 0)) return false;
    }
    return true;
  }

  // Splits of one divergence that come to the same place go on together. True if the resolving one has joined another.
  bool JoinAtPc(const Resolution& resolution, WarpEditor& editor) {
    if (resolution.groups.size() != 1 || resolution.exited != 0) return false;
    const SlotId slot = resolution.slot;
    const WarpTable& table = editor.table();
    const uint32_t hw_warp = table.group[slot];
    WarpStack& warp = WarpOf(slot, table);
    if (warp.size() < 2) return false;
    const size_t index = IndexOf(warp, slot);
    if (index == warp.size()) return false;
    const Position at = resolution.groups[0].at;
    if (at == warp[index].rpc) return false;  // they meet there anyway
    size_t other = 0;
    for (; other < warp.size(); ++other) {
      const Entry& entry = warp[other];
      if (other == index || entry.rpc != warp[index].rpc || entry.slot == kNoSlot || entry.at_barrier) continue;
      if (table.state[entry.slot] != SlotState::kOffered || table.position[entry.slot] != at) continue;
      if (WaitedForTogether(warp, index, other)) break;
    }
    if (other == warp.size()) return false;
    const SlotId host = warp[other].slot;
    editor.Join(host, LanesOf(hw_warp, warp[index].mask));
    editor.Dissolve(slot);
    // The upper of the two stays: what waits for them is below it.
    Entry joined = warp[std::max(index, other)];
    joined.mask = warp[index].mask | warp[other].mask;
    joined.together = warp[index].together && warp[other].together;
    joined.slot = host;
    warp[std::max(index, other)] = joined;
    warp.erase(warp.begin() + static_cast<ptrdiff_t>(std::min(index, other)));
    // If these are all threads of a divergence it is over: the joined split takes the place of the one that diverged.
    for (size_t i = IndexOf(warp, host); i-- > 0;) {
      const Entry waiting = warp[i];
      if (waiting.mask != joined.mask || waiting.next != joined.rpc) continue;
      joined.rpc = waiting.rpc;
      joined.branch = waiting.branch;
      joined.together = waiting.together;
      warp.erase(warp.begin() + static_cast<ptrdiff_t>(i));
      warp[IndexOf(warp, host)] = joined;
      editor.SetStop(host, joined.rpc);
    }
    ++counters_[kJoins];
    return true;
  }

  const bool always_at_branches_;
  const bool at_short_blocks_;
  const uint32_t short_block_;
  const bool at_memory_;
  const bool lazy_;
  const bool revive_;
  const bool branch_limited_;
  const bool joins_at_pc_;
  const IssueView* view_ = nullptr;
  std::vector<Position> asked_;  // by slot: the load in flight some of whose data have come already
};

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "dws",
        .summary = "Dynamic warp subdivision: paths of a branch, and threads whose data have come, are scheduled as "
                   "warps of their own until they meet again",
        .source = "Meng, Tarjan and Skadron, Dynamic warp subdivision for integrated branch and memory divergence "
                  "tolerance, ISCA 2010; HARP, section 2.3",
        .traits = {.regrouping = Regrouping::kNever},
        .parameters =
            {
                TakenFirstParameter(),
                ReconvergenceParameter("post_dominator", false),
                {.name = "branch",
                 .type = ParameterType::kChoice,
                 .default_value = "short_block",
                 .choices = {"none", "short_block", "always"},
                 .description =
                     "which divergent branches subdivide a warp: none; those whose post-dominator is a block "
                     "of at most short_block instructions; all",
                 .source = "the paper's static heuristic"},
                {.name = "short_block",
                 .type = ParameterType::kInteger,
                 .default_value = "50",
                 .unit = "instructions",
                 .minimum = 1,
                 .maximum = 65536,
                 .only_if = "branch=short_block",
                 .description = "longest block at the post-dominator with branch=short_block",
                 .source = "the paper"},
                {.name = "memory",
                 .type = ParameterType::kChoice,
                 .default_value = "revive",
                 .choices = {"none", "aggressive", "lazy", "revive"},
                 .description = "when threads whose data have come leave those whose data have not: never; always; if "
                                "no warp of the SM can issue when the first data of the access come; or when any come",
                 .source = "the paper's AggressSplit, LazySplit and ReviveSplit"},
                {.name = "run_ahead",
                 .type = ParameterType::kChoice,
                 .default_value = "branch_bypass",
                 .choices = {"branch_limited", "branch_bypass"},
                 .only_if = "memory!=none",
                 .description = "how far threads run ahead of a load: to the end of the basic block, or past branches "
                                "to the reconvergence point",
                 .source = "the paper's BranchLimited and BranchBypass re-convergence"},
                {.name = "pc_reconvergence",
                 .type = ParameterType::kBool,
                 .default_value = "true",
                 .description = "whether splits also join where one comes to a block at which another is waiting to "
                                "issue",
                 .source = "the paper's PC-based re-convergence"},
            },
        .counters = StackCounterSpecs({{"branch_subdivisions", "branches", "divergences whose paths ran side by side"},
                                       {"memory_subdivisions", "accesses",
                                        "times threads went on while others of their split waited for data"},
                                       {"pc_joins", "splits", "splits that joined another at the same PC"}}),
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      SplitStackPolicy::Options options;
      options.taken_first = parameters.Bool("taken_first");
      options.reconvergence = ReconvergenceOf(parameters);
      options.merge_tails = false;
      return std::make_unique<DynamicWarpSubdivision>(context, options, parameters);
    });

}  // namespace
}  // namespace heddle::replay
