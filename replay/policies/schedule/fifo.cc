// FIFO: first ready, first issued. The order of the worked examples.
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/policies/schedule/shared/issue_history.h"
#include "replay/seams/slot_queue.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {
namespace {

// The warp that has been ready for the longest time.
class FirstInFirstOut final : public WarpScheduler {
 public:
  SlotId Pick(const SlotSet& eligible) const override { return queue_.FirstIn(eligible); }
  void Offered(SlotId slot) override {
    history_.Offered(slot);
    queue_.PushBack(slot);
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
  SlotQueue queue_;
  IssueHistory history_;
  mutable std::array<uint64_t, kHistoryCounters> counters_{};
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "fifo",
        .summary = "First in, first out: the warp that became ready first",
        .source = "MIMD and the worked examples of the papers; Fung, section 6.6",
        .counters = HistoryCounterSpecs(),
    },
    [](const SchedulerContext&, const Parameters&) { return std::make_unique<FirstInFirstOut>(); });

}  // namespace
}  // namespace heddle::replay
