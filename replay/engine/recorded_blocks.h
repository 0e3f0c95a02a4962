// Blocks of a launch by their position among the recorded ones.
#ifndef HEDDLE_REPLAY_ENGINE_RECORDED_BLOCKS_H_
#define HEDDLE_REPLAY_ENGINE_RECORDED_BLOCKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/core/sm_core.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

class RecordedBlocks {
 public:
  explicit RecordedBlocks(const trace::LaunchView& launch) {
    for (uint32_t chunk = 0; chunk < launch.chunks.size(); ++chunk) {
      if (launch.chunks[chunk].part() != 0) continue;
      chunk_.push_back(chunk);
      first_.push_back(count_);
      count_ += launch.chunks[chunk].block_count();
    }
  }
  uint64_t count() const { return count_; }
  RecordedBlock At(uint64_t position) const {
    const size_t i = static_cast<size_t>(std::upper_bound(first_.begin(), first_.end(), position) - first_.begin()) - 1;
    return {chunk_[i], static_cast<uint32_t>(position - first_[i])};
  }

 private:
  std::vector<uint32_t> chunk_;
  std::vector<uint64_t> first_;  // position of the chunk's first block
  uint64_t count_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_RECORDED_BLOCKS_H_
