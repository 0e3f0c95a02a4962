// The frame of the schedulers that work with any warps: statistics of how the turn passes, and the order of age.
#ifndef HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_HISTORY_SCHEDULER_H_
#define HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_HISTORY_SCHEDULER_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "replay/policies/schedule/shared/issue_history.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {

// Keeps the issue history. A scheduler that overrides Offered or Issued calls these as well.
class HistoryScheduler : public WarpScheduler {
 public:
  void Offered(SlotId slot) override { history_.Offered(slot); }
  void Issued(SlotId slot) override { history_.Issued(slot); }

  // The history's counters, then the scheduler's own.
  std::span<const uint64_t> counters() const final {
    HistoryCounters(history_, counters_.data());
    return counters_;
  }

 protected:
  explicit HistoryScheduler(size_t own_counters = 0) : counters_(kHistoryCounters + own_counters) {}
  const IssueHistory& history() const { return history_; }
  // What a scheduler that overrides OfferedInOrder or IssuedInOrder calls there.
  void RecordOffered(std::span<const SlotId> slots) { history_.OfferedInOrder(slots); }
  void RecordIssued(std::span<const SlotId> slots) { history_.IssuedInOrder(slots); }
  uint64_t& own_counter(size_t index) { return counters_[kHistoryCounters + index]; }

 private:
  IssueHistory history_;
  mutable std::vector<uint64_t> counters_;
};

// Declarations of the counters of a HistoryScheduler with counters of its own.
inline std::vector<CounterSpec> HistoryCounterSpecsAnd(std::vector<CounterSpec> own) {
  std::vector<CounterSpec> specs = HistoryCounterSpecs();
  for (CounterSpec& spec : own) specs.push_back(std::move(spec));
  return specs;
}

// The oldest slot of a set that is not empty, by order of formation on the SM: the blocks' order of dispatch, then the
// warps' order in their block; warps that split off later are younger.
inline SlotId OldestOf(const SlotSet& slots, const WarpTable& table) {
  SlotId oldest = table.ages.OldestIn(slots);
  if (oldest != kNoSlot) return oldest;
  // A table that no formation keeps, as tests make them.
  uint64_t least = ~uint64_t{0};
  slots.ForEach([&](SlotId slot) {
    if (table.formed[slot] < least) {
      least = table.formed[slot];
      oldest = slot;
    }
  });
  return oldest;
}

// The warp that issued last, as long as it is the same warp: a slot whose warp has ended, or that was formed anew, is
// not greedy any more.
class GreedyWarp {
 public:
  explicit GreedyWarp(const WarpTable& table) : table_(table) {}
  void Issued(SlotId slot) {
    slot_ = slot;
    formed_ = table_.formed[slot];
  }
  // kNoSlot if there is none or it is not in the set.
  SlotId In(const SlotSet& slots) const {
    return slot_ != kNoSlot && slots.Contains(slot_) && table_.formed[slot_] == formed_ ? slot_ : kNoSlot;
  }
  bool Is(SlotId slot) const { return slot == slot_ && table_.formed[slot] == formed_; }

 private:
  const WarpTable& table_;
  SlotId slot_ = kNoSlot;
  uint64_t formed_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_HISTORY_SCHEDULER_H_
