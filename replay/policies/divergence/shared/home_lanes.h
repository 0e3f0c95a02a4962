// The lanes of a hardware warp.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_HOME_LANES_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_HOME_LANES_H_

#include <cstdint>

#include "replay/seams/types.h"

namespace heddle::replay {

// The threads of a hardware warp in their home lanes, of which `mask` are meant.
inline Lanes HomeLanes(uint32_t hw_warp, LaneMask mask, int warp_size) {
  Lanes lanes;
  lanes.mask = mask;
  const uint32_t first = hw_warp * static_cast<uint32_t>(warp_size);
  for (int lane = 0; lane < warp_size; ++lane) {
    lanes.thread[lane] = static_cast<ThreadId>(first + static_cast<uint32_t>(lane));
  }
  return lanes;
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_HOME_LANES_H_
