// The parts of an SM that all front ends share.
#ifndef HEDDLE_REPLAY_CORE_SM_PARTS_H_
#define HEDDLE_REPLAY_CORE_SM_PARTS_H_

#include <cstdint>
#include <memory>

#include "replay/core/async_unit.h"
#include "replay/core/barrier_unit.h"
#include "replay/core/block_table.h"
#include "replay/core/control_flow.h"
#include "replay/core/event_notifier.h"
#include "replay/core/issue_accounting.h"
#include "replay/core/launch_context.h"
#include "replay/core/memory_port.h"
#include "replay/core/pending/write_back_queue.h"
#include "replay/core/rendezvous_unit.h"
#include "replay/core/shared_locator.h"
#include "replay/core/sm_run_state.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/types.h"
#include "replay/trace/thread_cursors.h"
#include "replay/warps/formation.h"

namespace heddle::replay {

// The stages of a front end are given these: each part has one job and guards its own state. A structure, with what
// several of them do together.
struct SmParts {
  // `horizon`: the longest usual time until a result of the front end's own units, in cycles.
  SmParts(const LaunchContext& launch_context, uint32_t sm, std::unique_ptr<DivergencePolicy> divergence,
          ChunkCache& cache, MemorySystem& system, MemoryClient& client, uint32_t horizon);
  SmParts(const SmParts&) = delete;
  SmParts& operator=(const SmParts&) = delete;

  const WarpTable& table() const { return formation.table(); }
  // Before anything else in a cycle.
  void BeginCycle(Cycle now) {
    run.now = now;
    formation.SetNow(now);
    blocks.BeginCycle();
    if (has_collectives) [[unlikely]]
      barriers.OpenDue();
    barriers.BeginCycle();
  }
  // Whether the slot, which is at `step`, has to leave the shared memory to the block before its own.
  bool SharedHeld(SlotId slot, const Step& step) const {
    return step.shared && blocks[table().block[slot]].former != BlockTable::kNone;
  }
  // Whether the slot, whose instruction `meets`, has to wait for other threads, or holds others than those of one warp.
  bool MustMeet(SlotId slot) const { return rendezvous.used() && !rendezvous.IsWhole(slot); }
  // The slot, which is in flight, arrives at its matrix instruction. The policy is told after the selection. The run
  // fails if threads of one warp wait for one another at two places.
  void ArriveAtRendezvous(SlotId slot);
  // The first group of the port issues; see RendezvousUnit::Issue. Returns a slot of its threads.
  SlotId IssueGroup(int port, Cycle result) {
    const RendezvousUnit::Group group = rendezvous.Issue(port, result);
    issues.CountGroup(port, group.slot, group.at.pc(), group.lanes);
    return group.slot;
  }
  // The lanes access memory.addresses() at `pc`: finds those in the shared memory of other blocks.
  void LocateShared(Pc pc, LaneMask lanes, const std::array<ThreadId, kMaxLanes>& threads) {
    if (steps[pc].cluster) [[unlikely]]
      locator.Locate(pc, lanes, threads, memory);
  }
  // A group of threads that have met is to issue; of this port.
  bool AnyGroupReady() const { return has_collectives && rendezvous.any_ready(); }
  bool AnyGroupReady(int port) const { return has_collectives && rendezvous.AnyReady(port); }
  // The slot issues the guarded instruction at `pc`: its threads take their guards if it is the first. Returns the
  // lanes that execute it.
  LaneMask IssueGuarded(SlotId slot, Pc pc);
  // Of `lanes`, those of the slot, which issue `step`: those that access memory.
  LaneMask LanesThatAccess(const Step& step, SlotId slot, LaneMask lanes) const {
    return step.guarded ? cursors.LanesUnderGuard(table().lanes[slot]) : step.LanesThatAccess(lanes);
  }
  // The lanes of the slot, which issues `step`, whose threads have recorded an address or values for it. Valid until
  // the next call.
  const Lanes& LanesThatRecord(const Step& step, SlotId slot) {
    const Lanes& lanes = table().lanes[slot];
    if (!step.guarded) [[likely]]
      return lanes;
    under_guard = {cursors.LanesUnderGuard(lanes), lanes.thread};
    return under_guard;
  }
  // The slot issues an instruction that is asynchronous: the run fails if the SM has too many of them under way.
  void IssueAsync(SlotId slot);

  // --- accesses that no slot makes by itself: of copies, and of threads that have met
  static bool IsCollective(AccessId access) { return access >= RendezvousUnit::kFirstAccess; }
  // The memory's replies.
  void CollectiveLanesDone(AccessId access, LaneMask lanes, Cycle at);
  // Returns whether anybody waits for it.
  bool CollectiveAcknowledged(AccessId access, Cycle at);
  // The next cycle after `now` with something to do for copies, threads that have issued together, or barriers of
  // clusters, unless the memory changes it; kNever if there is none. Only with collectives.
  Cycle NextCollective(Cycle now) const;
  // Whether there will be something to do for copies and threads that meet, if no warp issues. Only with collectives.
  bool AnyCollectiveUnderWay(Cycle now) const {
    return rendezvous.busy() || (async.used() && async.NextWake(now) != kNever);
  }

  // --- issues
  // What others than the statistics are told of an issue of one slot. Only if issues are unwatched.
  void NotifyIssue(SlotId slot) {
    run.last_progress = run.now;
    notifier.NotifyIssue(slot);
  }
  // An issue of `threads` threads of one hardware warp, of an instruction of the trace. Only if issues are unwatched.
  void CountIssueOfHwWarp(SlotId slot, uint32_t hw_warp, uint32_t threads) {
    NotifyIssue(slot);
    issues.AddIssuesOfHwWarp(hw_warp, threads, 1);
  }
  // The threads of an issue of the instruction at `pc`, which LaunchContext::HasUniformValues: counts and returns how
  // many times it issues, once per value that their uniform registers hold.
  uint32_t TakeUniformValues(Pc pc, SlotId slot);
  // Threads in warps of paused blocks, all of them or those in offered ones. Looks at all warps: only if some block is
  // paused.
  uint64_t PausedThreads(bool offered) const;
  // Whether the slot's block is paused.
  bool IsPaused(SlotId slot) const { return blocks.IsPaused(table().block[slot]); }
  // Threads that are live, by the formation's counts.
  uint64_t LiveThreads() const;

  // What every cycle looks at comes first, in few lines of the host's cache, which has forgotten the SM since its last
  // turn.
  const LaunchContext& context;
  const Step* const steps;  // by PC
  const uint32_t number;    // of the SM
  const std::unique_ptr<DivergencePolicy> policy;
  const uint32_t interests;    // of the policy
  const int issue_slots;       // that it lets issue together
  const bool has_collectives;  // of the launch: else nothing of them is asked for
  SmRunState run;
  MemoryPort memory;
  BlockTable blocks;
  WriteBackQueue write_back;
  Formation formation;
  BarrierUnit barriers;
  SharedLocator locator;
  EventNotifier notifier;
  ThreadCursors cursors;
  AsyncUnit async;
  RendezvousUnit rendezvous;
  ControlFlow control_flow;
  IssueAccounting issues;
  Lanes under_guard;  // of LanesThatRecord
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_SM_PARTS_H_
