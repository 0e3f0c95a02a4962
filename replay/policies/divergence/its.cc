// Independent thread scheduling with convergence barriers, as publicly described for current GPUs: the threads of a
// branch take part in a barrier that the compiler has put at its post-dominator (BSSY, BSYNC), and until then each path
// is a split of its own with its own PC, of which one runs; a split that blocks or yields hands over to another.
// Rules and sources: docs/policies/its.md.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "replay/policies/divergence/splits/split_stack.h"

namespace heddle::replay {
namespace {

class IndependentThreadScheduling final : public SplitStackPolicy {
 public:
  IndependentThreadScheduling(const DivergenceContext& context, const Options& options, const std::string& yield)
      : SplitStackPolicy(context, options, kCounters),
        yields_at_backward_branches_(yield == "backward_branch"),
        yields_at_block_ends_(yield == "block_end"),
        yields_to_memory_(yield == "long_latency") {}

  uint32_t interests() const override {
    uint32_t wanted = kBarriers;
    if (yields_at_backward_branches_ || yields_at_block_ends_) wanted |= kEveryBlockEnd;
    if (yields_to_memory_) wanted |= kLongLatency;
    return wanted;
  }

  // The warp does not stand still while a split waits for memory: another one runs, until both are ready again.
  void LongLatency(SlotId slot, WarpEditor& editor) override {
    WarpStack& warp = WarpOf(slot, editor.table());
    if (warp.size() <= 1) return;
    const size_t index = IndexOf(warp, slot);
    if (index == warp.size()) return;
    warp[index].stalled = true;
    counters_[kYields] += StartMore(warp, slot, editor);
  }

 protected:
  enum Counter : size_t { kYields = kStackCounters, kCounters };

  // The split whose last yield is longest ago, the topmost of those: without yields the reconvergence stack's order.
  size_t Next(const WarpStack& warp) const override {
    size_t found = warp.size();
    for (const Entry& entry : warp) {
      if (Runs(entry) && !entry.stalled) return found;
    }
    ForEachStartable(warp, [&](size_t index, const Entry& entry) {
      if (found == warp.size() || entry.turn < warp[found].turn) found = index;
      return false;
    });
    return found;
  }

  bool Yields(const Resolution& resolution, WarpStack& warp, size_t index) override {
    const Position at = resolution.groups[0].at;
    const bool backward = at.depth() == resolution.from.depth() && at.pc() <= resolution.from.pc();
    if (!yields_at_block_ends_ && !(yields_at_backward_branches_ && backward)) return false;
    bool somebody_waits = false;
    ForEachStartable(warp, [&](size_t, const Entry&) { return somebody_waits = true; });
    if (!somebody_waits) return false;
    warp[index].turn = ++turns_;
    ++counters_[kYields];
    return true;
  }

 private:
  const bool yields_at_backward_branches_;
  const bool yields_at_block_ends_;
  const bool yields_to_memory_;
  uint64_t turns_ = 0;
};

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "its",
        .summary = "Independent thread scheduling: one split of a warp runs until it blocks or yields; splits rejoin "
                   "at convergence barriers",
        .source = "NVIDIA Volta white paper, 2017; US patent 10,067,768; control flow management in modern GPUs, "
                  "arXiv 2407.02944",
        .traits = {.regrouping = Regrouping::kNever},
        .parameters =
            {
                TakenFirstParameter(),
                ReconvergenceParameter("post_dominator", false),
                {.name = "yield",
                 .type = ParameterType::kChoice,
                 .default_value = "none",
                 .choices = {"none", "backward_branch", "block_end", "long_latency"},
                 .description = "when a split gives way to another of its warp that could run, besides when it blocks: "
                                "never; at a branch to the same or a lower PC; at every block's end; or when it has to "
                                "wait for memory beyond the core",
                 .source = "YIELD in arXiv 2407.02944; where compilers put it is not public; long_latency: subwarp "
                           "interleaving (Damani et al., HPCA 2022)"},
            },
        .counters = StackCounterSpecs({{"yields", "switches", "times a split gave way to another that could run"}}),
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      SplitStackPolicy::Options options;
      options.taken_first = parameters.Bool("taken_first");
      options.reconvergence = ReconvergenceOf(parameters);
      return std::make_unique<IndependentThreadScheduling>(context, options, parameters.Choice("yield"));
    });

}  // namespace
}  // namespace heddle::replay
