// DWF's majority scheduling as the hardware does it: with a max-heap that takes time and may be full.
#ifndef HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_HARDWARE_MAJORITY_H_
#define HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_HARDWARE_MAJORITY_H_

#include <algorithm>
#include <cstdint>

#include "replay/policies/schedule/shared/issue_history.h"
#include "replay/policies/schedule/shared/majority_heap.h"
#include "replay/seams/slot_queue.h"
#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {

// The warps of the Majority Entry issue until it is empty; then the root of the heap becomes the Majority Entry (Fung,
// section 4.4). A swap in the heap takes two reads and two writes of its ports; no warp is taken from the heap before
// it is in order again. Warps that a barrier has released bypass all of it, as in PoolScheduler.
class HardwareMajority {
 public:
  struct Setup {
    MajorityHeap::Setup heap;
    uint32_t ports = 2;  // read and write ports of heap and table, each; 0 = swaps take no time
    bool count_warps = false;
  };
  struct Statistics {
    uint64_t elections = 0;
    uint64_t max_heap = 0;  // groups
    uint64_t swaps = 0;
    uint64_t stall_cycles = 0;  // in which a warp could have issued, had the heap been in order
    uint64_t full_waits = 0;    // warps that waited outside a full heap
  };

  HardwareMajority(const Setup& setup, const WarpTable& table, const Cycle* clock)
      : setup_(setup), table_(table), clock_(clock), heap_(setup.heap) {}

  SlotId Pick(const SlotSet& eligible) const {
    if (const SlotId slot = bypass_.FirstIn(eligible); slot != kNoSlot) return slot;
    if (majority_ != MajorityHeap::kNone && heap_.has_warps(majority_)) return heap_.FirstIn(majority_, eligible);
    if (heap_.empty()) return kNoSlot;
    if (now() * setup_.ports < busy_until_) {
      if (stalled_ != now()) ++statistics_.stall_cycles;
      stalled_ = now();
      return kNoSlot;
    }
    return heap_.FirstIn(heap_.root(), eligible);
  }

  void Offered(SlotId slot) {
    if (table_.priority[slot] != 0) {
      bypass_.InsertByKey(slot, table_.formed);
    } else {
      Enter(slot);
    }
  }
  void Grown(SlotId slot) {
    if (!setup_.count_warps) Balance(heap_.Resize(slot, WeightOf(slot)));
  }
  void Left(SlotId slot) {
    bypass_.Erase(slot);
    waiting_.Erase(slot);
    Balance(heap_.Remove(slot));
    Admit();
  }
  void Issued(SlotId slot) {
    const MajorityHeap::GroupId group = heap_.group_of(slot);
    if (group != MajorityHeap::kNone && group != majority_) {  // the root when it was picked
      Balance(heap_.Pop(group));
      if (majority_ != MajorityHeap::kNone) {
        if (heap_.has_warps(majority_)) {  // they came between the choice and the issue
          Balance(heap_.Return(majority_));
        } else {
          heap_.Release(majority_);
        }
      }
      majority_ = group;
      ++statistics_.elections;
    }
    Left(slot);
  }

  Statistics statistics() const { return statistics_; }
  const MajorityHeap& heap() const { return heap_; }

 private:
  Cycle now() const { return clock_ == nullptr ? 0 : *clock_; }
  uint32_t WeightOf(SlotId slot) const {
    return setup_.count_warps ? 1 : static_cast<uint32_t>(table_.thread_count(slot));
  }
  void Enter(SlotId slot) {
    const Position at = table_.position[slot];
    if (majority_ != MajorityHeap::kNone && heap_.at(majority_) == at) {
      heap_.Add(majority_, slot, WeightOf(slot));
      return;
    }
    if (const MajorityHeap::GroupId group = heap_.Find(at); group != MajorityHeap::kNone) {
      Balance(heap_.Add(group, slot, WeightOf(slot)));
    } else if (heap_.full()) {
      ++statistics_.full_waits;
      waiting_.PushBack(slot);
    } else {
      Balance(heap_.Insert(at, slot, WeightOf(slot), table_.offered_at[slot]));
      statistics_.max_heap = std::max<uint64_t>(statistics_.max_heap, heap_.size());
    }
  }
  // Warps that found the heap full enter as soon as there is room, the first first.
  void Admit() {
    while (!waiting_.empty() && !heap_.full()) {
      const SlotId slot = waiting_.front();
      waiting_.Erase(slot);
      Enter(slot);
    }
  }
  void Balance(uint32_t swaps) {
    statistics_.swaps += swaps;
    if (setup_.ports == 0) return;
    busy_until_ = std::max(busy_until_, now() * setup_.ports) + 2 * uint64_t{swaps};
  }

  const Setup setup_;
  const WarpTable& table_;
  const Cycle* const clock_;
  MajorityHeap heap_;
  // The Majority Entry. It keeps its PC when it has run out of warps, until the root takes its place.
  MajorityHeap::GroupId majority_ = MajorityHeap::kNone;
  SlotQueue bypass_;
  SlotQueue waiting_;  // outside a full heap
  // Accesses that the heap needs time for, counted from cycle 0 with one per port and cycle: in order when it has had
  // it.
  uint64_t busy_until_ = 0;
  mutable Cycle stalled_ = kNever;  // the cycle that was counted last
  mutable Statistics statistics_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_HARDWARE_MAJORITY_H_
