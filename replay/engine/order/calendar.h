// Which component has something to do in which cycle.
#ifndef HEDDLE_REPLAY_ENGINE_ORDER_CALENDAR_H_
#define HEDDLE_REPLAY_ENGINE_ORDER_CALENDAR_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// A ring of cycles with one bit per component in each, and an occupancy bitmap over the cycles. A wake beyond the ring
// is put at its far end: waking a component too early is harmless, it will say again when it wants to be woken.
class Calendar {
 public:
  explicit Calendar(uint32_t components) : words_((components + 63) / 64), wakes_(kCycles * words_, 0) {}

  // Wakes `component` in cycle `at`, which is later than the last cycle that was taken. Nothing for kNever.
  void Wake(uint32_t component, Cycle at) {
    if (at == kNever) return;
    at = std::min(at, next_ + kCycles - 1);
    const uint32_t slot = static_cast<uint32_t>(at) & (kCycles - 1);
    wakes_[slot * words_ + (component >> 6)] |= uint64_t{1} << (component & 63);
    occupied_[slot >> 6] |= uint64_t{1} << (slot & 63);
  }

  // The next cycle with a wake; kNever if there is none.
  Cycle Next() const {
    const uint32_t start = static_cast<uint32_t>(next_) & (kCycles - 1);
    uint32_t word = start >> 6;
    uint64_t bits = occupied_[word] & (~uint64_t{0} << (start & 63));
    for (uint32_t i = 0; i <= kWords; ++i) {
      if (bits != 0) {
        const uint32_t slot = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
        return next_ + ((slot - start) & (kCycles - 1));
      }
      word = (word + 1) % kWords;
      bits = occupied_[word];
    }
    return kNever;
  }

  // Moves to cycle `now`, which is not later than Next(), and hands out its components: those to wake, ascending.
  void Take(Cycle now, std::vector<uint32_t>& components) {
    components.clear();
    const uint32_t slot = static_cast<uint32_t>(now) & (kCycles - 1);
    for (uint32_t word = 0; word < words_; ++word) {
      uint64_t& bits = wakes_[slot * words_ + word];
      for (; bits != 0; bits &= bits - 1) {
        components.push_back(word * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
      }
    }
    occupied_[slot >> 6] &= ~(uint64_t{1} << (slot & 63));
    next_ = now + 1;
  }

 private:
  static constexpr uint32_t kCycles = 1024;
  static constexpr uint32_t kWords = kCycles / 64;

  const uint32_t words_;
  Cycle next_ = 0;  // the first cycle that has not been taken
  std::vector<uint64_t> wakes_;
  std::array<uint64_t, kWords> occupied_{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_ORDER_CALENDAR_H_
