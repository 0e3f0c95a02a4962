// Registers with a write pending.
#ifndef HEDDLE_REPLAY_CORE_SCOREBOARD_H_
#define HEDDLE_REPLAY_CORE_SCOREBOARD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/core/issue_table.h"
#include "replay/core/types.h"

namespace heddle::replay {

// One list per row of warp-size hardware threads, with a filter of 64 bits before it. A register belongs to a call
// depth: a callee's do not collide with its caller's. Lanes are those of the row: bit i is hardware thread
// row * warp size + i. It also keeps the stores that have not been acknowledged, for fences.
class Scoreboard {
 public:
  // What keeps an instruction from issuing.
  struct Hazard {
    bool blocked = false;
    bool source = false;         // a register that it reads is pending; else only one that it writes
    bool memory = false;         // some of the pending results come from memory
    bool beyond_shared = false;  // and from beyond shared memory
    bool off_core = false;       // and from beyond the core
    void Add(const Hazard& other) {
      blocked |= other.blocked;
      source |= other.source;
      memory |= other.memory;
      beyond_shared |= other.beyond_shared;
      off_core |= other.off_core;
    }
  };
  enum Producer : uint8_t { kArithmetic = 0, kMemory = 1, kBeyondShared = 2, kOffCore = 4 };

  explicit Scoreboard(uint32_t rows) : rows_(rows) {}

  // What keeps threads `lanes` of the row from issuing the instruction at a call depth.
  Hazard Check(uint32_t row, LaneMask lanes, const IssueTable& table, const IssueStep& step, uint32_t depth) const {
    const Row& at = rows_[row];
    const RegisterFilter used = step.registers.AtDepth(depth);
    if (!used.Meets(at.filter)) return Hazard();
    return Search(at, lanes, table, step, used, depth);
  }

  // Takes the registers that `instruction` (the core's number for it) writes. `producer` is a set of Producer.
  void Reserve(uint32_t row, LaneMask lanes, std::span<const uint32_t> registers, uint32_t depth, uint32_t instruction,
               uint8_t producer);
  // Gives back what the instruction took.
  void Release(uint32_t row, uint32_t instruction);
  // The instruction's data come from beyond the core.
  void MarkOffCore(uint32_t row, uint32_t instruction);
  // No write is pending.
  bool empty() const { return writes_ == 0; }

  // Stores on their way.
  void AddStore(uint32_t row, LaneMask lanes, uint32_t instruction) {
    rows_[row].stores.push_back({lanes, instruction});
  }
  void RemoveStore(uint32_t row, uint32_t instruction);
  void ForgetStores(uint32_t row) { rows_[row].stores.clear(); }
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
    RegisterFilter filter;  // of all its writes
    std::vector<Write> writes;
    std::vector<Store> stores;
  };

  static Hazard Search(const Row& row, LaneMask lanes, const IssueTable& table, const IssueStep& step,
                       RegisterFilter used, uint32_t depth);

  std::vector<Row> rows_;
  size_t writes_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_SCOREBOARD_H_
