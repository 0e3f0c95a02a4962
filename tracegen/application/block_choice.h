// Which thread blocks of a launch are recorded.
#ifndef HEDDLE_TRACEGEN_APPLICATION_BLOCK_CHOICE_H_
#define HEDDLE_TRACEGEN_APPLICATION_BLOCK_CHOICE_H_

#include <cstdint>
#include <vector>

#include "proto/trace.pb.h"

namespace heddle::tracegen {

// Linear block indices [first, end).
struct BlockRange {
  uint64_t first = 0;
  uint64_t end = 0;
  bool operator==(const BlockRange&) const = default;
};

// `count` of `grid_blocks` blocks by a rule (FIRST, EVENLY_SPACED, or RANDOM with `seed`: every subset is equally
// likely), as ranges in ascending order. All of them if `count` is 0 or not below grid_blocks.
std::vector<BlockRange> ChooseBlocks(trace::v1::BlockSelection::Rule rule, uint64_t count, uint64_t seed,
                                     uint64_t grid_blocks);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_APPLICATION_BLOCK_CHOICE_H_
