// A set of warp slots with fast search.
#ifndef HEDDLE_REPLAY_SEAMS_SLOT_SET_H_
#define HEDDLE_REPLAY_SEAMS_SLOT_SET_H_

#include <array>
#include <bit>
#include <cstdint>

#include "replay/seams/types.h"

namespace heddle::replay {

// Bits in words, with one summary bit per word. Iteration is in ascending order of slots.
class SlotSet {
 public:
  void Insert(SlotId slot) {
    words_[slot >> 6] |= uint64_t{1} << (slot & 63);
    summary_ |= uint64_t{1} << (slot >> 6);
  }
  void Erase(SlotId slot) {  // without a branch, which would often be guessed wrong
    const uint64_t left = words_[slot >> 6] &= ~(uint64_t{1} << (slot & 63));
    summary_ &= ~(uint64_t{left == 0} << (slot >> 6));
  }
  // Insert and Erase for slots 64 * word and following, as bits; not none.
  void InsertBits(uint32_t word, uint64_t bits) {
    words_[word] |= bits;
    summary_ |= uint64_t{1} << word;
  }
  void EraseBits(uint32_t word, uint64_t bits) {
    const uint64_t left = words_[word] &= ~bits;
    summary_ &= ~(uint64_t{left == 0} << word);
  }
  bool Contains(SlotId slot) const { return words_[slot >> 6] >> (slot & 63) & 1; }
  bool empty() const { return summary_ == 0; }
  // Slots 64 * index to 64 * index + 63, as bits.
  uint64_t word(uint32_t index) const { return words_[index]; }
  void Clear() {
    words_.fill(0);
    summary_ = 0;
  }

  // The slots below 64 in `bits`, for a set that never has others.
  void AssignFirstWord(uint64_t bits) {
    words_[0] = bits;
    summary_ = bits != 0;
  }
  // The members of both; either may be this set itself.
  void AssignUnion(const SlotSet& a, const SlotSet& b) {
    uint64_t words = summary_;
    summary_ = a.summary_ | b.summary_;
    for (words |= summary_; words != 0; words &= words - 1) {
      const int word = std::countr_zero(words);
      words_[word] = a.words_[word] | b.words_[word];
    }
  }

  // The smallest member, or kNoSlot.
  SlotId First() const {
    if (summary_ == 0) return kNoSlot;
    const int word = std::countr_zero(summary_);
    return static_cast<SlotId>(word * 64 + std::countr_zero(words_[word]));
  }

  // The smallest member that is at least `slot`; if there is none, the smallest member; kNoSlot if empty.
  SlotId FirstCyclic(uint32_t slot) const {
    if (slot < kMaxSlots) {
      const uint32_t word = slot >> 6;
      if (const uint64_t rest = words_[word] & ~uint64_t{0} << (slot & 63)) {
        return static_cast<SlotId>(word * 64 + std::countr_zero(rest));
      }
      const uint64_t above = word == 63 ? 0 : summary_ & ~uint64_t{0} << (word + 1);
      if (above != 0) {
        const int next = std::countr_zero(above);
        return static_cast<SlotId>(next * 64 + std::countr_zero(words_[next]));
      }
    }
    return First();
  }

  template <typename Function>
  void ForEach(Function function) const {
    for (uint64_t summary = summary_; summary != 0; summary &= summary - 1) {
      const int word = std::countr_zero(summary);
      for (uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
        function(static_cast<SlotId>(word * 64 + std::countr_zero(bits)));
      }
    }
  }

 private:
  static_assert(kMaxSlots == 64 * 64, "one summary word covers 64 words");
  uint64_t summary_ = 0;  // beside the first words, which are used most
  std::array<uint64_t, 64> words_{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_SLOT_SET_H_
