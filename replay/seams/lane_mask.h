// Loops over the lanes of a mask, and over the threads in them.
#ifndef HEDDLE_REPLAY_SEAMS_LANE_MASK_H_
#define HEDDLE_REPLAY_SEAMS_LANE_MASK_H_

#include <bit>
#include <cstdint>

#include "replay/seams/types.h"

namespace heddle::replay {

// Calls function(lane) for every lane of the mask, ascending.
template <typename Function>
void ForEachLane(LaneMask mask, Function function) {
  for (; mask != 0; mask &= mask - 1) function(std::countr_zero(mask));
}

// Whether the threads are thread[0], thread[0] + 1 and so on. The loop has no exit and numbers of one width, so that it
// runs over several of them at a time.
inline bool FollowOneAnother(const ThreadId* thread, uint32_t count) {
  ThreadId different = 0;
  const auto end = static_cast<ThreadId>(count);
  for (ThreadId i = 0; i < end; ++i) different |= static_cast<ThreadId>(thread[i] - thread[0] - i);
  return different == 0;
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_LANE_MASK_H_
