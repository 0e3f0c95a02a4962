// LRR: loose round-robin.
#include <cstdint>
#include <memory>

#include "replay/policies/schedule/shared/history_scheduler.h"

namespace heddle::replay {
namespace {

// Slots ascending from the one after the last issue, wrapping round. "Loose": a warp that cannot issue is passed over
// and does not hold up the turn; a cycle without an issue leaves the turn where it was.
class LooseRoundRobin final : public HistoryScheduler {
 public:
  SlotId Pick(const SlotSet& eligible) const override { return eligible.FirstCyclic(uint32_t{history().last()} + 1); }
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "lrr",
        .summary = "Loose round-robin over the warp slots",
        .source = "Liu et al. (BAWS), section 2.2",
        .counters = HistoryCounterSpecs(),
    },
    [](const SchedulerContext&, const Parameters&) { return std::make_unique<LooseRoundRobin>(); });

}  // namespace
}  // namespace heddle::replay
