// Sets of the threads of a block, as the masks of block-wide structures hold them.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_THREAD_SET_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_THREAD_SET_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// One bit per thread of a block: static warp w, lane l is thread w * warp size + l of the block.
class ThreadSet {
 public:
  // Empty, for a block of so many static warps. Keeps its memory.
  void Reset(size_t static_warps) {
    static_warps_.assign(static_warps, 0);
    count_ = 0;
  }
  void Insert(size_t static_warp, LaneMask lanes) {
    count_ += static_cast<uint32_t>(std::popcount(lanes & ~static_warps_[static_warp]));
    static_warps_[static_warp] |= lanes;
  }
  void Erase(size_t static_warp, LaneMask lanes) {
    count_ -= static_cast<uint32_t>(std::popcount(lanes & static_warps_[static_warp]));
    static_warps_[static_warp] &= ~lanes;
  }
  bool Intersects(const ThreadSet& other) const {
    for (size_t static_warp = 0; static_warp < static_warps_.size(); ++static_warp) {
      if ((static_warps_[static_warp] & other.static_warps_[static_warp]) != 0) return true;
    }
    return false;
  }
  void swap(ThreadSet& other) noexcept {
    static_warps_.swap(other.static_warps_);
    std::swap(count_, other.count_);
  }

  LaneMask operator[](size_t static_warp) const { return static_warps_[static_warp]; }
  size_t static_warps() const { return static_warps_.size(); }
  uint32_t count() const { return count_; }
  bool empty() const { return count_ == 0; }

 private:
  std::vector<LaneMask> static_warps_;
  uint32_t count_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_THREAD_SET_H_
