// The end of instructions on one SM: what is in flight, write-back, and stores for fences.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_RESULT_STAGE_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_RESULT_STAGE_H_

#include <cstdint>
#include <vector>

#include "replay/core/ibuffer/ibuffer_state.h"
#include "replay/core/ibuffer/issue_status_unit.h"
#include "replay/core/pending/write_back_queue.h"
#include "replay/core/resolve_unit.h"
#include "replay/core/sm_parts.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Registers are given back, branches resolve, and warps go on. If the policy refuses a resolve, write-back stops there
// and everything behind it waits.
class ResultStage {
 public:
  ResultStage(SmParts& sm, ResolveUnit& resolve, IBufferState& state, IssueStatusUnit& status)
      : sm_(sm), resolve_(resolve), state_(state), status_(status) {}

  // --- from issue
  // A number for an instruction of the slot that has a result to come.
  uint32_t Launch(SlotId slot, const WarpEntry& warp, Pc pc);
  // Where each thread has a scoreboard: only these lanes of the slot, whose threads are `lanes`, carry the instruction
  // out.
  void NoteOwners(uint32_t id, const Lanes& lanes, LaneMask executing);
  // The instruction in flight takes its registers; by control bits it raises its barriers.
  void ReserveRegisters(uint32_t id, const InFlightEntry& entry, Position at, uint8_t producer);
  // The instruction in flight is a store that fences wait for.
  void ListStore(uint32_t id, InFlightEntry& entry);
  // The slot is done with its instruction, in the cycle of its issue.
  void FinishAtIssue(SlotId slot);
  // Whether stores of the slot's threads are on their way; the slot waits for them.
  bool StoresPending(SlotId slot, const WarpEntry& warp) const;
  void WaitForStores(SlotId slot) { fence_waits_.push_back(slot); }
  // Other warps than `slot` with threads of the hardware warps of an instruction in flight have to be looked at.
  void UpdateOthers(uint32_t id, SlotId slot);

  // --- write-back in a cycle
  void Complete(Cycle now) {
    if (state_.one_in_flight || state_.stalls || resolve_.waits()) CompleteWaiting(now);
    if (sm_.write_back.AnyDue(now)) TakeDue(now);
  }
  // Results that the memory has reported for the present cycle, after Complete.
  void CompleteReported(Cycle now) {
    if (!due_again_) return;
    due_again_ = false;
    TakeDue(now);
  }
  bool reported() const { return due_again_; }

  // --- the memory's replies
  // Whether a reply for lanes changes nothing but which of them are outstanding; it has been taken then.
  bool TakeUnnoticed(uint32_t id, LaneMask lanes, Cycle at);
  // A reply that write-back has to deal with in cycle `at`.
  void Report(Cycle at, const Completion& result) {
    due_again_ |= at <= sm_.run.now;
    sm_.write_back.Add(at, result);
  }
  // A store that nobody waits for is acknowledged.
  void ForgetStore(uint32_t id);
  // The instruction's data come from beyond the core.
  void MarkOffCore(uint32_t id);

  // --- blocks
  // All threads of the block have exited: it retires when its results have come.
  void BlockExited(BlockId block) {
    if (!ResultsDue(block) && !sm_.async.Busy(block)) retiring_.push_back(block);
  }
  // Blocks that retire at the end of the cycle.
  std::vector<BlockId>& retiring() { return retiring_; }
  const std::vector<BlockId>& retiring() const { return retiring_; }

 private:
  // What comes before the results that are due: offers that take effect, and what a policy has refused so far.
  void CompleteWaiting(Cycle now);
  void TakeDue(Cycle now);
  // False if the policy refused: write-back is blocked from here on.
  bool Process(const Completion& item);
  // The arithmetic instruction at `pc` of a slot of this hardware warp alone has its results.
  void ProcessRegisters(uint32_t hw_warp, Pc pc);
  bool ProcessLanes(uint32_t id, LaneMask lanes);
  // Operands of the hardware warp are read: lowers their barrier.
  void ProcessOperands(uint32_t hw_warp, uint32_t reading);
  // Looks at the slots in released_.
  void UpdateReleased();
  bool by_thread() const { return state_.scope == ScoreboardScope::kThread; }
  // The registers and hardware warps of an instruction in flight that has all its results.
  [[gnu::always_inline]] inline void Release(uint32_t id, const InFlightEntry& entry);
  void Acknowledge(uint32_t id);
  // One of the hardware warp's results has come.
  void CountResult(uint32_t hw_warp) {
    if (--state_.hw_warps[hw_warp].results_due == 0 && sm_.blocks.live_in_hw_warp(hw_warp) == 0) HwWarpDone(hw_warp);
  }
  // The hardware warp has no live thread, and none of its instructions has a result to come.
  void HwWarpDone(uint32_t hw_warp);
  bool ResultsDue(BlockId block) const;
  bool ByBits(const InFlightEntry& entry) const {
    return state_.scoreboard.by_bits() && entry.hw_warp != kMixedHwWarps;
  }
  // The registers of lanes whose data have come, where each thread has a scoreboard.
  void ReleaseThreads(uint32_t id, const InFlightEntry& entry, LaneMask lanes);
  // Calls function(hw_warp, lanes) for the hardware warps of an instruction in flight, and the threads for which it
  // writes.
  template <typename Function>
  void ForEachHwWarpOf(uint32_t id, const InFlightEntry& entry, Function function) {
    if (entry.hw_warp != kMixedHwWarps) {
      function(entry.hw_warp, entry.owners);
    } else {
      for (const HwWarpLanes& one : state_.in_flight.hw_warps(id)) function(one.hw_warp, one.lanes);
    }
  }

  SmParts& sm_;
  ResolveUnit& resolve_;
  IBufferState& state_;
  IssueStatusUnit& status_;
  bool due_again_ = false;  // the memory has reported results for the present cycle
  uint32_t readings_ = 0;   // numbers of readings, from kReadings on, that were given so far; they go round
  std::vector<BlockId> retiring_;
  std::vector<SlotId> fence_waits_;  // slots whose fence waits for stores
  std::vector<SlotId> released_;     // slots that a result may have freed, for use in Release
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_RESULT_STAGE_H_
