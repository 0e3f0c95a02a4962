// SWL: static wavefront limiting.
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/policies/schedule/shared/history_scheduler.h"
#include "replay/seams/slot_queue.h"

namespace heddle::replay {
namespace {

// Only the oldest `limit` warps of the port may issue, so that fewer warps share the cache (Rogers et al., CCWS,
// section 5.2: the number is fixed before the kernel runs). Warps that wait at a barrier or are held back by the policy
// do not count, else the warps that they wait for might never run. Among those that may: GTO.
class StaticLimit final : public HistoryScheduler {
 public:
  StaticLimit(const SchedulerContext& context, const Parameters& parameters)
      : table_(context.table), limit_(static_cast<int>(parameters.Integer("limit"))), greedy_(context.table) {}

  SlotId Pick(const SlotSet& eligible) const override {
    SlotId oldest = kNoSlot;
    int counted = 0;
    // Warps that a policy has given less priority than the eligible ones have to wait for these.
    const uint8_t priority = table_.priority[eligible.First()];
    for (SlotId slot = by_age_.front(); slot != kNoSlot && counted < limit_; slot = by_age_.After(slot)) {
      // The slot may hold another warp by now, of another port even.
      if (known_[slot] != table_.formed[slot] || table_.priority[slot] < priority) continue;
      if (table_.state[slot] != SlotState::kOffered && table_.state[slot] != SlotState::kInFlight) continue;
      ++counted;
      if (!eligible.Contains(slot)) continue;
      if (greedy_.Is(slot)) return slot;
      if (oldest == kNoSlot) oldest = slot;
    }
    return oldest;
  }
  void Offered(SlotId slot) override {
    HistoryScheduler::Offered(slot);
    if (!by_age_.Contains(slot) || known_[slot] != table_.formed[slot]) {
      known_[slot] = table_.formed[slot];
      by_age_.InsertByKey(slot, known_);
    }
  }
  void Issued(SlotId slot) override {
    HistoryScheduler::Issued(slot);
    greedy_.Issued(slot);
  }
  void BlockRetired(BlockId /*block*/) override {
    for (SlotId slot = by_age_.front(); slot != kNoSlot;) {
      const SlotId next = by_age_.After(slot);
      if (table_.state[slot] == SlotState::kFree || known_[slot] != table_.formed[slot]) by_age_.Erase(slot);
      slot = next;
    }
  }

 private:
  const WarpTable& table_;
  const int limit_;
  GreedyWarp greedy_;
  SlotQueue by_age_;  // slots that have been offered; those that have ended are skipped
  std::vector<uint64_t> known_ = std::vector<uint64_t>(kMaxSlots, 0);  // age under which a slot is in the queue
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "swl",
        .summary = "Static wavefront limiting: GTO among the oldest warps, a fixed number of them",
        .source = "Rogers, O'Connor and Aamodt (CCWS), section 5.2",
        .traits = {.holds_back = true},
        .parameters = {{.name = "limit",
                        .default_value = "8",
                        .unit = "warps",
                        .minimum = 1,
                        .maximum = kMaxSlots,
                        .description = "warps of the port that may issue",
                        .source = "the paper takes the best number for each kernel; the default is our choice"}},
        .counters = HistoryCounterSpecs(),
    },
    [](const SchedulerContext& context, const Parameters& parameters) {
      return std::make_unique<StaticLimit>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
