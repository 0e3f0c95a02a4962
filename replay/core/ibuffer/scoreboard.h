// Registers with a write pending; or, by control bits, barriers that are up.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_SCOREBOARD_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_SCOREBOARD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/core/issue_table.h"
#include "replay/seams/policy_traits.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// By hardware warp. A write by a slot of threads of one hardware warp is pending for the whole hardware warp; if the
// program makes no calls it is kept as one bit per register, of which nobody else can have the same: that is the quick
// way. Writes by slots with threads of several hardware warps, and those of programs with calls, whose registers belong
// to a call depth, are kept in a list, with a filter of 64 bits before it. Lanes are those of the hardware warp: bit i
// is hardware thread hw_warp * warp size + i. It also keeps the stores that have not been acknowledged, for fences.
//
// A policy may ask for more scoreboards than one per hardware warp (ScoreboardScope). Then every write is in the list,
// with the threads that it is pending for, and there is no quick way.
//
// Where warps issue by control bits (IssueTable::by_control_bits) registers are not kept. Who has raised one of the six
// barriers of a hardware warp is in the list instead: for the whole hardware warp, if all threads of the slot are of
// it, else for those threads. A barrier of a slot is up while any of its threads' is. So it goes where its thread goes.
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

  Scoreboard(uint32_t hw_warps, const IssueTable& table, ScoreboardScope scope)
      : table_(table),
        hw_warps_(hw_warps),
        words_per_hw_warp_(table.words_per_step()),
        by_bits_(table.flat() && !table.by_control_bits() && scope == ScoreboardScope::kWarp),
        one_word_(by_bits_ && table.words_per_step() == 1),
        words_(size_t{hw_warps} * words_per_hw_warp_) {}

  // Whether a write by a slot of threads of one hardware warp is kept as bits.
  bool by_bits() const { return by_bits_; }

  // What keeps threads `lanes` of the hardware warp from issuing the instruction at `pc`, which is `step`, at a call
  // depth.
  [[gnu::always_inline]] Hazard Check(uint32_t hw_warp, LaneMask lanes, const IssueStep& step, Pc pc,
                                      uint32_t depth) const {
    Hazard hazard;
    if (one_word_) {
      AddWord(words_[hw_warp], table_.word(pc), hazard);
      if (listed_ != 0) [[unlikely]] {
        Search(hw_warps_[hw_warp], lanes, step, step.registers.AtDepth(depth), depth, hazard);
      }
    } else if (step.registers.AtDepth(depth).Intersects(hw_warps_[hw_warp].filter)) {
      CheckAll(hw_warp, lanes, step, pc, depth, hazard);
    }
    return hazard;
  }

  // Takes the registers that `instruction` (the core's number for it) writes, or raises the barrier for its result.
  // `producer` is a set of Producer.
  void Reserve(uint32_t hw_warp, LaneMask lanes, const IssueStep& step, uint32_t depth, uint32_t instruction,
               uint8_t producer);
  // Raises a barrier until operands are read. `reading` is none of the core's numbers for instructions.
  void RaiseForOperands(uint32_t hw_warp, LaneMask lanes, uint8_t barrier, uint32_t reading) {
    Raise(hw_warp, lanes, barrier, reading).operands = true;
  }
  // Gives back what the instruction took, or lowers what was raised under this number.
  void Release(uint32_t hw_warp, uint32_t instruction);
  // Release for these threads alone: the others' results are still to come.
  void ReleaseLanes(uint32_t hw_warp, uint32_t instruction, LaneMask lanes);
  // The instruction's data come from beyond the core.
  void MarkOffCore(uint32_t hw_warp, uint32_t instruction);
  // Whether a write to the register at this call depth is pending for some of the threads.
  bool IsPending(uint32_t hw_warp, LaneMask lanes, uint32_t number, uint32_t depth) const;

  // Reserve, Release and MarkOffCore by bits, for the instruction at `pc` of a slot of this hardware warp alone.
  void ReserveBits(uint32_t hw_warp, Pc pc, uint8_t producer) {
    if (one_word_) {
      const uint64_t writes = table_.word(pc).writes;
      words_[hw_warp].pending |= writes;
      if (producer != kArithmetic) AddProducer(words_[hw_warp], writes, producer);
      return;
    }
    Word* word = &words_[size_t{hw_warp} * words_per_hw_warp_];
    for (const RegisterWord& own : table_.words(pc)) {
      word->pending |= own.writes;
      if (producer != kArithmetic) AddProducer(*word, own.writes, producer);
      hw_warps_[hw_warp].filter.Add(RegisterFilter(own.writes));
      ++word;
    }
  }
  void ReleaseBits(uint32_t hw_warp, Pc pc) {
    if (one_word_) {
      words_[hw_warp].Clear(table_.word(pc).writes);
      return;
    }
    HwWarp& at = hw_warps_[hw_warp];
    Word* word = &words_[size_t{hw_warp} * words_per_hw_warp_];
    at.filter = RegisterFilter();
    for (const RegisterWord& own : table_.words(pc)) {
      word->Clear(own.writes);
      at.filter.Add(RegisterFilter(word->pending));
      ++word;
    }
    for (const Write& write : at.writes) at.filter.Add(write.filter);
  }
  // ReleaseBits for an arithmetic instruction: none of its registers can be pending for memory as well.
  void ReleaseArithmeticBits(uint32_t hw_warp, Pc pc) {
    if (one_word_) {
      words_[hw_warp].pending &= ~table_.word(pc).writes;
    } else {
      ReleaseBits(hw_warp, pc);
    }
  }
  void MarkBitsOffCore(uint32_t hw_warp, Pc pc) {
    Word* word = &words_[size_t{hw_warp} * words_per_hw_warp_];
    for (const RegisterWord& own : table_.words(pc)) (word++)->off_core |= own.writes;
  }

  // For a fast path, which keeps a hardware warp's registers by itself for a while, if there is one word per hardware
  // warp: whether all its pending writes are of arithmetic and kept as bits, and these.
  bool one_word() const { return one_word_; }
  bool OnlyArithmetic(uint32_t hw_warp) const {
    const Word& word = words_[hw_warp];
    return hw_warps_[hw_warp].writes.empty() && (word.memory | word.beyond_shared | word.off_core) == 0;
  }
  uint64_t pending(uint32_t hw_warp) const { return words_[hw_warp].pending; }
  void SetPending(uint32_t hw_warp, uint64_t registers) { words_[hw_warp].pending = registers; }

  // No write is pending.
  bool empty() const;

  // Stores on their way.
  void AddStore(uint32_t hw_warp, LaneMask lanes, uint32_t instruction) {
    hw_warps_[hw_warp].stores.push_back({lanes, instruction});
    ++stores_;
  }
  void RemoveStore(uint32_t hw_warp, uint32_t instruction);
  void ForgetStores(uint32_t hw_warp) {
    if (stores_ == 0) return;  // mostly: only programs with a fence list any
    stores_ -= hw_warps_[hw_warp].stores.size();
    hw_warps_[hw_warp].stores.clear();
  }
  bool HasStore(uint32_t hw_warp, LaneMask lanes) const {
    for (const Store& store : hw_warps_[hw_warp].stores) {
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
    bool operands = false;  // of a barrier, `number`: up until operands are read, not until a result is written
  };
  struct Store {
    LaneMask lanes = 0;
    uint32_t instruction = 0;
  };
  struct HwWarp {
    RegisterFilter filter;  // of all its writes, unless there is one word, which tells as quickly
    std::vector<Write> writes;
    std::vector<Store> stores;
  };
  // 64 registers of a hardware warp: those with a write pending, and those of them whose result comes from somewhere.
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
  void CheckAll(uint32_t hw_warp, LaneMask lanes, const IssueStep& step, Pc pc, uint32_t depth, Hazard& hazard) const;
  void Search(const HwWarp& hw_warp, LaneMask lanes, const IssueStep& step, RegisterFilter used, uint32_t depth,
              Hazard& hazard) const;
  // Raises a barrier under a number.
  Write& Raise(uint32_t hw_warp, LaneMask lanes, uint8_t barrier, uint32_t number);
  // Check by control bits, where some barrier is up.
  void CheckBarriers(const HwWarp& hw_warp, LaneMask lanes, const IssueStep& step, Hazard& hazard) const;

  const IssueTable& table_;
  std::vector<HwWarp> hw_warps_;
  const uint32_t words_per_hw_warp_;
  const bool by_bits_;
  const bool one_word_;      // and no calls
  size_t listed_ = 0;        // writes that hardware warps have in lists
  size_t stores_ = 0;        // that hardware warps have
  std::vector<Word> words_;  // by hardware warp
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_SCOREBOARD_H_
