// The one way to change the warps of an SM.
#ifndef HEDDLE_REPLAY_SEAMS_WARP_EDITOR_H_
#define HEDDLE_REPLAY_SEAMS_WARP_EDITOR_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_table.h"

namespace heddle::replay {

class Formation;

// Guards the rule that no thread is lost or doubled. A thread is either in exactly one slot, or loose: live, in no
// slot, at a position that the editor knows. Every operation checks what it is given; a violation is recorded as an
// internal error that names the policy, the operation, slot and thread, the operation changes nothing, and the run
// stops with that error.
//
// During Resolve the threads of the resolving slot are loose at their next positions; when Resolve returns, the slot
// must be placed again or dissolved, and every thread that stays loose is one that the policy will place later.
class WarpEditor {
 public:
  explicit WarpEditor(Formation& formation) : formation_(formation) {}

  const WarpTable& table() const;
  Cycle now() const;
  int warp_size() const;
  // Position of a loose thread.
  Position position_of(ThreadId thread) const;
  BlockId block_of(ThreadId thread) const;
  // Linear index of the thread in its block.
  uint32_t index_in_block(ThreadId thread) const;

  // A new slot, offered, of loose threads that are all at `at`. Each thread must be in its home lane (ThreadId mod warp
  // size) unless the policy declares `any_lane`. The stop position is nowhere.
  SlotId Spawn(Position at, const Lanes& lanes);
  // Like Spawn, but the slot starts parked.
  SlotId SpawnParked(Position at, const Lanes& lanes, HeldReason reason = HeldReason::kInactive);

  // Resolve only: the slot goes on as it is; all its threads are at one position. The cheapest way on.
  void Continue(SlotId slot);
  // Resolve only: like Continue, but the slot is parked instead of offered.
  void ContinueParked(SlotId slot, HeldReason reason = HeldReason::kInactive);
  // Resolve, or a parked slot without threads: the slot now holds exactly these loose threads, and is offered.
  void Place(SlotId slot, Position at, const Lanes& lanes);
  // Frees the slot; its threads become loose. Not while an instruction is in flight.
  void Dissolve(SlotId slot);
  // Adds loose threads at the slot's position to an offered or parked slot, into lanes that are free there.
  void Join(SlotId slot, const Lanes& lanes);
  // Moves the lanes of `mask` to a new slot in the same state (offered or parked), and returns it.
  SlotId Split(SlotId slot, LaneMask mask);
  // Merges `from` into `into`: same position, disjoint lanes, both offered or parked. `from` is freed.
  void Merge(SlotId from, SlotId into);
  // Offered <-> parked. Parking a parked slot changes the reason. A slot that is parked in Resolve loses its threads:
  // they are loose, and it may be placed later.
  void Park(SlotId slot, HeldReason reason = HeldReason::kInactive);
  void Offer(SlotId slot);

  void SetStop(SlotId slot, Position stop);
  void SetPort(SlotId slot, uint8_t port);
  void SetPriority(SlotId slot, uint8_t priority);
  void SetGroup(SlotId slot, uint32_t group);
  // A parked slot counts as formed then (WarpTable::formed): for policies whose warps outlive their slots.
  void SetAge(SlotId slot, uint64_t formed);
  // The slot issues `count` instructions that are not in the trace (a wrapper's, say) before its next traced one. They
  // take the pipeline's time and are counted apart from the traced ones.
  void InsertInstructions(SlotId slot, uint32_t count);

  // Says why a loose thread is loose; threads are kInactive until told otherwise, and forgotten when placed.
  void SetHeld(ThreadId thread, HeldReason reason);

  // Calls the policy's Timer(tag) in cycle `at`, after its completions and before selection. `at` may be the current
  // cycle: the timer then comes when the completions of this cycle are done or, if they are already, in the next cycle.
  void StartTimer(Cycle at, uint64_t tag);

  // Reports a broken invariant of the policy's own; the run ends with this error.
  void Fail(std::string_view what);
  // Reports that a structure of the policy, whose parameters give it a fixed size, has no room: which one, its size,
  // and what to do about it. The run ends with this as a refusal (FailedPrecondition): neither trace nor policy is
  // wrong.
  void MeetLimit(std::string_view what);

 private:
  Formation& formation_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_WARP_EDITOR_H_
