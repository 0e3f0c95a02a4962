// TBC: thread block compaction. One reconvergence stack per block; at every branch the block's warps wait for each
// other and are compacted (Fung and Aamodt, HPCA 2011, as Rhu and Erez describe and rebuild it: CAPRI, section 2.2).
#include <memory>

#include "replay/policies/divergence/block_wide/block_stack.h"

namespace heddle::replay {
namespace {

class Tbc final : public BlockStackPolicy {
 public:
  Tbc(const DivergenceContext& context, const Parameters& parameters)
      : BlockStackPolicy(context, CommonOptions(parameters), kBlockStackCounters),
        sync_on_same_target_(parameters.Bool("sync_on_same_target")) {}

 private:
  AtBranch Decide(const BlockEnd& end) override {
    const bool waits = end.conditional || end.diverged || (end.jump && sync_on_same_target_);
    return waits ? AtBranch::kStall : AtBranch::kGoOn;
  }

  const bool sync_on_same_target_;
};

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "tbc",
        .summary = "One reconvergence stack per thread block; at every branch its warps wait and are compacted",
        .source = "Fung and Aamodt, HPCA 2011; Rhu and Erez, section 2.2",
        .traits = {.waits_at_post_dominators = true},
        .traits_by_parameters = BlockStackTraits,
        .parameters =
            [] {
              std::vector<ParameterSpec> parameters = BlockStackParameters();
              parameters.push_back(
                  {.name = "sync_on_same_target",
                   .type = ParameterType::kBool,
                   .default_value = "true",
                   .description = "whether the warps of a block wait for each other at unconditional branches as well",
                   .source = "Rhu and Erez, sections 2.2 and 5.3: TBC does, TBC+ does not"});
              return parameters;
            }(),
        .counters = BlockStackCounters(),
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      return std::make_unique<Tbc>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
