// How often which latency occurred.
#ifndef HEDDLE_REPLAY_MEMORY_PORTS_LATENCY_HISTOGRAM_H_
#define HEDDLE_REPLAY_MEMORY_PORTS_LATENCY_HISTOGRAM_H_

#include <array>
#include <bit>
#include <cstdint>

namespace heddle::replay {

// Bins: 0 to 7 cycles exactly, then four per power of two (8-9, 10-11, 12-13, 14-15, 16-19, ...), the last one open.
class LatencyHistogram {
 public:
  static constexpr uint32_t kBins = 96;

  static constexpr uint32_t BinOf(uint64_t cycles) {
    if (cycles < 8) return static_cast<uint32_t>(cycles);
    const auto shift = static_cast<uint32_t>(std::bit_width(cycles)) - 3;
    const uint32_t bin = 4 * shift + static_cast<uint32_t>(cycles >> shift);
    return bin < kBins ? bin : kBins - 1;
  }
  // The lowest latency of a bin.
  static constexpr uint64_t LowestOf(uint32_t bin) {
    if (bin < 8) return bin;
    return uint64_t{4 + bin % 4} << (bin / 4 - 1);
  }

  void Record(uint64_t cycles) {
    ++counts_[BinOf(cycles)];
    ++count_;
    sum_ += cycles;
  }
  void Add(const LatencyHistogram& other) {
    for (uint32_t bin = 0; bin < kBins; ++bin) counts_[bin] += other.counts_[bin];
    count_ += other.count_;
    sum_ += other.sum_;
  }

  uint64_t count() const { return count_; }
  uint64_t sum() const { return sum_; }  // cycles
  const std::array<uint64_t, kBins>& counts() const { return counts_; }
  bool operator==(const LatencyHistogram&) const = default;

 private:
  std::array<uint64_t, kBins> counts_{};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_PORTS_LATENCY_HISTOGRAM_H_
