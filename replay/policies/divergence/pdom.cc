// PDOM: one reconvergence stack per static warp; diverged paths run one after the other and rejoin at the branch's
// immediate post-dominator (Fung, section 3.2 and Table 3.1; the baseline of CAPRI and HARP as well).
#include <cstddef>
#include <memory>

#include "replay/policies/divergence/splits/split_stack.h"

namespace heddle::replay {
namespace {

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "pdom",
        .summary = "Runs diverged paths of a warp one after the other and rejoins them at the immediate post-dominator",
        .source = "Fung, section 3.2, Table 3.1",
        .traits = {.regrouping = Regrouping::kNever, .waits_at_post_dominators = true},
        .parameters =
            {
                TakenFirstParameter(),
                ReconvergenceParameter("post_dominator", false),
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
        .counters = StackCounterSpecs(),
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      SplitStackPolicy::Options options;
      options.taken_first = parameters.Bool("taken_first");
      options.reconvergence = ReconvergenceOf(parameters);
      options.depth = static_cast<size_t>(parameters.Integer("stack_depth"));
      return std::make_unique<SplitStackPolicy>(context, options, SplitStackPolicy::kStackCounters);
    });

}  // namespace
}  // namespace heddle::replay
