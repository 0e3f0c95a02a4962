// Where the threads of each block are among the hardware threads of an SM.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STATIC_WARPS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STATIC_WARPS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/seams/lane_mask.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// A block's threads are neighbouring hardware threads, `warp_size` of which are a static warp. Static warps are counted
// from the block's first one.
class BlockStaticWarps {
 public:
  BlockStaticWarps(int warp_size, int max_threads, int max_blocks)
      : warp_size_(static_cast<uint32_t>(warp_size)),
        hw_warp_of_(static_cast<size_t>(max_threads)),
        blocks_(static_cast<size_t>(max_blocks)) {
    for (size_t thread = 0; thread < hw_warp_of_.size(); ++thread) {
      hw_warp_of_[thread] = static_cast<uint32_t>(thread / warp_size_);
    }
  }

  // The block has `static_warps` static warps from that hardware thread on.
  void Set(BlockId block, ThreadId first_thread, uint32_t static_warps) {
    blocks_[block] = {hw_warp_of_[first_thread], static_warps};
  }

  uint32_t warp_size() const { return warp_size_; }
  size_t blocks() const { return blocks_.size(); }  // at most
  uint32_t static_warps(BlockId block) const { return blocks_[block].static_warps; }
  ThreadId ThreadAt(BlockId block, size_t static_warp, size_t lane) const {
    return static_cast<ThreadId>((blocks_[block].first + static_warp) * warp_size_ + lane);
  }

  // Calls function(static_warp, lanes) for the static warps that the threads in `mask` come from. Most warps are of
  // one.
  template <typename Function>
  void ForEachStaticWarp(BlockId block, const Lanes& lanes, LaneMask mask, Function function) const {
    const uint32_t first = blocks_[block].first;
    while (mask != 0) {
      const uint32_t hw_warp = hw_warp_of_[lanes.thread[static_cast<size_t>(std::countr_zero(mask))]];
      LaneMask same = 0;
      ForEachLane(mask, [&](int lane) {
        same |= static_cast<LaneMask>(hw_warp_of_[lanes.thread[static_cast<size_t>(lane)]] == hw_warp) << lane;
      });
      function(hw_warp - first, same);
      mask &= ~same;
    }
  }

 private:
  struct Block {
    uint32_t first = 0;  // hardware warp of the SM
    uint32_t static_warps = 0;
  };

  uint32_t warp_size_;
  std::vector<uint32_t> hw_warp_of_;  // by hardware thread: dividing shows in the profile
  std::vector<Block> blocks_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STATIC_WARPS_H_
