// What HARP counts.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_COUNTERS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_COUNTERS_H_

#include "replay/policies/divergence/shared/counter_values.h"

namespace heddle::replay {

// In the order of their declaration in policies/divergence/harp.cc.
enum HarpCounter {
  kDivergences,
  kReadyMerges,
  kReadyThreadsMerged,
  kReadyBypasses,
  kWaitingMerges,
  kWaitingThreadsMerged,
  kWaitingBypasses,
  kBarriersReserved,
  kBarrierMisses,
  kWarpsRevived,
  kMaxBarriers,
  kMaxFirstLevel,
  kMaxSecondLevel,
  kMaxReadyLookup,
  kMaxWaitingLookup,
  kSecondLevelOverflows,
  kLowCycles,
  kHarpCounters
};

using HarpCounters = CounterValues<HarpCounter, kHarpCounters>;

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_COUNTERS_H_
