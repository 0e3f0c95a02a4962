// What dynamic warp formation counts.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_DWF_COUNTERS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_DWF_COUNTERS_H_

#include <cstdint>

#include "replay/policies/divergence/shared/counter_values.h"

namespace heddle::replay {

// The histogram of the pool's occupancy: classes of so many warps, the last one open above.
inline constexpr int kPoolClasses = 9;
inline constexpr uint64_t kPoolClass = 16;

// In the order of their declaration in policies/divergence/dwf.cc.
enum DwfCounter {
  kWarpsFormed,
  kMerges,
  kThreadsMerged,
  kConflictSplits,
  kMaxPool,
  kMaxDistinctPcs,
  kSpills,
  kMaxSpilled,
  kTableEvictions,
  kLostMerges,
  kLongestInPool,
  kPoolCycles,  // the first class of the histogram
  kDwfCounters = kPoolCycles + kPoolClasses
};

using DwfCounters = CounterValues<DwfCounter, kDwfCounters>;

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_DWF_COUNTERS_H_
