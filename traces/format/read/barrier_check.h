// Checks that the threads of a block meet at its barriers.
#ifndef HEDDLE_TRACES_FORMAT_READ_BARRIER_CHECK_H_
#define HEDDLE_TRACES_FORMAT_READ_BARRIER_CHECK_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/program/program.h"
#include "traces/format/read/findings.h"
#include "traces/format/read/thread_place.h"

namespace heddle::trace {

// All threads of a block run each barrier equally often. A barrier for some of the threads says nothing about the
// others and is left out.
class BarrierCheck {
 public:
  BarrierCheck(const Program& program, Findings& findings);

  // A chunk begins, whose paths are visited next.
  void StartChunk(const DecodedChunk& chunk);
  // A path of the chunk enters a block.
  void Visit(size_t path, uint32_t block) {
    if (!has_barrier_[block]) return;
    auto it = std::lower_bound(barriers_of_block_.begin(), barriers_of_block_.end(), std::pair(block, uint32_t{0}));
    for (; it != barriers_of_block_.end() && it->first == block; ++it) ++of_path_[path][it->second];
  }
  // All paths of the chunk at `place` have been visited.
  void EndChunk(const ThreadPlace& place);

 private:
  static constexpr uint32_t kBarriers = 16;
  using Counts = std::array<uint32_t, kBarriers>;

  Findings& findings_;
  std::vector<std::pair<uint32_t, uint32_t>> barriers_of_block_;  // (block, barrier id), sorted
  std::vector<bool> has_barrier_;                                 // by block
  std::vector<Counts> of_path_;
  std::vector<Counts> of_cut_thread_;  // of the block that is cut in time, so far
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_BARRIER_CHECK_H_
