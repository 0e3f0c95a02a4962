// What warps lack to issue: what policies may look at, besides the warp table.
#ifndef HEDDLE_REPLAY_SEAMS_ISSUE_VIEW_H_
#define HEDDLE_REPLAY_SEAMS_ISSUE_VIEW_H_

#include <cstdint>
#include <optional>

#include "replay/seams/types.h"

namespace heddle::replay {

// What keeps a slot from issuing its next instruction, besides the policy, the scheduler and its port. A parked slot is
// looked at as if it were offered. The first that holds, from the bottom up: a slot lacks kUnit only if it lacks
// nothing else.
enum class Lack : uint8_t {
  kNothing,      // it could issue
  kUnit,         // an execution unit, a collector, the memory stage or the pipeline has no room
  kResult,       // a result that its next instruction needs, or that of its instruction in flight; a pause of its code
  kMemory,       // such a result, and some of these come from memory
  kFarMemory,    // such a result, and some of these come from memory beyond the core: a long wait
  kInstruction,  // its buffer is empty
  kBranch,       // its branch, call, return or exit has not resolved
  kBarrier,      // it waits for others: at a barrier, a fence, for copies, for threads that it has to meet
  kDecision,     // the policy has to say where its threads go on, or its turn to be asked has not come
  kWarp,         // it is free, or holds no thread
};

// Slots of one SM. The answers are true at the moment of the question, whoever has changed what in this cycle; of the
// slot that a call is about they say nothing before the call is over.
class IssueView {
 public:
  virtual Lack LackOf(SlotId slot) const = 0;
  // The first register, in the order of its sources, then of its destinations, for which the slot waits, as the program
  // numbers it. None if it lacks no register, and where cores keep no scoreboard of registers.
  virtual std::optional<uint32_t> AwaitedRegister(SlotId slot) const = 0;

  // Whether the slot could issue, if it is offered and its unit has room.
  bool MayIssue(SlotId slot) const { return LackOf(slot) <= Lack::kUnit; }

 protected:
  ~IssueView() = default;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_ISSUE_VIEW_H_
