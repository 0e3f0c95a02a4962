// Block-wide stacks for people.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACK_TEXT_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACK_TEXT_H_

#include <string>

#include "replay/policies/divergence/block_wide/block_stacks.h"

namespace heddle::replay {

// The stacks of the first few blocks that have diverged or synchronise, bottom to top, as (next PC, reconvergence PC,
// threads, WCnt). Paths that are being staged follow their entry as +(...), then the update mask, one bit per warp, 0 =
// bypassed. Threads are one digit each, a hardware warp after the other.
std::string BlockStackText(const BlockStacks& stacks);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACK_TEXT_H_
