// Sets of small numbers as words of bits, and a matrix of them.
#ifndef HEDDLE_REPLAY_MEMORY_BIT_MATRIX_H_
#define HEDDLE_REPLAY_MEMORY_BIT_MATRIX_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::replay {

inline constexpr uint32_t kNoBit = ~uint32_t{0};

inline uint32_t WordsFor(uint32_t bits) { return (bits + 63) / 64; }
inline void SetBit(std::span<uint64_t> words, uint32_t bit) { words[bit >> 6] |= uint64_t{1} << (bit & 63); }
inline void ClearBit(std::span<uint64_t> words, uint32_t bit) { words[bit >> 6] &= ~(uint64_t{1} << (bit & 63)); }
inline bool TestBit(std::span<const uint64_t> words, uint32_t bit) { return words[bit >> 6] >> (bit & 63) & 1; }

inline bool AnyBit(std::span<const uint64_t> words) {
  uint64_t any = 0;
  for (uint64_t word : words) any |= word;
  return any != 0;
}

inline uint32_t CountBits(std::span<const uint64_t> words) {
  uint32_t count = 0;
  for (uint64_t word : words) count += std::popcount(word);
  return count;
}

// The smallest member that is at least `from`, else the smallest; kNoBit if there is none.
inline uint32_t FirstBitCyclic(std::span<const uint64_t> words, uint32_t from) {
  const uint32_t start = from >> 6;
  if (const uint64_t rest = words[start] & ~uint64_t{0} << (from & 63)) return start * 64 + std::countr_zero(rest);
  for (uint32_t word = start + 1; word < words.size(); ++word) {
    if (words[word] != 0) return word * 64 + std::countr_zero(words[word]);
  }
  for (uint32_t word = 0; word <= start; ++word) {
    if (words[word] != 0) return word * 64 + std::countr_zero(words[word]);
  }
  return kNoBit;
}

// The member with `rank` smaller ones; there must be more than `rank` members.
inline uint32_t NthBit(std::span<const uint64_t> words, uint32_t rank) {
  uint32_t word = 0;
  for (uint32_t here; rank >= (here = std::popcount(words[word])); ++word) rank -= here;
  uint64_t rest = words[word];
  for (; rank > 0; --rank) rest &= rest - 1;
  return word * 64 + std::countr_zero(rest);
}

// Calls `function` with every member, ascending. The set may change during the call; words begun are not read again.
template <typename Function>
void ForEachBit(std::span<const uint64_t> words, Function function) {
  for (uint32_t word = 0; word < words.size(); ++word) {
    for (uint64_t rest = words[word]; rest != 0; rest &= rest - 1) {
      function(word * 64 + static_cast<uint32_t>(std::countr_zero(rest)));
    }
  }
}

// Rows of bits that know which of them are not empty.
class BitMatrix {
 public:
  BitMatrix() = default;
  BitMatrix(uint32_t rows, uint32_t columns)
      : words_(WordsFor(columns)), bits_(size_t{rows} * words_), filled_(WordsFor(rows)) {}

  std::span<const uint64_t> Row(uint32_t row) const { return {&bits_[size_t{row} * words_], words_}; }
  // The rows with at least one bit set.
  std::span<const uint64_t> filled_rows() const { return filled_; }
  bool empty() const { return !AnyBit(filled_); }
  bool Test(uint32_t row, uint32_t column) const { return TestBit(Row(row), column); }

  void Set(uint32_t row, uint32_t column) {
    SetBit(Mutable(row), column);
    SetBit(filled_, row);
  }
  void Clear(uint32_t row, uint32_t column) {
    ClearBit(Mutable(row), column);
    if (!AnyBit(Row(row))) ClearBit(filled_, row);
  }
  void ClearRow(uint32_t row) {
    std::ranges::fill(Mutable(row), 0);
    ClearBit(filled_, row);
  }
  void AssignRow(uint32_t row, std::span<const uint64_t> words) {
    std::ranges::copy(words, Mutable(row).begin());
    if (AnyBit(words)) {
      SetBit(filled_, row);
    } else {
      ClearBit(filled_, row);
    }
  }

 private:
  std::span<uint64_t> Mutable(uint32_t row) { return {&bits_[size_t{row} * words_], words_}; }

  uint32_t words_ = 0;
  std::vector<uint64_t> bits_;
  std::vector<uint64_t> filled_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_BIT_MATRIX_H_
