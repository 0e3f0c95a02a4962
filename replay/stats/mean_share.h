// The mean of shares that are measured one by one.
#ifndef HEDDLE_REPLAY_STATS_MEAN_SHARE_H_
#define HEDDLE_REPLAY_STATS_MEAN_SHARE_H_

#include <cstdint>

namespace heddle::replay {

// Shares are summed in parts per billion, each rounded down. So the sum is an integer and does not depend on the order.
class MeanShare {
 public:
  static constexpr uint64_t kBillion = 1'000'000'000;

  // part / whole in parts per billion, rounded down. `part` is at most `whole`; of nothing, the share is 0.
  static uint64_t PartsPerBillion(uint64_t part, uint64_t whole) {
    if (whole == 0) return 0;
    return static_cast<uint64_t>(static_cast<unsigned __int128>(part) * kBillion / whole);
  }

  // One more share: `part` of `whole`.
  void Add(uint64_t part, uint64_t whole) { AddPartsPerBillion(PartsPerBillion(part, whole)); }
  void AddPartsPerBillion(uint64_t share) {
    ++count_;
    sum_ += share;
  }

  // Shares so far.
  uint64_t count() const { return count_; }
  // Their mean. Not to be asked of none.
  double percent() const {
    return static_cast<double>(sum_) / static_cast<double>(count_) / static_cast<double>(kBillion) * 100;
  }

 private:
  uint64_t count_ = 0;
  uint64_t sum_ = 0;  // parts per billion
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_STATS_MEAN_SHARE_H_
