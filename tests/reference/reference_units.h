// Execution units and operand collectors of the reference core, polled.
#ifndef HEDDLE_TESTS_REFERENCE_REFERENCE_UNITS_H_
#define HEDDLE_TESTS_REFERENCE_REFERENCE_UNITS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "proto/machine.pb.h"
#include "proto/trace.pb.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// What an instruction needs of the units.
struct UnitNeed {
  machine::v1::OperationTiming::Unit unit = machine::v1::OperationTiming::SP_UNIT;
  uint32_t input_cycles = 1;  // the unit's input is taken for
  uint32_t before_last = 0;   // cycles from the start to that of the last micro-operation
  uint32_t latency = 1;
};

class ReferenceUnits {
 public:
  explicit ReferenceUnits(const machine::v1::Core& core);

  // `lanes`: the instruction's, for machines that skip empty groups of lanes. `instruction` null: one of the policy's
  // own.
  UnitNeed NeedOf(const trace::v1::Instruction* instruction, LaneMask lanes) const;
  // Units of a class.
  size_t CountOf(machine::v1::OperationTiming::Unit unit) const { return busy_until_.at(unit).size(); }
  // Cycles in which the lanes enter a unit.
  uint32_t GroupsOf(LaneMask lanes) const;

  // A unit's input is free, and a collector where there are collectors.
  bool HasRoom(const UnitNeed& need, Cycle now) const;
  // Starts an instruction that issues in `now`. `registers` are those it reads, in order and without doubles; `warp`
  // decides their banks. Numbers of instructions ascend. True if it starts in this very cycle.
  bool Issue(uint64_t number, const UnitNeed& need, const std::vector<uint32_t>& registers, uint32_t warp, Cycle now);
  // Start of cycle `now`: each bank is read once, or once per step. Returns the instructions that start in this cycle.
  std::vector<uint64_t> CollectOperands(Cycle now);

 private:
  struct Collecting {
    machine::v1::OperationTiming::Unit unit = machine::v1::OperationTiming::SP_UNIT;
    Cycle issued = 0;
    std::vector<uint32_t> banks;  // reads to do, in order
    bool asked = false;           // in steps: it has been in a step
    std::optional<Cycle> starts;  // in steps: nothing is left to do
  };

  // Steps of a cycle in which operands are read; 0: they are not read in steps.
  uint32_t InSteps() const;
  void ReadBanks(Cycle now);

  const machine::v1::Core& core_;
  std::map<int, std::vector<Cycle>> busy_until_;  // by unit class, one element per unit
  std::map<uint64_t, Collecting> collecting_;     // by number: the oldest first
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REFERENCE_REFERENCE_UNITS_H_
