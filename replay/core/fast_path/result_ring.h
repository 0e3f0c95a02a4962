// Results to come, by cycle, for the fast path.
#ifndef HEDDLE_REPLAY_CORE_FAST_PATH_RESULT_RING_H_
#define HEDDLE_REPLAY_CORE_FAST_PATH_RESULT_RING_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// A list for each of a power of two of cycles, with room for so many results each; both grow when they have to. Simpler
// than EventWheel, since nothing is ever beyond its horizon.
class ResultRing {
 public:
  struct Result {
    Pc pc = 0;
    uint16_t slot = 0;
    bool branch = false;
  };

  explicit ResultRing(uint32_t horizon) { Grow(/*now=*/0, std::bit_ceil(horizon), room_); }

  // The last cycle, from `now` on, that there is a list for.
  Cycle Horizon(Cycle now) const { return now + mask_; }
  // A result in cycle `at`, which is after `now`, the present one.
  [[gnu::always_inline]] void Add(Cycle now, Cycle at, Result result) {
    while (at - now > mask_) [[unlikely]]
      Grow(now, 2 * (mask_ + 1), room_);
    if (count_[at & mask_] == room_) [[unlikely]]
      Grow(now, mask_ + 1, 2 * room_);
    const uint32_t list = at & mask_;
    results_[size_t{list} * room_ + count_[list]++] = result;
    ++left_;
  }
  bool HasDue(Cycle now) const { return count_[now & mask_] != 0; }
  // Calls process(result) for the results of cycle `now`, in order, and forgets them. Stops at the first call that
  // returns false, and returns false: that result is kept, with those behind it.
  template <typename Process>
  bool TakeDue(Cycle now, Process process) {
    const uint32_t list = now & mask_;
    const uint32_t count = count_[list];
    const Result* const results = results_.data() + size_t{list} * room_;
    for (uint32_t place = 0; place < count; ++place) {
      if (!process(results[place])) {
        taken_ = place;
        left_ -= place;
        return false;
      }
    }
    left_ -= count;
    count_[list] = 0;
    return true;
  }
  // Calls function(cycle, result) for all that are left, from cycle `now` on, in order, and forgets them.
  template <typename Function>
  void TakeAll(Cycle now, Function function) {
    for (Cycle at = now; left_ != 0; ++at) {
      const uint32_t list = at & mask_;
      for (uint32_t place = at == now ? taken_ : 0; place < count_[list]; ++place) {
        function(at, results_[size_t{list} * room_ + place]);
        --left_;
      }
      count_[list] = 0;
    }
    taken_ = 0;
  }
  // The first cycle from `from` on that has a result, but not after `limit`.
  Cycle Next(Cycle from, Cycle limit) const {
    if (left_ == 0) return limit;
    while (from < limit && count_[from & mask_] == 0) ++from;
    return from;
  }

 private:
  // Room for more results per cycle, or for results that are farther away.
  void Grow(Cycle now, uint32_t cycles, uint32_t room) {
    std::vector<Result> results(size_t{cycles} * room);
    std::vector<uint32_t> counts(cycles, 0);
    for (Cycle at = now; at < now + count_.size(); ++at) {
      const uint32_t from = at & mask_;
      const uint32_t to = at & (cycles - 1);
      std::copy_n(results_.data() + size_t{from} * room_, count_[from], results.data() + size_t{to} * room);
      counts[to] = count_[from];
    }
    results_ = std::move(results);
    count_ = std::move(counts);
    mask_ = cycles - 1;
    room_ = room;
  }

  std::vector<Result> results_;  // by cycle and place
  std::vector<uint32_t> count_;  // by cycle
  uint32_t mask_ = 0;
  uint32_t room_ = 4;
  uint32_t taken_ = 0;  // results of the present cycle that are not left
  uint64_t left_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_FAST_PATH_RESULT_RING_H_
