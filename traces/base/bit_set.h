// Sets of small numbers as words of bits, and a matrix of them. The number of words is known to the compiler: for most
// machines it is one, and a set is a register.
#ifndef HEDDLE_TRACES_BASE_BIT_SET_H_
#define HEDDLE_TRACES_BASE_BIT_SET_H_

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace heddle {

// A set of numbers below 64 x kWords.
template <uint32_t kWords>
class BitSet {
 public:
  void Insert(uint32_t bit) { words_[WordOf(bit)] |= uint64_t{1} << (bit & 63); }
  void Erase(uint32_t bit) { words_[WordOf(bit)] &= ~(uint64_t{1} << (bit & 63)); }
  bool Contains(uint32_t bit) const { return words_[WordOf(bit)] >> (bit & 63) & 1; }
  void Clear() { words_ = {}; }

  bool empty() const {
    uint64_t any = 0;
    for (uint32_t word = 0; word < kWords; ++word) any |= words_[word];
    return any == 0;
  }
  uint32_t size() const {
    uint32_t count = 0;
    for (uint32_t word = 0; word < kWords; ++word) count += std::popcount(words_[word]);
    return count;
  }

  // The smallest member that is at least `from`, else the smallest. The set must not be empty.
  uint32_t FirstCyclic(uint32_t from) const {
    if constexpr (kWords == 1) {  // without a branch, which would be guessed wrong
      // Not std::countr_zero, which asks for zero.
      return (static_cast<uint32_t>(__builtin_ctzll(std::rotr(words_[0], static_cast<int>(from)))) + from) & 63;
    }
    const uint32_t start = WordOf(from);
    if (const uint64_t rest = words_[start] & ~uint64_t{0} << (from & 63)) return start * 64 + std::countr_zero(rest);
    for (uint32_t word = start + 1; word < kWords; ++word) {
      if (words_[word] != 0) return word * 64 + std::countr_zero(words_[word]);
    }
    for (uint32_t word = 0; word < kWords - 1; ++word) {
      if (words_[word] != 0) return word * 64 + std::countr_zero(words_[word]);
    }
    return (kWords - 1) * 64 + std::countr_zero(words_[kWords - 1]);
  }
  // The member with `rank` smaller ones; there must be more than `rank` members.
  uint32_t Nth(uint32_t rank) const {
    uint32_t word = 0;
    for (uint32_t here; word + 1 < kWords && rank >= (here = std::popcount(words_[word])); ++word) rank -= here;
    uint64_t rest = words_[word];
    for (; rank > 0; --rank) rest &= rest - 1;
    return word * 64 + std::countr_zero(rest);
  }

  // Calls `function` with every member, ascending. Members of a word that has been begun are those at its beginning.
  template <typename Function>
  void ForEach(Function function) const {
    for (uint32_t word = 0; word < kWords; ++word) {
      for (uint64_t rest = words_[word]; rest != 0; rest &= rest - 1) {
        function(word * 64 + static_cast<uint32_t>(std::countr_zero(rest)));
      }
    }
  }

  // Inserts all members of another set.
  void Add(const BitSet& other) {
    for (uint32_t word = 0; word < kWords; ++word) words_[word] |= other.words_[word];
  }
  BitSet Without(const BitSet& other) const {
    BitSet result;
    for (uint32_t word = 0; word < kWords; ++word) result.words_[word] = words_[word] & ~other.words_[word];
    return result;
  }
  // Members of one of the two.
  BitSet DifferenceTo(const BitSet& other) const {
    BitSet result;
    for (uint32_t word = 0; word < kWords; ++word) result.words_[word] = words_[word] ^ other.words_[word];
    return result;
  }
  bool operator==(const BitSet&) const = default;

 private:
  static uint32_t WordOf(uint32_t bit) { return kWords == 1 ? 0 : bit >> 6; }

  std::array<uint64_t, kWords> words_{};
};

// Rows of bits that know which of them are not empty. At most 64 x kWords rows and columns.
template <uint32_t kWords>
class BitMatrix {
 public:
  explicit BitMatrix(uint32_t rows) : rows_(rows) {}

  const BitSet<kWords>& operator[](uint32_t row) const { return rows_[row]; }
  const BitSet<kWords>& filled_rows() const { return filled_; }
  bool Contains(uint32_t row, uint32_t column) const { return rows_[row].Contains(column); }

  void Insert(uint32_t row, uint32_t column) {
    rows_[row].Insert(column);
    filled_.Insert(row);
  }
  void Erase(uint32_t row, uint32_t column) {
    rows_[row].Erase(column);
    if (rows_[row].empty()) filled_.Erase(row);
  }
  void Assign(uint32_t row, const BitSet<kWords>& columns) {
    rows_[row] = columns;
    if (columns.empty()) {
      filled_.Erase(row);
    } else {
      filled_.Insert(row);
    }
  }
  void ClearRow(uint32_t row) { Assign(row, {}); }

 private:
  std::vector<BitSet<kWords>> rows_;
  BitSet<kWords> filled_;
};

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_BIT_SET_H_
