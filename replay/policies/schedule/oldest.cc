// Oldest first.
#include <memory>

#include "replay/policies/schedule/shared/history_scheduler.h"

namespace heddle::replay {
namespace {

// GTO without the greed: the oldest warp that can issue, every time.
class OldestFirst final : public HistoryScheduler {
 public:
  explicit OldestFirst(const SchedulerContext& context) : table_(context.table) {}
  SlotId Pick(const SlotSet& eligible) const override { return OldestOf(eligible, table_); }

 private:
  const WarpTable& table_;
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "oldest",
        .summary = "The oldest warp that can issue",
        .source = "the second half of GTO (Rogers et al., CCWS)",
        .counters = HistoryCounterSpecs(),
    },
    [](const SchedulerContext& context, const Parameters&) { return std::make_unique<OldestFirst>(context); });

}  // namespace
}  // namespace heddle::replay
