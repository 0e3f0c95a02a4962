// Timers that a divergence policy has started on one SM.
#ifndef HEDDLE_REPLAY_WARPS_POLICY_TIMERS_H_
#define HEDDLE_REPLAY_WARPS_POLICY_TIMERS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// They run out in order of time, then of start.
class PolicyTimers {
 public:
  void Start(Cycle at, uint64_t tag) {
    heap_.push_back({at, sequence_++, tag});
    std::push_heap(heap_.begin(), heap_.end(), Later);
  }
  // When the next one runs out; kNever if there is none.
  Cycle next() const { return heap_.empty() ? kNever : heap_.front().at; }
  // The tag of a timer that has run out by cycle `now`. False if there is none.
  bool Pop(Cycle now, uint64_t& tag) {
    if (next() > now || heap_.empty()) return false;
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    tag = heap_.back().tag;
    heap_.pop_back();
    return true;
  }

 private:
  struct Timer {
    Cycle at;
    uint64_t sequence;
    uint64_t tag;
  };
  static bool Later(const Timer& a, const Timer& b) { return a.at != b.at ? a.at > b.at : a.sequence > b.sequence; }

  std::vector<Timer> heap_;
  uint64_t sequence_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_WARPS_POLICY_TIMERS_H_
