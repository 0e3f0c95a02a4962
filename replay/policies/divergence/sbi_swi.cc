// SBI and SWI: two instructions on disjoint lanes in one issue, from two paths of one warp or from two warps (Brunie,
// Collange and Diamos, ISCA 2012). Rules and sources: docs/policies/sbi_swi.md.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "replay/policies/divergence/splits/frontier_warps.h"

namespace heddle::replay {
namespace {

class Interweaving final : public FrontierPolicy {
 public:
  Interweaving(const DivergenceContext& context, const Options& options, bool warps)
      : FrontierPolicy(context, options, kCounters),
        branches_(options.paths > 1),
        warps_together_(warps),
        first_(static_cast<size_t>(context.ports)) {}

  uint32_t interests() const override { return FrontierPolicy::interests() | kIssue; }

  int issue_slots() const override { return 2; }

  bool MayIssueWith(std::span<const SlotId> chosen, SlotId candidate, const WarpTable& table) const override {
    for (const SlotId slot : chosen) {
      if ((table.lanes[slot].mask & table.lanes[candidate].mask) != 0) return false;
      if (!(table.group[slot] == table.group[candidate] ? branches_ : warps_together_)) return false;
    }
    return true;
  }

  // Counts the second slots of an issue.
  Verdict AcceptIssue(SlotId slot, WarpEditor& editor) override {
    const WarpTable& table = editor.table();
    Issue& first = first_[table.port[slot]];
    if (first.cycle == editor.now()) {
      ++counters_[first.group == table.group[slot] ? kBranchPairs : kWarpPairs];
    } else {
      first = {editor.now(), table.group[slot]};
    }
    return Verdict::kAccepted;
  }

 private:
  enum Counter : size_t { kBranchPairs = kFrontierCounters, kWarpPairs, kCounters };
  struct Issue {
    Cycle cycle = kNever;
    uint32_t group = 0;
  };

  const bool branches_;
  const bool warps_together_;
  std::vector<Issue> first_;  // by port: the first slot of the latest issue
};

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "sbi_swi",
        .summary = "Simultaneous branch and warp interweaving: issues two paths of a warp, or two warps, on disjoint "
                   "lanes at once",
        .source = "Brunie, Collange and Diamos, Simultaneous branch and warp interweaving for sustained GPU "
                  "performance, ISCA 2012; HARP, section 2.3",
        .traits = {.regrouping = Regrouping::kNever, .mixed_pcs = true},
        .parameters =
            {
                {.name = "co_issue",
                 .type = ParameterType::kChoice,
                 .default_value = "both",
                 .choices = {"both", "sbi", "swi"},
                 .description = "what may issue together: the first two paths of a warp (sbi), two warps (swi), or "
                                "either",
                 .source = "the paper's SBI, SWI and SBI+SWI"},
                {.name = "synchronise",
                 .type = ParameterType::kBool,
                 .default_value = "true",
                 .only_if = "co_issue!=swi",
                 .description = "whether the second path waits at a reconvergence point while the first is between it "
                                "and its branch",
                 .source = "the paper's reconvergence constraints"},
                ReconvergenceParameter("frontier", true),
            },
        .counters = FrontierCounterSpecs({{"branch_pairs", "issues", "issues of two paths of one warp"},
                                          {"warp_pairs", "issues", "issues of two warps"}}),
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      const std::string& co_issue = parameters.Choice("co_issue");
      FrontierPolicy::Options options;
      options.paths = co_issue == "swi" ? 1 : 2;
      options.synchronise = parameters.Bool("synchronise");
      options.reconvergence = ReconvergenceOf(parameters);
      return std::make_unique<Interweaving>(context, options, co_issue != "sbi");
    });

}  // namespace
}  // namespace heddle::replay
