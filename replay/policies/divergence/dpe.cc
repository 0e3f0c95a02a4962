// DPE: the reconvergence stack whose entries hold both paths of a branch, which run interleaved (Rhu and Erez, HPCA
// 2013). Rules and sources: docs/policies/dpe.md.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "replay/policies/divergence/splits/split_stack.h"

namespace heddle::replay {
namespace {

class DualPath final : public SplitStackPolicy {
 public:
  DualPath(const DivergenceContext& context, const Options& options, size_t paths)
      : SplitStackPolicy(context, options, kCounters), paths_(paths) {}

  // Only with block ends does a path that has to stop always do so.
  uint32_t interests() const override { return kBarriers | (paths_ > 1 ? kEveryBlockEnd : kControlOnly); }

  // Paths of a branch below the topmost stand still until its paths have met.
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    WarpStack& warp = WarpOf(resolution.slot, editor.table());
    const Verdict verdict = SplitStackPolicy::Resolve(resolution, editor);
    if (paths_ == 1 || warp.size() < 2) return verdict;
    const uint32_t top = TopBranch(warp);
    for (Entry& entry : warp) {
      if (Runs(entry) && entry.branch != top) counters_[kHalts] += Halt(entry, editor);
    }
    return verdict;
  }

 protected:
  enum Counter : size_t { kDualBranches = kStackCounters, kHalts, kCounters };

  // Up to two paths of the topmost branch that has one to run.
  size_t Next(const WarpStack& warp) const override {
    if (paths_ == 1) return SplitStackPolicy::Next(warp);
    const uint32_t top = TopBranch(warp);
    size_t running = 0;
    for (const Entry& entry : warp) {
      if (Runs(entry) && entry.branch == top) ++running;
    }
    size_t found = warp.size();
    if (running >= paths_) return found;
    ForEachStartable(warp, [&](size_t index, const Entry& entry) {
      if (entry.branch == top) found = index;
      return found != warp.size();
    });
    return found;
  }

  void Pushed(WarpStack& /*warp*/, size_t /*first*/, size_t count, Position /*rpc*/) override {
    counters_[kDualBranches] += count > 1;
  }

  bool Yields(const Resolution& /*resolution*/, WarpStack& warp, size_t index) override {
    return paths_ > 1 && warp[index].branch != TopBranch(warp);
  }

 private:
  // The latest branch that has a path which runs or could start: the top of the stack of dual entries.
  static uint32_t TopBranch(const WarpStack& warp) {
    uint32_t top = 0;
    LaneMask above = 0;
    for (size_t i = warp.size(); i-- > 0;) {
      const Entry& entry = warp[i];
      if (!entry.at_barrier && (entry.mask & above) == 0) top = std::max(top, entry.branch);
      above |= entry.mask;
    }
    return top;
  }

  const size_t paths_;
};

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "dpe",
        .summary = "Dual-path execution: both paths of the branch on top of a warp's stack run interleaved",
        .source = "Rhu and Erez, The dual-path execution model for efficient GPU control flow, HPCA 2013; HARP, "
                  "section 2.3",
        .traits = {.regrouping = Regrouping::kNever, .waits_at_post_dominators = true},
        .parameters =
            {
                TakenFirstParameter(),
                ReconvergenceParameter("post_dominator", false),
                {.name = "paths",
                 .type = ParameterType::kInteger,
                 .default_value = "2",
                 .unit = "paths",
                 .minimum = 1,
                 .maximum = 2,
                 .description = "paths of the topmost branch that may run at the same time; 1 = the single-path stack",
                 .source = "the paper: 2"},
            },
        .counters = StackCounterSpecs({{"dual_branches", "branches", "divergences with two paths to interleave"},
                                       {"halts", "paths", "paths that had to stop because their sibling diverged"}}),
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      SplitStackPolicy::Options options;
      options.taken_first = parameters.Bool("taken_first");
      options.reconvergence = ReconvergenceOf(parameters);
      return std::make_unique<DualPath>(context, options, static_cast<size_t>(parameters.Integer("paths")));
    });

}  // namespace
}  // namespace heddle::replay
