// Where the threads of a slot go on when its instruction is done, and what the policy says to it.
#ifndef HEDDLE_REPLAY_CORE_RESOLVE_UNIT_H_
#define HEDDLE_REPLAY_CORE_RESOLVE_UNIT_H_

#include <cstdint>

#include "replay/core/control_flow.h"
#include "replay/core/sm_parts.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// What a front end has to do when threads end.
class ExitListener {
 public:
  virtual ~ExitListener() = default;
  // All threads of the block have exited, and the policy has been told. Once per block.
  virtual void BlockExited(BlockId block) = 0;
  // The last live thread of a hardware warp has exited; it was in `slot`.
  virtual void HwWarpExited(SlotId slot, uint32_t hw_warp) = 0;
  // A slot that SmParts::SharedHeld stopped may go on.
  virtual void SharedReleased() = 0;
};

// Ends instructions: finds the next positions of their threads, moves slots on, asks the policy where it wants to be
// asked, and lets threads exit. The policy may have no room and refuse a resolve. Functions that return bool return
// false then: everything behind has to wait until AskAgain returns true.
class ResolveUnit {
 public:
  ResolveUnit(SmParts& sm, ExitListener& listener) : sm_(sm), listener_(listener) {}

  // The instruction of a slot that is in flight, or at a barrier that has opened, is done. `ask_after_barrier`: the
  // policy wants to be asked, whatever comes next.
  bool FinishInstruction(SlotId slot, bool ask_after_barrier);
  // Lanes of a slot in flight go on without the others.
  bool TakeLanes(SlotId slot, LaneMask lanes);
  // The slot, whose instruction is a barrier, arrives there. If it waits, policy and schedulers are told after the
  // selection. What registers say of the barrier is read.
  void ArriveAtBarrier(SlotId slot);
  // The barrier of the slot has opened, or the matrix instruction is done for which it waited for others.
  bool ResumeFromBarrier(SlotId slot);
  // Asks the policy once more about the resolve that it has refused.
  bool AskAgain() { return AskPolicy(); }

  // There is a resolve that the policy has refused, or is being asked about.
  bool waits() const { return waits_; }
  // That resolve.
  const Resolution& pending() const { return pending_.resolution; }

 private:
  // A resolve, kept while the policy refuses it.
  struct PendingResolve {
    bool take = false;  // lanes of an in-flight slot
    Resolution resolution;
    Lanes lanes;
    PathGroups paths;
  };

  // Which barrier each lane is at, and the threads it expects, by operands. The run fails if there is no such barrier.
  const BarrierUnit::LaneBarriers* ReadBarrier(const Lanes& lanes, Pc pc);
  bool AskPolicy();
  // pending_.lanes and pending_.paths are set.
  bool Resolve(SlotId slot, ResolveReason reason, bool take);
  void ExitThreads(SlotId slot, const Lanes& lanes, LaneMask exited);
  // Calls function(hw_warp, lanes of it) for the threads of `mask`, ascending, in runs of lanes whose threads are of
  // one hardware warp; with static warps, one run.
  template <typename Function>
  void ForEachHwWarpRun(const Lanes& lanes, LaneMask mask, Function function) const;

  SmParts& sm_;
  ExitListener& listener_;
  bool waits_ = false;
  PendingResolve pending_;
  OperandValues values_;
  BarrierUnit::LaneBarriers lane_barriers_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_RESOLVE_UNIT_H_
