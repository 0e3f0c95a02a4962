// DPC: DWF's lowest program counter first (Fung, section 4.3).
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/policies/schedule/shared/pool_scheduler.h"

namespace heddle::replay {
namespace {

// The smallest position, so that threads that lag behind catch up; of one position the oldest warp.
class LowestPcFirst final : public PoolScheduler {
 public:
  using PoolScheduler::PoolScheduler;

  std::span<const uint64_t> counters() const override {
    HistoryCounters(history(), counters_.data());
    return counters_;
  }

 private:
  SlotId PickFromPool(const SlotSet& eligible) const override {
    SlotId best = kNoSlot;
    Position lowest = Position::Exit();  // above all others
    for (const PositionGroups::GroupId id : groups().live()) {
      const PositionGroups::Group& group = groups().group(id);
      if (group.at >= lowest) continue;
      const SlotId slot = groups().FirstIn(id, eligible);
      if (slot == kNoSlot) continue;
      best = slot;
      lowest = group.at;
    }
    return best;
  }

  mutable std::array<uint64_t, kHistoryCounters> counters_{};
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "dpc",
        .summary = "DWF: the warp with the smallest program counter",
        .source = "Fung, section 4.3",
        .traits = {.needs_regrouping = kNeedsPoolReason},
        .counters = HistoryCounterSpecs(),
    },
    [](const SchedulerContext& context, const Parameters&) { return std::make_unique<LowestPcFirst>(context); });

}  // namespace
}  // namespace heddle::replay
