// Slots that wait for asynchronous copies, or for a phase of a transaction barrier.
#ifndef HEDDLE_REPLAY_CORE_PENDING_WAITING_SLOTS_H_
#define HEDDLE_REPLAY_CORE_PENDING_WAITING_SLOTS_H_

#include <algorithm>
#include <deque>
#include <span>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// A slot waits until it is asked and its wait is over. Then it goes on, at once or after some cycles.
class WaitingSlots {
 public:
  void Add(SlotId slot) { waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), slot), slot); }
  bool any_waiting() const { return !waiting_.empty(); }

  // --- in a cycle, in this order
  void BeginCycle() { released_.clear(); }
  // Asks every slot that waits whether its wait is over. Those whose is go on so many cycles later as the second says.
  template <typename IsOver, typename CyclesToWake>
  void EndWaits(Cycle now, const IsOver& is_over, const CyclesToWake& cycles_to_wake) {
    std::erase_if(waiting_, [&](SlotId slot) {
      if (!is_over(slot)) return false;
      if (const Cycle cycles = cycles_to_wake(slot); cycles != 0) {
        waking_.push_back({now + cycles, slot});
      } else {
        released_.push_back(slot);
      }
      return true;
    });
  }
  // Those whose time has come go on.
  void Release(Cycle now) {
    for (; !waking_.empty() && waking_.front().due <= now; waking_.pop_front()) {
      released_.push_back(waking_.front().slot);
    }
    std::sort(released_.begin(), released_.end());
  }
  // Who goes on in the cycle, ascending.
  std::span<const SlotId> released() const { return released_; }

  // When the next slot goes on of those whose wait is over; kNever if there is none.
  Cycle NextRelease() const { return waking_.empty() ? kNever : waking_.front().due; }

 private:
  struct Waking {
    Cycle due = 0;
    SlotId slot = kNoSlot;
  };
  std::vector<SlotId> waiting_;  // ascending
  std::deque<Waking> waking_;    // by time: all take the same number of cycles
  std::vector<SlotId> released_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_PENDING_WAITING_SLOTS_H_
