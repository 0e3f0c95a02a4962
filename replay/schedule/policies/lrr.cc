// LRR: loose round-robin.
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/schedule/issue_history.h"
#include "replay/schedule/warp_scheduler.h"

namespace heddle::replay {
namespace {

// Slots ascending from the one after the last issue, wrapping round. "Loose": a warp that cannot issue is passed over
// and does not hold up the turn; a cycle without an issue leaves the turn where it was.
class LooseRoundRobin final : public WarpScheduler {
 public:
  SlotId Pick(const SlotSet& eligible) const override { return eligible.FirstCyclic(uint32_t{history_.last()} + 1); }
  void Offered(SlotId slot) override { history_.Offered(slot); }
  void Issued(SlotId slot) override { history_.Issued(slot); }

  std::span<const uint64_t> counters() const override {
    HistoryCounters(history_, counters_.data());
    return counters_;
  }

 private:
  IssueHistory history_;
  mutable std::array<uint64_t, kHistoryCounters> counters_{};
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
