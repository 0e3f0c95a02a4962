// TBC+: thread block compaction that does not wait where no thread can part from another: at unconditional branches,
// and at conditional ones that the compiler knows to be uniform (Rhu and Erez, CAPRI, section 2.2).
#include <memory>

#include "replay/policies/divergence/block_wide/block_stack.h"

namespace heddle::replay {
namespace {

class TbcPlus final : public BlockStackPolicy {
 public:
  TbcPlus(const DivergenceContext& context, const Parameters& parameters)
      : BlockStackPolicy(context, CommonOptions(parameters), kEnd),
        uniform_branches_(parameters.Bool("uniform_branches")) {}

 private:
  enum OwnCounter { kUniformSkipped = kBlockStackCounters, kNotUniform, kEnd };

  AtBranch Decide(const BlockEnd& end) override {
    if (!end.conditional && !end.diverged) return AtBranch::kGoOn;
    if (!uniform_branches_ || !end.uniform) return AtBranch::kStall;
    if (end.diverged) {
      Count(kNotUniform);
      return AtBranch::kStall;
    }
    Count(kUniformSkipped);
    Count(kBypassBypass);
    return AtBranch::kGoOn;
  }
  void ForkedUnseen() override { Count(kNotUniform); }

  const bool uniform_branches_;
};

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "tbc_plus",
        .summary = "TBC whose warps do not wait at branches that are known not to diverge",
        .source = "Rhu and Erez, section 2.2 (TBC+)",
        .traits = {.waits_at_post_dominators = true},
        .traits_by_parameters = BlockStackTraits,
        .parameters =
            [] {
              std::vector<ParameterSpec> parameters = BlockStackParameters();
              parameters.push_back(
                  {.name = "uniform_branches",
                   .type = ParameterType::kBool,
                   .default_value = "true",
                   .description = "whether the static analysis' uniform conditional branches are known to the hardware",
                   .source = "Rhu and Erez, section 2.2: branches that the compiler marks .uni"});
              return parameters;
            }(),
        .counters =
            [] {
              std::vector<CounterSpec> counters = BlockStackCounters();
              counters.push_back({"uniform_skipped", "warps", "warps that went on at a branch marked as uniform"});
              counters.push_back({"not_uniform", "branches",
                                  "branches marked as uniform at which warps of a block parted all the same"});
              return counters;
            }(),
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      return std::make_unique<TbcPlus>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
