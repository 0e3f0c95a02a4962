// GTO: greedy-then-oldest.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/policies/schedule/shared/history_scheduler.h"

namespace heddle::replay {
namespace {

// The warp that issued last goes on if it can; otherwise the oldest that can. A greedy warp that stalls stays greedy
// until another one issues.
class GreedyThenOldest final : public HistoryScheduler {
 public:
  explicit GreedyThenOldest(const SchedulerContext& context) : table_(context.table), greedy_(context.table) {}

  SlotId Pick(const SlotSet& eligible) const override {
    const SlotId greedy = greedy_.In(eligible);
    return greedy != kNoSlot ? greedy : OldestOf(eligible, table_);
  }
  size_t PickInOrder(const SlotSet& eligible, std::span<SlotId> order) const override {
    const SlotId greedy = greedy_.In(eligible);
    if (greedy == kNoSlot || order.empty()) return table_.ages.ByAge(eligible, kNoSlot, order);
    order[0] = greedy;
    return 1 + table_.ages.ByAge(eligible, greedy, order.subspan(1));
  }
  void Issued(SlotId slot) override {
    HistoryScheduler::Issued(slot);
    greedy_.Issued(slot);
  }
  void IssuedInOrder(std::span<const SlotId> slots) override {
    RecordIssued(slots);
    greedy_.Issued(slots.back());
  }
  void OfferedInOrder(std::span<const SlotId> slots) override { RecordOffered(slots); }

 private:
  const WarpTable& table_;
  GreedyWarp greedy_;
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "gto",
        .summary = "Greedy-then-oldest: stays with a warp until it stalls, then takes the oldest",
        .source = "Rogers et al. (CCWS); Liu et al. (BAWS), section 2.2",
        .counters = HistoryCounterSpecs(),
    },
    [](const SchedulerContext& context, const Parameters&) { return std::make_unique<GreedyThenOldest>(context); });

}  // namespace
}  // namespace heddle::replay
