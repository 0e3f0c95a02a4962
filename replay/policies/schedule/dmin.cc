// DMin: DWF's minority scheduling (Fung, section 4.3).
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/policies/schedule/shared/pc_election.h"

namespace heddle::replay {
namespace {

// The PC at which the fewest threads wait, so that stragglers catch up; ties go to the PC whose oldest warp is older.
// The thesis says only of the majority that it keeps its turn, so a new PC is chosen at every issue unless `sticky`.
class Minority final : public PcElection {
 public:
  Minority(const SchedulerContext& context, const Parameters& parameters)
      : PcElection(context, /*keeps_turn=*/parameters.Bool("sticky")) {}

  std::span<const uint64_t> counters() const override {
    HistoryCounters(history(), counters_.data());
    return counters_;
  }

 private:
  SlotId PickFromPool(const SlotSet& eligible) const override {
    return Elect(eligible, [this](const PositionGroups::Group& a, const PositionGroups::Group& b) {
      return a.threads != b.threads ? a.threads < b.threads : AgeOf(a) < AgeOf(b);
    });
  }

  mutable std::array<uint64_t, kHistoryCounters> counters_{};
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "dmin",
        .summary = "DWF: the PC at which the fewest threads wait",
        .source = "Fung, section 4.3",
        .traits = {.needs_regrouping = kNeedsPoolReason},
        .parameters = {{.name = "sticky",
                        .type = ParameterType::kBool,
                        .default_value = "false",
                        .description = "whether a PC keeps its turn until its warps have run out",
                        .source = "Fung, section 4.3, which says so of the majority only"}},
        .counters = HistoryCounterSpecs(),
    },
    [](const SchedulerContext& context, const Parameters& parameters) {
      return std::make_unique<Minority>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
