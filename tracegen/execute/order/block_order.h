// Orders of blocks and threads other than the usual, ascending one.
#ifndef HEDDLE_TRACEGEN_EXECUTE_ORDER_BLOCK_ORDER_H_
#define HEDDLE_TRACEGEN_EXECUTE_ORDER_BLOCK_ORDER_H_

#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "traces/base/random.h"

namespace heddle::tracegen {

// A permutation of the blocks [first, end): the affine map i -> a * i + b modulo their number, with a drawn from the
// numbers that have no factor in common with it. Takes no memory, however large the grid.
class BlockOrder {
 public:
  // Without a seed blocks are in ascending order.
  BlockOrder(uint64_t first, uint64_t end, std::optional<uint64_t> seed) : first_(first), count_(end - first) {
    if (!seed.has_value() || count_ < 2) return;
    Random random(*seed);
    offset_ = random.Below(count_);
    do {
      factor_ = 1 + random.Below(count_ - 1);
    } while (std::gcd(factor_, count_) != 1);
  }

  // The block at place `at` of [first, end).
  uint64_t At(uint64_t at) const {
    if (count_ < 2) return at;
    const unsigned __int128 place = static_cast<unsigned __int128>(at - first_) * factor_ + offset_;
    return first_ + static_cast<uint64_t>(place % count_);
  }

 private:
  uint64_t first_;
  uint64_t count_;
  uint64_t factor_ = 1;
  uint64_t offset_ = 0;
};

// 0 to count - 1, shuffled (Fisher and Yates).
inline std::vector<uint32_t> RandomOrder(uint32_t count, Random& random) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  for (uint32_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  return order;
}

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_ORDER_BLOCK_ORDER_H_
