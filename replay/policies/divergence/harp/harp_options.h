// HARP's parameters, as its parts read them.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_OPTIONS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_OPTIONS_H_

#include <cstddef>

#include "replay/policies/divergence/shared/reconvergence_barriers.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Named and described in policies/divergence/harp.cc.
struct HarpOptions {
  int first_level = 8;  // 0: one table for both levels
  int second_level = 512;
  bool spill = false;  // second_level_overflow
  size_t ready_lookup = 8;
  size_t waiting_lookup = 8;
  bool whole_warps = false;  // waiting_merge
  bool restamp = true;       // lookup_order
  int low_water = 2;
  bool count_first_level = false;  // low_water_counts; always with one table for both levels
  int lookups_per_cycle = 1;
  bool one_port = true;  // second_level_port
  Cycle lookup_delay = 1;
  Cycle barrier_delay = 0;
  Cycle first_level_delay = 0;
  Cycle barrier_latency = 1;
  ReconvergenceBarriers::Setup barriers;
};

// What the parameters say, for such an SM.
HarpOptions HarpOptionsOf(const DivergenceContext& context, const Parameters& parameters);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_OPTIONS_H_
