// Loops over the lanes of a mask.
#ifndef HEDDLE_REPLAY_CORE_LANE_MASK_H_
#define HEDDLE_REPLAY_CORE_LANE_MASK_H_

#include <bit>

#include "replay/core/types.h"

namespace heddle::replay {

// Calls function(lane) for every lane of the mask, ascending.
template <typename Function>
void ForEachLane(LaneMask mask, Function function) {
  for (; mask != 0; mask &= mask - 1) function(std::countr_zero(mask));
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_LANE_MASK_H_
