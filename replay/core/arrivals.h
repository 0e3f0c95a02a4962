// Blocks and warps on their way into an SM.
#ifndef HEDDLE_REPLAY_CORE_ARRIVALS_H_
#define HEDDLE_REPLAY_CORE_ARRIVALS_H_

#include <cstdint>
#include <optional>

#include "replay/trace/thread_cursors.h"

namespace heddle::replay {

// A thread block on its way in.
struct BlockArrival {
  uint64_t position = 0;      // among the recorded blocks of the launch, in the order of dispatch
  uint64_t place = 0;         // among them, in ascending order of their numbers in the grid
  uint64_t linear_index = 0;  // in the grid
  RecordedBlock recorded;
  std::optional<uint32_t> place_on_sm = {};  // a free one; without it the lowest free one
};

// A warp of a thread block on its way in, from a dispatcher that gives single warps.
struct WarpArrival {
  BlockArrival block;         // enters with the first of its warps that does
  uint32_t warp = 0;          // of the block: which static warp
  uint32_t hw_warp = 0;       // of the SM: the free hardware warp that takes it
  uint32_t instructions = 0;  // that the warp issues before those of the trace
  // The block is what virtual thread block `place` of the SM runs in this iteration, from 0. Its warps are the same as
  // in the iteration before, with the same age on the same port; and as long as the block of that iteration has
  // threads, they may not touch shared memory.
  struct Virtual {
    uint32_t place = 0;
    uint64_t iteration = 0;
  };
  std::optional<Virtual> virtual_block;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_ARRIVALS_H_
