// SAWS as far as the BAWS paper describes it.
#include <memory>

#include "replay/policies/schedule/shared/barrier_order.h"

namespace heddle::replay {
namespace {

// Thread blocks in the order in which their present barrier was first hit; those at whose barrier nobody waits come
// after, oldest first; inside a block GTO (Liu et al., sections 6.6 and 7, on the synchronization-aware scheduler that
// they compare with). The original coordinates its ports beyond that, in ways that its public description does not
// give: hence the name.
class FirstHitFirst final : public BarrierAwareScheduler {
 public:
  explicit FirstHitFirst(const SchedulerContext& context)
      : BarrierAwareScheduler(context, Inner::kGreedyOfBlock, /*count_exits=*/false) {}

  SlotId Pick(const SlotSet& eligible) const override {
    return PickByBlock(eligible, [this](BlockId a, BlockId b) {
      const uint64_t first_a = barriers().first_arrival(a);
      const uint64_t first_b = barriers().first_arrival(b);
      return first_a != first_b ? first_a < first_b : barriers().sequence(a) < barriers().sequence(b);
    });
  }
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "saws_lite",
        .summary = "Warps of the thread block whose barrier was hit first (SAWS as far as it is public)",
        .source = "Liu et al. (BAWS), sections 6.6 and 7",
        .counters = BarrierAwareCounterSpecs(),
    },
    [](const SchedulerContext& context, const Parameters&) { return std::make_unique<FirstHitFirst>(context); });

}  // namespace
}  // namespace heddle::replay
