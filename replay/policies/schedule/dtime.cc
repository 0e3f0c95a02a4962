// DTime: DWF's oldest warp first (Fung, section 4.3).
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/policies/schedule/shared/issue_history.h"
#include "replay/policies/schedule/shared/pool_scheduler.h"
#include "replay/seams/slot_queue.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {
namespace {

// A warp of the pool is as old as its pool entry, whoever joined it since.
class OldestWarpFirst final : public WarpScheduler {
 public:
  explicit OldestWarpFirst(const SchedulerContext& context) : table_(context.table) {}

  SlotId Pick(const SlotSet& eligible) const override { return queue_.FirstIn(eligible); }
  void Offered(SlotId slot) override {
    history_.Offered(slot);
    queue_.InsertByKey(slot, table_.formed);
  }
  void Withdrawn(SlotId slot) override { queue_.Erase(slot); }
  void Issued(SlotId slot) override {
    history_.Issued(slot);
    queue_.Erase(slot);
  }

  std::span<const uint64_t> counters() const override {
    HistoryCounters(history_, counters_.data());
    return counters_;
  }

 private:
  const WarpTable& table_;
  SlotQueue queue_;
  IssueHistory history_;
  mutable std::array<uint64_t, kHistoryCounters> counters_{};
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "dtime",
        .summary = "DWF: the warp that entered the pool first",
        .source = "Fung, section 4.3",
        .traits = {.needs_regrouping = kNeedsPoolReason},
        .counters = HistoryCounterSpecs(),
    },
    [](const SchedulerContext& context, const Parameters&) { return std::make_unique<OldestWarpFirst>(context); });

}  // namespace
}  // namespace heddle::replay
