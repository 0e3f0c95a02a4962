// One HARP warp scheduler: its tables, and the way of warps between them (HARP, section 4.2, Figure 7).
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_SCHEDULER_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "replay/policies/divergence/harp/harp_counters.h"
#include "replay/policies/divergence/harp/harp_options.h"
#include "replay/policies/divergence/harp/harp_timer.h"
#include "replay/policies/divergence/harp/issue_levels.h"
#include "replay/policies/divergence/harp/low_water.h"
#include "replay/policies/divergence/harp/pending_commits.h"
#include "replay/policies/divergence/harp/ready_lookup.h"
#include "replay/policies/divergence/harp/waiting_lookup.h"
#include "replay/policies/divergence/shared/reconvergence_barriers.h"
#include "replay/seams/divergence_policy.h"

namespace heddle::replay {

// Every rule is beside the function that keeps it. A slot that is offered is in the First-Level, a parked one in the
// Second-Level or the Ready-Lookup or on its way, one in flight in the pipeline or the Waiting-Lookup. Unassigned
// threads have reached a barrier, or wait for the data of other members of their warp.
class HarpScheduler {
 public:
  // `port`: its number. Options and counters must outlive this.
  HarpScheduler(const HarpOptions& options, uint8_t port, HarpCounters& counters);

  // A block enters. `own_hw_warp`: its first hardware warp among those of the scheduler.
  void Admit(const BlockAdmission& admission, size_t own_hw_warp, WarpEditor& editor);
  void Retire(Cycle now);
  // The warp leaves the First-Level. `waits_for_memory`: its threads may gather with others until their data come.
  void Issued(SlotId slot, bool waits_for_memory, WarpEditor& editor);
  void Resolve(const Resolution& resolution, WarpEditor& editor);
  void Timer(const HarpTimer& timer, WarpEditor& editor);
  // Its barriers, for people; empty if there are none.
  std::string Text() const { return barriers_.Text(); }

 private:
  // A warp that was revived by its barrier and waits for the port into the Second-Level.
  struct RevivedWarp {
    Position at;
    Lanes lanes;
  };

  // --- slots

  // A new warp of unassigned threads, parked; kNoSlot if the editor refused it.
  SlotId SpawnParked(Position at, const Lanes& lanes, HeldReason reason, WarpEditor& editor);
  // A new warp of unassigned threads that is ready.
  void SpawnReady(Position at, const Lanes& lanes, WarpEditor& editor);
  // The warp ends; its threads become unassigned.
  void Dissolve(SlotId slot, WarpEditor& editor);
  static void Hold(const Lanes& lanes, LaneMask mask, HeldReason reason, WarpEditor& editor);
  // The Second-Level holds the warps that are in no other table: ready, in the pipeline, or at a barrier.
  void CheckSecondLevel(WarpEditor& editor);
  // To be called after every change of the ready warps or of the resident blocks.
  void TrackLowWater(Cycle now) { low_water_.Set(resident_ > 0 && levels_.ready() < options_.low_water, now); }

  // --- commit

  // Threads of a committed warp go on. `slot` resolves, or is kNoSlot and the threads are unassigned. `whole`: none of
  // the slot's threads has ended.
  void Apply(SlotId slot, std::span<const PathGroup> groups, const Lanes& lanes, Position reconvergence, bool whole,
             WarpEditor& editor);
  // Unassigned threads that go on as one warp commit.
  void Commit(Position at, const Lanes& lanes, WarpEditor& editor);
  // The pipelined table: what follows from the search comes barrier_latency - 1 cycles after the commit.
  void Postpone(SlotId slot, const Resolution& resolution, WarpEditor& editor);
  // A commit to be applied when its search is done, and doing so.
  PendingCommit& NewCommit(WarpEditor& editor);
  void ApplyPostponed(uint32_t index, WarpEditor& editor);
  // The slot's accesses are done. False if it goes on as it is.
  bool LeaveWaitingLookup(const Resolution& resolution, WarpEditor& editor);
  // Diverged threads join warps of the Ready-Lookup; the others become a new one there, or miss the chance if the table
  // is full (section 4.2.1).
  void MergeReady(Position at, const Lanes& lanes, BlockId block, WarpEditor& editor);

  // --- barriers

  // Threads of a diverged warp are to meet at `point`.
  void Reserve(Position point, BlockId block, const Lanes& live);
  // Unassigned threads have come to `at`; those that a barrier waits for there are taken out of `lanes`. Warps that are
  // complete come back to life and, at the same point, may be what an outer barrier waits for.
  void Arrive(Position at, Lanes& lanes, WarpEditor& editor);
  // Frees the barriers in `complete_`, each with what follows from it before the next.
  void ReviveAll(WarpEditor& editor);

  // --- moves into the Second-Level

  // A revived warp leaves the barrier table.
  void EnterSecondLevel(const RevivedWarp& warp, WarpEditor& editor);
  // Calls Transitions when the completions of this cycle are done.
  void Watch(WarpEditor& editor);
  // Section 4.2.3: revived warps first, then, while few warps are ready, the oldest of the Ready-Lookup.
  void Transitions(WarpEditor& editor);

  const HarpOptions& options_;
  const uint8_t port_;
  HarpCounters& counters_;
  ReconvergenceBarriers barriers_;
  IssueLevels levels_;
  ReadyLookup ready_lookup_;
  WaitingLookup waiting_lookup_;
  PendingCommits commits_;
  LowWater low_water_;
  std::deque<RevivedWarp> revived_;  // first in first out
  int warps_ = 0;                    // slots of this scheduler
  int resident_ = 0;                 // blocks
  bool watched_ = false;             // a timer for the transitions is running
  std::vector<uint32_t> complete_;   // scratch
  std::vector<uint32_t> inner_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_SCHEDULER_H_
