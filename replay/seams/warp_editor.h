// The one way to change the warps of an SM: what a divergence policy is given to do so.
#ifndef HEDDLE_REPLAY_SEAMS_WARP_EDITOR_H_
#define HEDDLE_REPLAY_SEAMS_WARP_EDITOR_H_

#include <cstdint>
#include <string_view>

#include "replay/seams/types.h"
#include "replay/seams/warp_table.h"

namespace heddle::replay {

// Guards the rule that no thread is lost or doubled. A thread is either in exactly one slot, or unassigned: live, in no
// slot, at a position that the editor knows. Every operation checks what it is given; a violation is recorded as an
// internal error that names the policy, the operation, slot and thread, the operation changes nothing, and the run
// stops with that error.
//
// During Resolve the threads of the resolving slot are unassigned at their next positions; when Resolve returns, the
// slot must be placed again or dissolved, and every thread that stays unassigned is one that the policy will place
// later.
//
// An interface: the engines' own is behind Formation::editor() (replay/warps/).
class WarpEditor {
 public:
  WarpEditor(const WarpEditor&) = delete;
  WarpEditor& operator=(const WarpEditor&) = delete;

  // The warps as they are now.
  const WarpTable& table() const { return table_; }
  virtual Cycle now() const = 0;
  virtual int warp_size() const = 0;
  // Position of an unassigned thread.
  virtual Position position_of(ThreadId thread) const = 0;
  virtual BlockId block_of(ThreadId thread) const = 0;
  // Linear index of the thread in its block.
  virtual uint32_t index_in_block(ThreadId thread) const = 0;

  // A new slot, offered, of unassigned threads that are all at `at`. Each thread must be in its home lane (ThreadId mod
  // warp size) unless the policy declares `any_lane`. The stop position is nowhere.
  virtual SlotId Spawn(Position at, const Lanes& lanes) = 0;
  // Like Spawn, but the slot starts parked.
  virtual SlotId SpawnParked(Position at, const Lanes& lanes, HeldReason reason) = 0;
  SlotId SpawnParked(Position at, const Lanes& lanes) { return SpawnParked(at, lanes, HeldReason::kInactive); }

  // Resolve only: the slot goes on as it is; all its threads are at one position. The cheapest way on.
  virtual void Continue(SlotId slot) = 0;
  // Resolve only: like Continue, but the slot is parked instead of offered.
  virtual void ContinueParked(SlotId slot, HeldReason reason) = 0;
  void ContinueParked(SlotId slot) { ContinueParked(slot, HeldReason::kInactive); }
  // Resolve, or a parked slot without threads: the slot now holds exactly these unassigned threads, and is offered.
  virtual void Place(SlotId slot, Position at, const Lanes& lanes) = 0;
  // Frees the slot; its threads become unassigned. Not while an instruction is in flight.
  virtual void Dissolve(SlotId slot) = 0;
  // Adds unassigned threads at the slot's position to an offered or parked slot, into lanes that are free there.
  virtual void Join(SlotId slot, const Lanes& lanes) = 0;
  // Moves the lanes of `mask` to a new slot in the same state (offered or parked), and returns it.
  virtual SlotId Split(SlotId slot, LaneMask mask) = 0;
  // Merges `from` into `into`: same position, disjoint lanes, both offered or parked. `from` is freed.
  virtual void Merge(SlotId from, SlotId into) = 0;
  // Offered <-> parked. Parking a parked slot changes the reason. A slot that is parked in Resolve loses its threads:
  // they are unassigned, and it may be placed later.
  virtual void Park(SlotId slot, HeldReason reason) = 0;
  void Park(SlotId slot) { Park(slot, HeldReason::kInactive); }
  virtual void Offer(SlotId slot) = 0;

  virtual void SetStop(SlotId slot, Position stop) = 0;
  virtual void SetPort(SlotId slot, uint8_t port) = 0;
  virtual void SetPriority(SlotId slot, uint8_t priority) = 0;
  virtual void SetGroup(SlotId slot, uint32_t group) = 0;
  // A parked slot counts as formed then (WarpTable::formed): for policies whose warps outlive their slots.
  virtual void SetAge(SlotId slot, uint64_t formed) = 0;
  // The slot issues `count` instructions that are not in the trace (a wrapper's, say) before its next traced one. They
  // take the pipeline's time and are counted apart from the traced ones.
  virtual void InsertInstructions(SlotId slot, uint32_t count) = 0;

  // Says why an unassigned thread is unassigned; threads are kInactive until told otherwise, and forgotten when placed.
  virtual void SetHeld(ThreadId thread, HeldReason reason) = 0;

  // Calls the policy's Timer(tag) in cycle `at`, after its completions and before selection. `at` may be the current
  // cycle: the timer then comes when the completions of this cycle are done or, if they are already, in the next cycle.
  virtual void StartTimer(Cycle at, uint64_t tag) = 0;

  // Reports a broken invariant of the policy's own; the run ends with this error.
  virtual void Fail(std::string_view what) = 0;
  // Reports that a structure of the policy, whose parameters give it a fixed size, has no room: which one, its size,
  // and what to do about it. The run ends with this as a refusal (FailedPrecondition): neither trace nor policy is
  // wrong.
  virtual void ReportLimitExceeded(std::string_view what) = 0;

 protected:
  explicit WarpEditor(const WarpTable& table) : table_(table) {}
  ~WarpEditor() = default;

 private:
  const WarpTable& table_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_WARP_EDITOR_H_
