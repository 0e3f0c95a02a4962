// Threads in warps of four lanes, for tests of the formation.
#ifndef HEDDLE_TESTS_REPLAY_WARPS_FOUR_LANES_H_
#define HEDDLE_TESTS_REPLAY_WARPS_FOUR_LANES_H_

#include <vector>

#include "replay/seams/types.h"
#include "replay/seams/warp_table.h"

namespace heddle::replay {

inline constexpr Position kEntry(0, 0);

// The threads, each in its home lane.
inline Lanes Home(const std::vector<ThreadId>& threads) {
  Lanes lanes;
  for (const ThreadId thread : threads) {
    lanes.mask |= LaneMask{1} << (thread % 4);
    lanes.thread[thread % 4] = thread;
  }
  return lanes;
}

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_WARPS_FOUR_LANES_H_
