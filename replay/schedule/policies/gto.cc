// GTO: greedy-then-oldest.
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/schedule/issue_history.h"
#include "replay/schedule/warp_scheduler.h"

namespace heddle::replay {
namespace {

// The warp that issued last goes on if it can; otherwise the oldest that can, by order of formation on the SM: the
// blocks' order of dispatch, then the warps' order in their block. A greedy warp that stalls stays greedy until another
// one issues. A slot whose warp has ended, or that has been formed anew, is not greedy any more.
class GreedyThenOldest final : public WarpScheduler {
 public:
  explicit GreedyThenOldest(const SchedulerContext& context) : table_(context.table) {}

  SlotId Pick(const SlotSet& eligible) const override {
    if (greedy_ != kNoSlot && eligible.Contains(greedy_) && table_.formed[greedy_] == greedy_formed_) return greedy_;
    SlotId oldest = kNoSlot;
    uint64_t least = ~uint64_t{0};
    eligible.ForEach([&](SlotId slot) {
      if (table_.formed[slot] < least) {
        least = table_.formed[slot];
        oldest = slot;
      }
    });
    return oldest;
  }

  void Offered(SlotId slot) override { history_.Offered(slot); }
  void Issued(SlotId slot) override {
    history_.Issued(slot);
    greedy_ = slot;
    greedy_formed_ = table_.formed[slot];
  }

  std::span<const uint64_t> counters() const override {
    HistoryCounters(history_, counters_.data());
    return counters_;
  }

 private:
  const WarpTable& table_;
  SlotId greedy_ = kNoSlot;
  uint64_t greedy_formed_ = 0;
  IssueHistory history_;
  mutable std::array<uint64_t, kHistoryCounters> counters_{};
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
