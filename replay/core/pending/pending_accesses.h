// Accesses of one SM that no slot makes by itself, while they are under way.
#ifndef HEDDLE_REPLAY_CORE_PENDING_PENDING_ACCESSES_H_
#define HEDDLE_REPLAY_CORE_PENDING_PENDING_ACCESSES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// Each has a number as long as it is under way. They wait for the memory stage, first in, first out, and end in cycles
// that are known before.
template <typename What>
class PendingAccesses {
 public:
  // One begins; its number. Numbers are given again.
  uint32_t Add(const What& what) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(places_.size()));
      places_.emplace_back();
    }
    const uint32_t number = free_.back();
    free_.pop_back();
    places_[number] = Place{.what = what};
    return number;
  }
  // It is over.
  void Remove(uint32_t number) { free_.push_back(number); }
  What& operator[](uint32_t number) { return places_[number].what; }
  const What& operator[](uint32_t number) const { return places_[number].what; }
  // How many are under way.
  size_t size() const { return places_.size() - free_.size(); }

  // --- the memory stage
  // It stands in line.
  void Queue(uint32_t number) { queued_.push_back(number); }
  bool any_queued() const { return !queued_.empty(); }
  // Who has waited longest leaves the line; there must be one.
  uint32_t TakeQueued() {
    const uint32_t number = queued_.front();
    queued_.pop_front();
    return number;
  }
  // It goes to the memory with these lanes.
  void Submitted(uint32_t number, LaneMask lanes) { places_[number].outstanding = lanes; }
  // Lanes of it are done in cycle `at`. Returns whether none is left.
  bool LanesDone(uint32_t number, LaneMask lanes, Cycle at) {
    places_[number].outstanding &= ~lanes;
    NotBefore(number, at);
    return IsDone(number);
  }
  bool IsDone(uint32_t number) const { return places_[number].outstanding == 0; }

  // --- ends
  // It does not end before this cycle, nor before its last lane is done.
  void NotBefore(uint32_t number, Cycle at) { places_[number].end = std::max(places_[number].end, at); }
  // Its end is known: so many cycles after the one before which it does not end.
  void End(uint32_t number, Cycle later = 0) {
    places_[number].end += later;
    ending_.push_back(number);
  }
  // Calls take(number) for those that have ended by cycle `now`, in the order in which their ends became known. They
  // may be queued anew.
  template <typename Take>
  void TakeEnded(Cycle now, Take take) {
    std::erase_if(ending_, [&](uint32_t number) {
      if (places_[number].end > now) return false;
      places_[number].end = 0;
      take(number);
      return true;
    });
  }
  // The next cycle after `now` in which one waits for the memory stage, or ends; kNever if there is none.
  Cycle NextWake(Cycle now) const {
    if (!queued_.empty()) return now + 1;
    Cycle wake = kNever;
    for (const uint32_t number : ending_) wake = std::min(wake, std::max(now + 1, places_[number].end));
    return wake;
  }

 private:
  struct Place {
    What what;
    LaneMask outstanding = 0;
    Cycle end = 0;  // not before this
  };

  std::deque<Place> places_;
  std::vector<uint32_t> free_;    // of the places
  std::deque<uint32_t> queued_;   // that wait for the memory stage
  std::vector<uint32_t> ending_;  // whose end is at a known time
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_PENDING_PENDING_ACCESSES_H_
