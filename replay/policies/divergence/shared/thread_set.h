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

// One bit per thread of a block: row r, lane l is thread r * warp size + l of the block.
class ThreadSet {
 public:
  // Empty, for a block of `rows` rows of warp-size threads. Keeps its memory.
  void Reset(size_t rows) {
    rows_.assign(rows, 0);
    count_ = 0;
  }
  void Insert(size_t row, LaneMask lanes) {
    count_ += static_cast<uint32_t>(std::popcount(lanes & ~rows_[row]));
    rows_[row] |= lanes;
  }
  void Erase(size_t row, LaneMask lanes) {
    count_ -= static_cast<uint32_t>(std::popcount(lanes & rows_[row]));
    rows_[row] &= ~lanes;
  }
  bool Intersects(const ThreadSet& other) const {
    for (size_t row = 0; row < rows_.size(); ++row) {
      if ((rows_[row] & other.rows_[row]) != 0) return true;
    }
    return false;
  }
  void swap(ThreadSet& other) {
    rows_.swap(other.rows_);
    std::swap(count_, other.count_);
  }

  LaneMask operator[](size_t row) const { return rows_[row]; }
  size_t rows() const { return rows_.size(); }
  uint32_t count() const { return count_; }
  bool empty() const { return count_ == 0; }

 private:
  std::vector<LaneMask> rows_;
  uint32_t count_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_THREAD_SET_H_
