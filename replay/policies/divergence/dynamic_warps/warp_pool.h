// The warp pool of dynamic warp formation.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_WARP_POOL_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_WARP_POOL_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "replay/policies/divergence/dynamic_warps/dwf_counters.h"
#include "replay/seams/slot_queue.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// The warps of an SM that wait to be issued (Fung, section 4.2), with or without a limit (Table 7.1). A
// warp that finds the pool full waits beside it, as it is, until a warp has left. (The thesis leaves spilling to future
// work. That the warp comes back at once, and is filled no more, is ours.)
//
// Counts how full the pool is: Fung, Figures 6.2 and 6.10.
class WarpPool {
 public:
  // `entries` 0: no limit. `instructions`: of the program.
  WarpPool(uint64_t entries, uint32_t instructions, DwfCounters& counters)
      : entries_(entries), counters_(counters), entered_(kMaxSlots, kNever), at_pc_(instructions, 0) {}

  bool full() const { return entries_ != 0 && size_ >= entries_; }
  uint64_t size() const { return size_; }
  bool Contains(SlotId slot) const { return entered_[slot] != kNever; }

  // A warp whose threads are at `pc` enters the pool.
  void Enter(SlotId slot, Pc pc, Cycle now) {
    entered_[slot] = now;
    CountCycles(now);
    counters_.Raise(kMaxPool, ++size_);
    if (at_pc_[pc]++ == 0) counters_.Raise(kMaxDistinctPcs, ++distinct_pcs_);
  }
  // A warp of the pool is issued.
  void Leave(SlotId slot, Pc pc, Cycle now) {
    CountCycles(now);
    --size_;
    counters_.Raise(kLongestInPool, now - entered_[slot]);
    entered_[slot] = kNever;
    if (--at_pc_[pc] == 0) --distinct_pcs_;
  }

  // A warp that found the pool full waits beside it.
  void Spill(SlotId slot) {
    counters_.Count(kSpills);
    spilled_.PushBack(slot);
    counters_.Raise(kMaxSpilled, ++spilled_count_);
  }
  // The warp that has waited longest beside the pool, and does so no more; kNoSlot if there is none.
  SlotId TakeSpilled() {
    const SlotId slot = spilled_.front();
    if (slot == kNoSlot) return kNoSlot;
    spilled_.Erase(slot);
    --spilled_count_;
    return slot;
  }

 private:
  // Credits the cycles since the last change of the pool's occupancy.
  void CountCycles(Cycle now) {
    const uint64_t place = std::min<uint64_t>(size_ / kPoolClass, kPoolClasses - 1);
    counters_.Count(static_cast<DwfCounter>(kPoolCycles + place), now - counted_);
    counted_ = now;
  }

  const uint64_t entries_;
  DwfCounters& counters_;
  std::vector<Cycle> entered_;   // by slot: when it entered the pool; kNever: it is not there
  std::vector<uint32_t> at_pc_;  // by PC: warps in the pool
  uint64_t size_ = 0;
  uint64_t distinct_pcs_ = 0;
  Cycle counted_ = 0;  // the histogram has the cycles before this one
  SlotQueue spilled_;  // parked warps that found the pool full
  uint64_t spilled_count_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_WARP_POOL_H_
