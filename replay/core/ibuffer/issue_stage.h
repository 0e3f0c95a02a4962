// The issue stage of one SM: its ports, schedulers and execution units.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_ISSUE_STAGE_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_ISSUE_STAGE_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "replay/core/ibuffer/execution_units.h"
#include "replay/core/ibuffer/ibuffer_state.h"
#include "replay/core/ibuffer/instruction_buffers.h"
#include "replay/core/ibuffer/issue_status_unit.h"
#include "replay/core/ibuffer/register_ports.h"
#include "replay/core/ibuffer/result_stage.h"
#include "replay/core/resolve_unit.h"
#include "replay/core/sm_parts.h"
#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Lets the scheduler of each port pick a warp among those that lack nothing and whose unit is free, and issues its
// instruction: to an execution unit or to the memory.
class IssueStage {
 public:
  IssueStage(SmParts& sm, ResolveUnit& resolve, IBufferState& state, InstructionBuffers& buffers,
             IssueStatusUnit& status, ResultStage& results);

  // One selection of each port.
  void Select(Cycle now) {
    state_.ports.issued.fill(kNoSlot);
    state_.ports.issued_mask = 0;
    if (sm_.AnyGroupReady()) [[unlikely]]
      IssueGroups(now);
    if (state_.issue_status.ready_ports() != 0) SelectReady(now);
  }
  // The next cycle after `now` in which a warp that is ready now could issue, as far as the units decide; kNever if
  // there is none.
  [[gnu::always_inline]] inline Cycle NextIssue(Cycle now) const;
  // Whether some port has a warp that lacks nothing but the memory stage.
  bool AnyReadyForMemory() const;
  // Whether an instruction that needs such a unit could issue in the present cycle.
  bool HasRoom(UnitClass unit) const {
    const Cycle now = sm_.run.now;
    return unit == UnitClass::kMemory ? MemoryFree(now) : now >= units_.NextFree(unit);
  }
  // What a slot that is ready waits for, in the words "wait for ...".
  std::string WhatReadyWaitsFor(UnitClass unit) const;

  // --- parts of an issue, for the fast path, too
  ExecutionUnits& units() { return units_; }
  // Of lanes that an instruction of the slot is issued in.
  uint32_t LaneGroups(SlotId slot) const { return LaneGroupsOf(sm_.table().lanes[slot].mask); }
  // Holds the port as long as the policy says.
  void TakePenalty(int port, SlotId slot, Cycle now) {
    const int penalty = sm_.policy->IssuePenalty(slot, sm_.table());
    if (penalty <= 0) return;
    IssuePorts& ports = state_.ports;
    ports.free[port] = now + 1 + static_cast<Cycle>(penalty);
    ports.held_until = std::max(ports.held_until, ports.free[port]);
  }
  // The scheduler has picked a slot that it must not.
  void FailPick(int port, SlotId slot, Cycle now);

 private:
  // Some warp is ready.
  void SelectReady(Cycle now);
  // SelectReady where the ports take turns to be first; of those in `free_ports` (bits).
  void SelectInTurn(uint32_t free_ports, Cycle now);
  [[gnu::always_inline]] inline const SlotSet* Eligible(int port, Cycle now);
  bool MemoryFree(Cycle now) const { return now >= memory_free_ && sm_.memory.memory().StageFree(); }
  [[gnu::always_inline]] inline bool TryPort(int port, Cycle now);
  void NoteIssue(int port, SlotId slot, Cycle now) {
    state_.issue_status.Issued(slot, now);
    state_.ports.issued[port] = slot;
    state_.ports.last_issued[port] = slot;
  }
  void Issue(int port, SlotId slot, Cycle now);
  // Issue for an instruction of a regular warp that is `simple`, if issues are unwatched.
  [[gnu::always_inline]] inline void IssueRegular(int port, SlotId slot, WarpEntry& warp, const IssueStep& step,
                                                  Cycle now);
  // What control bits ask for at the issue of an instruction of the slot: its warp pauses, and its port waits for its
  // operands. Returns for how many cycles.
  Cycle TakeControl(int port, SlotId slot, WarpEntry& warp, Pc pc, Cycle now);
  void IssueInserted(int port, SlotId slot, Cycle now);
  // Threads that have come together for a matrix instruction go before the warps of their port.
  void IssueGroups(Cycle now);
  // The slot waits for others at its matrix instruction.
  void MeetOthers(int port, SlotId slot);
  uint32_t LaneGroupsOf(LaneMask lanes) const;
  // An asynchronous instruction, or an arrival at a barrier at which the slot does not wait, takes effect.
  void IssueCollective(SlotId slot);
  // The instruction gets a number in flight, and goes to the memory or has its result in cycle `result`. The lanes of
  // `executing` have a guard that holds, or none.
  [[gnu::always_inline]] inline uint32_t Launch(SlotId slot, const WarpEntry& warp, LaneMask lanes, bool holds,
                                                bool writes, LaneMask executing, Cycle result, Cycle now);
  // How many times an instruction issues whose threads recorded values of uniform registers: the port is held for each.
  // The threads' addresses are taken first.
  uint32_t IssuesPerValue(int port, SlotId slot, const WarpEntry& warp, LaneMask lanes, Cycle now);
  // The addresses of the access for the memory; false if it needs none. The threads go past them.
  bool TakeAddresses(SlotId slot, const WarpEntry& warp, LaneMask mask);
  void SubmitAccess(SlotId slot, const WarpEntry& warp, LaneMask lanes, uint32_t in_flight_id, Cycle now);
  // Whether the policy wants to be asked before the slot goes on from `pc` to `next`.
  bool AsksAt(SlotId slot, Pc pc, Position next) const {
    return next == sm_.table().stop[slot] || ((sm_.interests & kEveryBlockEnd) != 0 && sm_.steps[pc].ends_block);
  }
  void MoveOn(int port, SlotId slot, const IssueStep& step);
  // The policy is asked where the slot goes on, at once.
  void AskToMoveOn(int port, SlotId slot);
  // The slot is in flight from now on.
  void HoldSlot(int port, SlotId slot, InFlightReason why, uint32_t in_flight_id);

  SmParts& sm_;
  ResolveUnit& resolve_;
  IBufferState& state_;
  InstructionBuffers& buffers_;
  IssueStatusUnit& status_;
  ResultStage& results_;
  Cycle memory_free_ = 0;        // the memory stage's input
  bool took_addresses_ = false;  // what TakeAddresses has returned to IssuesPerValue
  ExecutionUnits units_;
  RegisterPorts register_ports_;
  SlotSet eligible_;
};

inline Cycle IssueStage::NextIssue(Cycle now) const {
  const IBufferState& state = state_;
  const Cycle next = now + 1;
  const uint32_t free_classes = next >= state.ports.held_until ? units_.FreeClasses(next) : 0;
  Cycle wake = kNever;
  for (uint32_t ports = state.issue_status.ready_ports(); ports != 0 && wake != next; ports &= ports - 1) {
    const int port = std::countr_zero(ports);
    const uint32_t units = state.issue_status.ready_units(port);
    if ((units & free_classes) != 0) return next;  // mostly
    const Cycle port_free = std::max(next, state.ports.free[port]);
    const auto ready_from = [&](UnitClass unit, Cycle free) {
      if ((units >> static_cast<int>(unit) & 1) != 0) wake = std::min(wake, std::max(port_free, free));
    };
    ready_from(UnitClass::kSp, units_.NextFree(UnitClass::kSp));
    ready_from(UnitClass::kSfu, units_.NextFree(UnitClass::kSfu));
    ready_from(UnitClass::kTensor, units_.NextFree(UnitClass::kTensor));
    if (units_.has_more()) {
      ready_from(UnitClass::kInteger, units_.NextFree(UnitClass::kInteger));
      ready_from(UnitClass::kDp, units_.NextFree(UnitClass::kDp));
    }
    // A memory stage that is not free becomes so in a cycle of the memory.
    if (sm_.memory.memory().StageFree()) ready_from(UnitClass::kMemory, memory_free_);
  }
  return wake;
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_ISSUE_STAGE_H_
