// Which thread blocks of a launch are recorded.
#ifndef HEDDLE_TRACEGEN_APPLICATION_BLOCK_CHOICE_H_
#define HEDDLE_TRACEGEN_APPLICATION_BLOCK_CHOICE_H_

#include <cstdint>
#include <vector>

#include "proto/trace.pb.h"
#include "traces/format/program/clusters.h"

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

// Thread blocks that the device which programs see, a Tesla V100, holds at once: 80 multiprocessors, each with 2,048
// threads, 32 blocks, 65,536 registers, given to warps in units of 256, and 96 KiB of shared memory (CUDA C++
// Programming Guide, technical specifications of capability 7.0). At least one per multiprocessor.
uint64_t WaveBlocks(uint32_t block_threads, uint32_t registers_per_thread, uint32_t shared_bytes);

// As many whole waves of `wave_blocks` as `count` blocks have room for, which is at least one, evenly spaced over the
// whole waves of the grid, the first included. All blocks if `count` is 0 or not below grid_blocks.
std::vector<BlockRange> ChooseWaves(uint64_t count, uint64_t wave_blocks, uint64_t grid_blocks);

// The blocks of all clusters of which some are chosen: blocks of a cluster only run together.
std::vector<BlockRange> WholeClusters(const std::vector<BlockRange>& chosen, const trace::Clusters& clusters);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_APPLICATION_BLOCK_CHOICE_H_
