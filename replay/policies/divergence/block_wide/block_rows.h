// Where the threads of each block are among the hardware threads of an SM.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_ROWS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_ROWS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/seams/lane_mask.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// A block has neighbouring rows of warp-size hardware threads. Rows are counted from the block's first one.
class BlockRows {
 public:
  BlockRows(int warp_size, int max_threads, int max_blocks)
      : warp_size_(static_cast<uint32_t>(warp_size)),
        row_of_(static_cast<size_t>(max_threads)),
        blocks_(static_cast<size_t>(max_blocks)) {
    for (size_t thread = 0; thread < row_of_.size(); ++thread) {
      row_of_[thread] = static_cast<uint32_t>(thread / warp_size_);
    }
  }

  // The block has `rows` rows from that hardware thread on.
  void Set(BlockId block, ThreadId first_thread, uint32_t rows) { blocks_[block] = {row_of_[first_thread], rows}; }

  uint32_t warp_size() const { return warp_size_; }
  size_t blocks() const { return blocks_.size(); }  // at most
  uint32_t rows(BlockId block) const { return blocks_[block].rows; }
  ThreadId ThreadAt(BlockId block, size_t row, size_t lane) const {
    return static_cast<ThreadId>((blocks_[block].first + row) * warp_size_ + lane);
  }

  // Calls function(row, lanes) for the rows that the threads in `mask` come from. Most warps are of one row.
  template <typename Function>
  void ForEachRow(BlockId block, const Lanes& lanes, LaneMask mask, Function function) const {
    const uint32_t first = blocks_[block].first;
    while (mask != 0) {
      const uint32_t row = row_of_[lanes.thread[static_cast<size_t>(std::countr_zero(mask))]];
      LaneMask same = 0;
      ForEachLane(mask, [&](int lane) {
        same |= static_cast<LaneMask>(row_of_[lanes.thread[static_cast<size_t>(lane)]] == row) << lane;
      });
      function(row - first, same);
      mask &= ~same;
    }
  }

 private:
  struct Block {
    uint32_t first = 0;  // row of the SM
    uint32_t rows = 0;
  };

  uint32_t warp_size_;
  std::vector<uint32_t> row_of_;  // by hardware thread: dividing shows in the profile
  std::vector<Block> blocks_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_ROWS_H_
