// How many blocks of a launch can be live at once, and what to say to a user whose blocks need more.
#ifndef HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LIVE_BLOCKS_H_
#define HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LIVE_BLOCKS_H_

#include <cstdint>
#include <string>

#include "tracegen/execute/launch/geometry.h"

namespace heddle::tracegen {

// Threads whose stacks, and stacks and local memories, the system's usual limit on mappings (65,530) leaves room for: a
// stack takes one, local memory two.
inline constexpr uint32_t kMaxLiveThreads = 48 << 10;
inline constexpr uint32_t kMaxLiveThreadsWithLocal = 20 << 10;

// Blocks of such a launch that are live at once if `wanted` are asked for.
uint32_t LiveBlocks(uint32_t wanted, const Geometry& geometry, bool uses_local);

// How a launch of which `live` blocks are live gets more of them, as the end of a sentence: "--resident-blocks 80 lets
// all of them live at once", or why that is impossible. `setting` is what the number is put behind. `all`: each block
// waits for every other one; else N is left to the user.
std::string LiveBlocksAdvice(const Geometry& geometry, bool uses_local, uint32_t live, const std::string& setting,
                             bool all);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LIVE_BLOCKS_H_
