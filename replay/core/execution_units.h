// The arithmetic units of one SM.
#ifndef HEDDLE_REPLAY_CORE_EXECUTION_UNITS_H_
#define HEDDLE_REPLAY_CORE_EXECUTION_UNITS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/core/issue_table.h"
#include "replay/core/operand_collector.h"
#include "replay/core/types.h"

namespace heddle::replay {

// SP and SFU units and their operand collectors, as absolute times from which on they are free.
class ExecutionUnits {
 public:
  explicit ExecutionUnits(const machine::v1::ExecutionUnits& units)
      : operand_read_(units.operand_read_cycles()), operands_(units.register_banks()) {
    classes_[0].units.assign(units.sp(), 0);
    classes_[1].units.assign(units.sfu(), 0);
    if (units.register_banks() != 0) {
      classes_[0].collectors.assign(units.sp_collectors(), 0);
      classes_[1].collectors.assign(units.sfu_collectors(), 0);
    }
    for (Class& one : classes_) one.Update();
  }

  // The first cycle in which an instruction of the class (not memory) can issue; kNever without such a unit.
  Cycle NextFree(UnitClass unit) const { return classes_[static_cast<int>(unit)].next_free; }

  // Issues an instruction in cycle `now`, not before NextFree. It takes the unit's input for `busy` cycles. Returns the
  // cycle in which its execution starts. `warp` and `sources`: see OperandCollector.
  Cycle Issue(UnitClass unit, uint32_t busy, uint32_t warp, std::span<const uint32_t> sources, Cycle now) {
    Class& one = classes_[static_cast<int>(unit)];
    *std::min_element(one.units.begin(), one.units.end()) = now + busy;
    const Cycle start = std::max(now + operand_read_, operands_.Collect(warp, sources, now));
    if (!one.collectors.empty()) *std::min_element(one.collectors.begin(), one.collectors.end()) = start;
    one.Update();
    return start;
  }

 private:
  struct Class {
    std::vector<Cycle> units;       // free from
    std::vector<Cycle> collectors;  // the same; empty = no limit
    Cycle next_free = 0;
    void Update() {
      next_free = units.empty() ? kNever : *std::min_element(units.begin(), units.end());
      if (!collectors.empty()) {
        next_free = std::max(next_free, *std::min_element(collectors.begin(), collectors.end()));
      }
    }
  };

  const uint32_t operand_read_;
  OperandCollector operands_;
  std::array<Class, 2> classes_;  // SP, SFU
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_EXECUTION_UNITS_H_
