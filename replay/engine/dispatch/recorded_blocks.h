// The recorded blocks of a launch, in the order in which they are dispatched.
#ifndef HEDDLE_REPLAY_ENGINE_DISPATCH_RECORDED_BLOCKS_H_
#define HEDDLE_REPLAY_ENGINE_DISPATCH_RECORDED_BLOCKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "replay/trace/thread_cursors.h"
#include "traces/format/read/reader.h"
#include "traces/format/read/recorded_clusters.h"

namespace heddle::replay {

// In ascending order of their numbers; with clusters of several blocks cluster by cluster, and there by rank.
class RecordedBlocks {
 public:
  RecordedBlocks(const trace::LaunchView& launch, trace::RecordedClusters clusters) : clusters_(std::move(clusters)) {
    for (uint32_t chunk = 0; chunk < launch.chunks.size(); ++chunk) {
      if (launch.chunks[chunk].part() != 0) continue;
      chunk_.push_back(chunk);
      first_.push_back(count_);
      count_ += launch.chunks[chunk].block_count();
    }
  }
  uint64_t count() const { return count_; }
  const trace::RecordedClusters& clusters() const { return clusters_; }
  // Where the block that is dispatched as number `turn`, from 0, stands among the recorded ones, in ascending order of
  // their numbers in the grid.
  uint64_t PlaceOf(uint64_t turn) const {
    const uint32_t blocks = clusters_.clusters().blocks();
    return blocks == 1 ? turn : clusters_.PositionOf(turn / blocks, static_cast<uint32_t>(turn % blocks));
  }
  // That block.
  RecordedBlock At(uint64_t turn) const {
    const uint64_t position = PlaceOf(turn);
    const size_t i = static_cast<size_t>(std::upper_bound(first_.begin(), first_.end(), position) - first_.begin()) - 1;
    return {chunk_[i], static_cast<uint32_t>(position - first_[i])};
  }

 private:
  const trace::RecordedClusters clusters_;
  std::vector<uint32_t> chunk_;
  std::vector<uint64_t> first_;  // position of the chunk's first block
  uint64_t count_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_DISPATCH_RECORDED_BLOCKS_H_
