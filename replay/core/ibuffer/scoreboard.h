// Registers with a write pending.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_SCOREBOARD_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_SCOREBOARD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/core/issue_table.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// By row of warp-size hardware threads. A write by a slot of threads of one row is pending for the whole row; if the
// program makes no calls it is kept as one bit per register, of which nobody else can have the same: that is the quick
// way. Writes by slots with threads of several rows, and those of programs with calls, whose registers belong to a call
// depth, are kept in a list, with a filter of 64 bits before it. Lanes are those of the row: bit i is hardware thread
// row * warp size + i. It also keeps the stores that have not been acknowledged, for fences.
class Scoreboard {
 public:
  // What keeps an instruction from issuing.
  class Hazard {
   public:
    Hazard() = default;
    // Whether anything does; whether a register that it reads is pending, else only one that it writes.
    bool blocked() const { return (bits_ & kBlocked) != 0; }
    bool source() const { return (bits_ & kSource) != 0; }
    // Some of the pending results come from memory; from beyond shared memory; from beyond the core.
    bool memory() const { return (bits_ & kMemory) != 0; }
    bool beyond_shared() const { return (bits_ & kBeyondShared) != 0; }
    bool off_core() const { return (bits_ & kOffCore) != 0; }
    void Add(Hazard other) { bits_ |= other.bits_; }

   private:
    friend class Scoreboard;
    static constexpr uint32_t kBlocked = 8;
    static constexpr uint32_t kSource = 16;
    uint32_t bits_ = 0;  // and Producer
  };
  enum Producer : uint8_t { kArithmetic = 0, kMemory = 1, kBeyondShared = 2, kOffCore = 4 };

  Scoreboard(uint32_t rows, const IssueTable& table)
      : table_(table),
        rows_(rows),
        words_per_row_(table.words_per_step()),
        one_word_(table.flat() && table.words_per_step() == 1),
        words_(size_t{rows} * words_per_row_) {}

  // Whether a write by a slot of threads of one row is kept as bits.
  bool by_bits() const { return table_.flat(); }

  // What keeps threads `lanes` of the row from issuing the instruction at `pc`, which is `step`, at a call depth.
  [[gnu::always_inline]] Hazard Check(uint32_t row, LaneMask lanes, const IssueStep& step, Pc pc,
                                      uint32_t depth) const {
    Hazard hazard;
    if (one_word_) {
      AddWord(words_[row], table_.word(pc), hazard);
      if (listed_ != 0) [[unlikely]] {
        Search(rows_[row], lanes, step, step.registers.AtDepth(depth), depth, hazard);
      }
    } else if (step.registers.AtDepth(depth).Meets(rows_[row].filter)) {
      CheckAll(row, lanes, step, pc, depth, hazard);
    }
    return hazard;
  }

  // Takes the registers that `instruction` (the core's number for it) writes. `producer` is a set of Producer.
  void Reserve(uint32_t row, LaneMask lanes, const IssueStep& step, uint32_t depth, uint32_t instruction,
               uint8_t producer);
  // Gives back what the instruction took.
  void Release(uint32_t row, uint32_t instruction);
  // The instruction's data come from beyond the core.
  void MarkOffCore(uint32_t row, uint32_t instruction);

  // Reserve, Release and MarkOffCore by bits, for the instruction at `pc` of a slot of this row alone.
  void ReserveBits(uint32_t row, Pc pc, uint8_t producer) {
    if (one_word_) {
      const uint64_t writes = table_.word(pc).writes;
      words_[row].pending |= writes;
      if (producer != kArithmetic) AddProducer(words_[row], writes, producer);
      return;
    }
    Word* word = &words_[size_t{row} * words_per_row_];
    for (const RegisterWord& own : table_.words(pc)) {
      word->pending |= own.writes;
      if (producer != kArithmetic) AddProducer(*word, own.writes, producer);
      rows_[row].filter.Add(RegisterFilter(own.writes));
      ++word;
    }
  }
  void ReleaseBits(uint32_t row, Pc pc) {
    if (one_word_) {
      words_[row].Clear(table_.word(pc).writes);
      return;
    }
    Row& at = rows_[row];
    Word* word = &words_[size_t{row} * words_per_row_];
    at.filter = RegisterFilter();
    for (const RegisterWord& own : table_.words(pc)) {
      word->Clear(own.writes);
      at.filter.Add(RegisterFilter(word->pending));
      ++word;
    }
    for (const Write& write : at.writes) at.filter.Add(write.filter);
  }
  // ReleaseBits for an arithmetic instruction: none of its registers can be pending for memory as well.
  void ReleaseArithmeticBits(uint32_t row, Pc pc) {
    if (one_word_) {
      words_[row].pending &= ~table_.word(pc).writes;
    } else {
      ReleaseBits(row, pc);
    }
  }
  void MarkBitsOffCore(uint32_t row, Pc pc) {
    Word* word = &words_[size_t{row} * words_per_row_];
    for (const RegisterWord& own : table_.words(pc)) (word++)->off_core |= own.writes;
  }

  // For a fast path, which keeps a row's registers by itself for a while, if there is one word per row: whether all its
  // pending writes are of arithmetic and kept as bits, and these.
  bool one_word() const { return one_word_; }
  bool OnlyArithmetic(uint32_t row) const {
    const Word& word = words_[row];
    return rows_[row].writes.empty() && (word.memory | word.beyond_shared | word.off_core) == 0;
  }
  uint64_t pending(uint32_t row) const { return words_[row].pending; }
  void SetPending(uint32_t row, uint64_t registers) { words_[row].pending = registers; }

  // No write is pending.
  bool empty() const;

  // Stores on their way.
  void AddStore(uint32_t row, LaneMask lanes, uint32_t instruction) {
    rows_[row].stores.push_back({lanes, instruction});
    ++stores_;
  }
  void RemoveStore(uint32_t row, uint32_t instruction);
  void ForgetStores(uint32_t row) {
    if (stores_ == 0) return;  // mostly: only programs with a fence list any
    stores_ -= rows_[row].stores.size();
    rows_[row].stores.clear();
  }
  bool HasStore(uint32_t row, LaneMask lanes) const {
    for (const Store& store : rows_[row].stores) {
      if ((store.lanes & lanes) != 0) return true;
    }
    return false;
  }

 private:
  struct Write {
    RegisterFilter filter;
    LaneMask lanes = 0;
    uint32_t number = 0;
    uint32_t instruction = 0;
    uint16_t depth = 0;
    uint8_t producer = 0;
  };
  struct Store {
    LaneMask lanes = 0;
    uint32_t instruction = 0;
  };
  struct Row {
    RegisterFilter filter;  // of all its writes, unless there is one word, which tells as quickly
    std::vector<Write> writes;
    std::vector<Store> stores;
  };
  // 64 registers of a row: those with a write pending, and those of them whose result comes from somewhere.
  struct Word {
    uint64_t pending = 0;
    uint64_t memory = 0;
    uint64_t beyond_shared = 0;
    uint64_t off_core = 0;
    void Clear(uint64_t registers) {
      pending &= ~registers;
      memory &= ~registers;
      beyond_shared &= ~registers;
      off_core &= ~registers;
    }
  };

  static void AddWord(const Word& word, const RegisterWord& own, Hazard& hazard) {
    const uint64_t used = (own.reads | own.writes) & word.pending;
    if (used == 0) return;
    hazard.bits_ |= Hazard::kBlocked;
    if ((own.reads & word.pending) != 0) hazard.bits_ |= Hazard::kSource;
    if ((used & (word.memory | word.off_core)) == 0) return;  // beyond shared memory is memory
    if ((used & word.memory) != 0) hazard.bits_ |= kMemory;
    if ((used & word.beyond_shared) != 0) hazard.bits_ |= kBeyondShared;
    if ((used & word.off_core) != 0) hazard.bits_ |= kOffCore;
  }
  static void AddProducer(Word& word, uint64_t registers, uint8_t producer) {
    if ((producer & kMemory) != 0) word.memory |= registers;
    if ((producer & kBeyondShared) != 0) word.beyond_shared |= registers;
  }

  // Check, where several words or the list have to be looked at.
  void CheckAll(uint32_t row, LaneMask lanes, const IssueStep& step, Pc pc, uint32_t depth, Hazard& hazard) const;
  void Search(const Row& row, LaneMask lanes, const IssueStep& step, RegisterFilter used, uint32_t depth,
              Hazard& hazard) const;

  const IssueTable& table_;
  std::vector<Row> rows_;
  const uint32_t words_per_row_;
  const bool one_word_;      // and no calls
  size_t listed_ = 0;        // writes that rows have in lists
  size_t stores_ = 0;        // that rows have
  std::vector<Word> words_;  // by row
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_SCOREBOARD_H_
