// Things with a number, which are used again and again.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_RECYCLING_POOL_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_RECYCLING_POOL_H_

#include <cstdint>
#include <deque>
#include <vector>

namespace heddle::replay {

// References stay good while it grows. What was in a thing that is taken again is still there, so that its vectors keep
// their memory: whoever takes it sets it anew.
template <typename Thing>
class RecyclingPool {
 public:
  // The number of a thing that nobody has: the one that was freed last, else a new one.
  uint32_t Take() {
    if (free_.empty()) {
      things_.emplace_back();
      return static_cast<uint32_t>(things_.size() - 1);
    }
    const uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  void Free(uint32_t number) { free_.push_back(number); }

  Thing& operator[](uint32_t number) { return things_[number]; }
  const Thing& operator[](uint32_t number) const { return things_[number]; }

 private:
  std::deque<Thing> things_;
  std::vector<uint32_t> free_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_RECYCLING_POOL_H_
