// A memory instruction in the memory stage, or on its way there.
#ifndef HEDDLE_REPLAY_MEMORY_SM_STAGE_ACCESS_H_
#define HEDDLE_REPLAY_MEMORY_SM_STAGE_ACCESS_H_

#include <cstdint>

#include "replay/memory/cache/cache.h"
#include "replay/memory/ports/memory_request.h"
#include "replay/memory/sm/access_plan.h"
#include "replay/memory/sm/access_table.h"

namespace heddle::replay {

// On its way, behind the one that the stage holds.
struct PlannedAccess {
  trace::v1::OpClass op = trace::v1::OP_UNKNOWN;
  SlotId slot = kNoSlot;
  RecordId record = kNoRecord;
  LaneMask lanes = 0;
  bool past_l1 = false;  // atomics, and loads that must not find their data in the L1
  AccessPlan* plan = nullptr;
  Cycle ready = 0;  // first cycle in the stage, if nothing is in front of it

  Waiter WaiterOf(const AccessStep& step) const { return {record, step.lanes}; }
};

// In the stage. `ready` is the first cycle of the next step, or of leaving.
struct StageAccess : PlannedAccess {
  uint32_t next = 0;        // step
  bool data_begun = false;  // all_misses_or_none: bank conflicts are over
  Cycle hold_until = 0;     // last cycle that the lane groups need
  Cycle done = 0;           // data of a store have left

  const AccessStep& step() const { return (*plan)[next]; }
  bool all_made() const { return next == plan->size(); }
};

// What became of a step.
class StepResult {
 public:
  static StepResult Made() { return StepResult(); }
  // A resource of a first-level cache is missing.
  static StepResult Lacks(FirstLevel level, ReservationFail cause) {
    StepResult result;
    result.kind_ = Kind::kLacks;
    result.level_ = level;
    result.cause_ = cause;
    return result;
  }
  // The way to the registers is full.
  static StepResult ReturnsFull() {
    StepResult result;
    result.kind_ = Kind::kReturnsFull;
    return result;
  }

  bool made() const { return kind_ == Kind::kMade; }
  bool returns_full() const { return kind_ == Kind::kReturnsFull; }
  // What is missing, if neither holds.
  FirstLevel level() const { return level_; }
  ReservationFail cause() const { return cause_; }

 private:
  enum class Kind : uint8_t { kMade, kLacks, kReturnsFull };

  Kind kind_ = Kind::kMade;
  FirstLevel level_ = FirstLevel::kData;
  ReservationFail cause_ = ReservationFail::kWay;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_STAGE_ACCESS_H_
