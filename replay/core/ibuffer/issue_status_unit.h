// Keeps what each warp of one SM waits for in step with what happens to it.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_ISSUE_STATUS_UNIT_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_ISSUE_STATUS_UNIT_H_

#include <cstdint>
#include <vector>

#include "replay/core/ibuffer/ibuffer_state.h"
#include "replay/core/ibuffer/instruction_buffers.h"
#include "replay/core/pending/event_wheel.h"
#include "replay/core/sm_parts.h"
#include "replay/seams/types.h"

namespace heddle::replay {

class IBufferView;

// Between buffers and issue: a warp may issue if its buffer has an instruction, the scoreboard lets it, and the policy
// offers it. Whoever changes one of these calls Update for the slots that it may concern.
//
// What is inlined here is done for every instruction of a regular warp; Update is the general way.
class IssueStatusUnit {
 public:
  IssueStatusUnit(SmParts& sm, IBufferState& state, InstructionBuffers& buffers)
      : sm_(sm), state_(state), buffers_(buffers), later_(state.setup.reformed_warp_cycles) {}

  // Looks at every slot that the formation has changed.
  void TakeChanges() {
    if (sm_.formation.AnyChange()) TakeAllChanges();
  }
  // Works out the slot's issue status, and whether it can be fetched for.
  void Update(SlotId slot);
  // The buffer of a regular warp or the scoreboard has changed. Whether it can be fetched for is looked at apart.
  [[gnu::always_inline]] void UpdateRegular(SlotId slot, WarpEntry& warp) {
    IBufferState& state = state_;
    const IssueStatus status = StatusOfRegular(state, warp);
    if (status.off_core() != warp.long_wait_notified) [[unlikely]]
      ChangeLongWait(slot, warp);
    state.issue_status.SetSame(slot, status);
  }
  // Registers of the hardware warp have been released: looks again at the warps with threads of it that wait for data.
  [[gnu::always_inline]] void UpdateWaiting(uint32_t hw_warp) {
    if (const SlotId only = state_.hw_warps[hw_warp].only; only != kNoSlot) {
      UpdateIfWaiting(only);
      return;
    }
    UpdateSeveralWaiting(hw_warp);
  }
  // Registers of the hardware warp have been taken by `slot`, which has been looked at: other warps with threads of the
  // hardware warp may have to wait for them now.
  void UpdateOthers(uint32_t hw_warp, SlotId slot) {
    for (const SlotId other : state_.hw_warps[hw_warp].slots) {
      if (other != slot) Update(other);
    }
  }

  // The block is paused, or resumed.
  void PauseChanged(BlockId block);

  // --- waits for memory beyond the core, which policies and schedulers are told of
  bool any_long_wait() const { return !long_waits_.empty(); }
  // Of those that have begun in this cycle.
  void DeliverLongWaits();
  // The slot's wait, if it has been told of, is over: tells the scheduler.
  void EndLongWait(SlotId slot);
  // Waits that the policy has been told of may be over; if so it is told in the next cycle that is run.
  void LookForEnds() { ends_due_ = !told_.empty(); }
  bool any_end_due() const { return ends_due_; }
  // Tells the policy. `view` is the core's.
  void DeliverEnds(const IBufferView& view);

  // --- warps that may issue from a later cycle on: offers of one instruction in flight, and stall counts
  // The slot's warp issues nothing before cycle `until`, whatever it has: machine code says so.
  void Stall(SlotId slot, WarpEntry& warp, Cycle until) {
    warp.ready_at = until;
    later_.Add(until, {slot, Completion::kLanes, 0});
    if (!state_.pauses_travel) return;
    state_.hw_warps.ForEach(
        slot, warp, [&](uint32_t hw_warp, LaneMask own) { state_.pauses.Note(hw_warp, own, sm_.run.now, until); });
  }
  // Cycle `now` begins for those whose time has come.
  void TakeLater(Cycle now) {
    later_.Take(now, [this](const Completion& item) { Update(static_cast<SlotId>(item.id)); });
  }
  Cycle next_later() const { return later_.Next(); }

 private:
  void TakeAllChanges();
  void Changed(SlotId slot, bool threads);
  // The slot has other threads: it pauses until the pauses of all of them are over.
  void InheritPauses(SlotId slot, WarpEntry& warp);
  [[gnu::noinline]] IssueStatus StatusOf(SlotId slot, const WarpEntry& warp) const;
  IssueStatus StatusOfPaused(SlotId slot, const WarpEntry& warp) const;
  // The status of an offered warp with a buffer, which is `offered` if it lacks nothing but a unit.
  template <typename HazardOf>
  [[gnu::always_inline]] IssueStatus StatusAtHead(const IBufferState& state, IssueStatus offered, const WarpEntry& warp,
                                                  HazardOf hazard_of) const {
    if (state.stalls && warp.ready_at > sm_.run.now) [[unlikely]]
      return offered.In(WarpClass::kArithmetic);
    const IssueStep* step = nullptr;
    Scoreboard::Hazard hazard;
    const WarpClass at_head = ClassOfHead(warp, [&] {
      step = &state.setup.table[warp.head];
      return hazard = hazard_of(*step);
    });
    if (at_head == WarpClass::kStructural) return offered.Needs(step->unit);
    return offered.In(at_head).From(hazard.beyond_shared(), hazard.off_core());
  }
  [[gnu::always_inline]] IssueStatus StatusOfRegular(const IBufferState& state, const WarpEntry& warp) const {
    return StatusAtHead(state, warp.offered, warp, [&](const IssueStep& step) {
      return state.scoreboard.Check(warp.hw_warp, warp.own, step, warp.head, /*depth=*/0);
    });
  }
  Scoreboard::Hazard HazardOf(SlotId slot, const WarpEntry& warp, const IssueStep& step) const;
  [[gnu::always_inline]] void UpdateIfWaiting(SlotId slot) {
    IBufferState& state = state_;
    if (!state.issue_status.of(slot).waits_for_data()) return;
    WarpEntry& warp = state.warps[slot];
    if (warp.regular) {
      UpdateRegular(slot, warp);
    } else {
      Update(slot);
    }
  }
  // UpdateWaiting for hardware warps with threads in several slots.
  [[gnu::noinline]] void UpdateSeveralWaiting(uint32_t hw_warp);
  // The policy is to be told of the slot's wait, and later of its end.
  void NoteTold(SlotId slot);
  // The slot's status begins or ends to be a long wait.
  void ChangeLongWait(SlotId slot, WarpEntry& warp);

  SmParts& sm_;
  IBufferState& state_;
  InstructionBuffers& buffers_;
  std::vector<SlotId> long_waits_;  // slots that may have to be told of
  // A wait that the policy knows of, if it asks for them.
  struct Told {
    SlotId slot = kNoSlot;
    uint64_t formed = 0;
  };
  std::vector<Told> told_;
  bool ends_due_ = false;
  EventWheel later_;  // slots that may issue from a cycle on
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_ISSUE_STATUS_UNIT_H_
