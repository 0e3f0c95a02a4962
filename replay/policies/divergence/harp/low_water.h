// For how long a HARP scheduler has had few ready warps.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_LOW_WATER_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_LOW_WATER_H_

#include "replay/policies/divergence/harp/harp_counters.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Counts the cycles of which it is told that they are low.
class LowWater {
 public:
  explicit LowWater(HarpCounters& counters) : counters_(counters) {}

  // From cycle `now` on the scheduler is low, or not. To be told after every change.
  void Set(bool low, Cycle now) {
    if (low == low_) return;
    if (low_) counters_.Count(kLowCycles, now - since_);
    low_ = low;
    since_ = now;
  }

 private:
  HarpCounters& counters_;
  bool low_ = false;
  Cycle since_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_LOW_WATER_H_
