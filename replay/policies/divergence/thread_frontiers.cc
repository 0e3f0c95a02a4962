// Re-convergence at thread frontiers with a sorted stack of contexts per warp (Diamos et al., MICRO 2011). Rules and
// sources: docs/policies/thread_frontiers.md.
#include <memory>

#include "replay/policies/divergence/splits/frontier_warps.h"

namespace heddle::replay {
namespace {

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "thread_frontiers",
        .summary = "Runs the path with the lowest PC of a warp and joins threads wherever they meet: earlier than at "
                   "the post-dominator where control flow is unstructured",
        .source = "Diamos et al., SIMD re-convergence at thread frontiers, MICRO 2011",
        .traits = {.regrouping = Regrouping::kNever},
        .parameters = {ReconvergenceParameter("frontier", true)},
        .counters = FrontierCounterSpecs(),
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      FrontierPolicy::Options options;
      options.reconvergence = ReconvergenceOf(parameters);
      return std::make_unique<FrontierPolicy>(context, options, FrontierPolicy::kFrontierCounters);
    });

}  // namespace
}  // namespace heddle::replay
