// Independent thread scheduling with convergence barriers, as publicly described for current GPUs: the threads of a
// branch take part in a barrier that the compiler has put at its post-dominator (BSSY, BSYNC), and until then each path
// is a split of its own with its own PC, of which one runs; a split that blocks or yields hands over to another.
// Rules and sources: docs/policies/its.md.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replay/policies/divergence/splits/barrier_splits.h"
#include "replay/policies/divergence/splits/split_stack.h"
#include "replay/seams/policy_storage.h"

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

static_assert(BarrierSplitsPolicy::kCounters == SplitStackPolicy::kStackCounters + 1, "one declaration is of both");

bool FollowsCode(const Parameters& parameters) { return parameters.Choice("reconvergence") == "compiler"; }

ParameterSpec ItsReconvergenceParameter() {
  ParameterSpec spec = ReconvergenceParameter("post_dominator", false);
  spec.choices.push_back("compiler");
  spec.description += "; or at the BSYNC of machine code, as its BSSY, BREAK and WARPSYNC say";
  return spec;
}

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "its",
        .summary = "Independent thread scheduling: one split of a warp runs until it blocks or yields; splits rejoin "
                   "at convergence barriers",
        .source = "NVIDIA Volta white paper, 2017; US patent 10,067,768; control flow management in modern GPUs, "
                  "arXiv 2407.02944",
        .traits = {.regrouping = Regrouping::kNever},
        .traits_by_parameters =
            [](const Parameters& parameters, PolicyTraits& traits) {
              traits.follows_convergence_barriers = FollowsCode(parameters);
            },
        .parameters =
            {
                TakenFirstParameter(),
                ItsReconvergenceParameter(),
                {.name = "yield",
                 .type = ParameterType::kChoice,
                 .default_value = "none",
                 .choices = {"none", "backward_branch", "block_end", "long_latency"},
                 .description = "when a split gives way to another of its warp that could run, besides when it blocks "
                                "or its code has a YIELD that it follows: never; at a branch to the same or a lower "
                                "PC; at every block's end; or when it has to "
                                "wait for memory beyond the core",
                 .source = "YIELD in arXiv 2407.02944; where compilers put it is not public; long_latency: subwarp "
                           "interleaving (Damani et al., HPCA 2022)"},
            },
        .counters = StackCounterSpecs({{"yields", "switches", "times a split gave way to another that could run"}}),
    },
    [](const DivergenceContext& context, const Parameters& parameters) -> std::unique_ptr<DivergencePolicy> {
      const std::string& yield = parameters.Choice("yield");
      if (FollowsCode(parameters)) {
        BarrierSplitsPolicy::Options options;
        options.taken_first = parameters.Bool("taken_first");
        options.yields_at_backward_branches = yield == "backward_branch";
        options.yields_at_block_ends = yield == "block_end";
        options.yields_to_memory = yield == "long_latency";
        return std::make_unique<BarrierSplitsPolicy>(context, options);
      }
      SplitStackPolicy::Options options;
      options.taken_first = parameters.Bool("taken_first");
      options.reconvergence = ReconvergenceOf(parameters);
      return std::make_unique<IndependentThreadScheduling>(context, options, yield);
    });

HEDDLE_POLICY_STORAGE("divergence", "its",
                      PolicyStorage{
                          .source = "machine code has barriers B0 to B15 for each warp, with a bit for every thread",
                          .remark = "without the threads' program counters, and what the hardware keeps of a split",
                          .items = [](const StorageContext& core, const Parameters&) -> std::vector<StorageItem> {
                            constexpr uint64_t kBarriers = 16;
                            return {{"convergence barriers", kBarriers * core.warps(), core.warp_size, "members"}};
                          }});

}  // namespace
}  // namespace heddle::replay
