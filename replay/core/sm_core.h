// One SM while a launch runs: what all front ends share.
#ifndef HEDDLE_REPLAY_CORE_SM_CORE_H_
#define HEDDLE_REPLAY_CORE_SM_CORE_H_

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "replay/core/control_flow.h"
#include "replay/core/launch_context.h"
#include "replay/core/write_back_queue.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/formation.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_scheduler.h"
#include "replay/stats/sm_counters.h"
#include "replay/stats/warp_progress.h"
#include "replay/trace/thread_cursors.h"

namespace heddle::replay {

enum class PortLoss : uint8_t;

// A thread block on its way in.
struct BlockArrival {
  uint64_t position = 0;      // among the recorded blocks of the launch
  uint64_t linear_index = 0;  // in the grid
  RecordedBlock recorded;
};

// A warp of a thread block on its way in, from a dispatcher that gives single warps.
struct WarpArrival {
  BlockArrival block;         // enters with the first of its warps that does
  uint32_t warp = 0;          // of the block: which row of warp-size threads
  uint32_t row = 0;           // of the SM: the free row of warp-size hardware threads that takes it
  uint32_t instructions = 0;  // that the warp issues before those of the trace
  // The block is what virtual thread block `place` of the SM runs in this iteration, from 0. Its warps are the same as
  // in the iteration before, with the same age on the same port; and as long as the block of that iteration has
  // threads, they may not touch shared memory.
  struct Virtual {
    uint32_t place = 0;
    uint64_t iteration = 0;
  };
  std::optional<Virtual> virtual_block;
};

// Blocks and their barriers, control flow and the policy's answers to it, exits, and what is told to whom. A front end
// derives from it: it decides when instructions issue and when their results come, and counts where the cycles go.
//
// Runs a cycle only when something can happen in it; skipped cycles are credited to the statistics with the state they
// had. Running a cycle too early is harmless. `docs/reference/timing.md` has the order within a cycle.
class alignas(64) SmCore : public MemoryClient {
 public:
  SmCore(const SmCore&) = delete;
  SmCore& operator=(const SmCore&) = delete;

  const WarpTable& table() const { return formation_.table(); }
  const Cycle& clock() const { return formation_.clock(); }
  // One scheduler per port, before anything runs. They are made of the warp table, which exists only with the core.
  virtual void SetSchedulers(std::vector<std::unique_ptr<WarpScheduler>> schedulers);

  // A block enters after the cycle before `first`: its warps may issue (thesis) or be fetched for in cycle `first`.
  void Admit(const BlockArrival& arrival, Cycle first);
  // The same for one warp of a block.
  void AdmitWarp(const WarpArrival& arrival, Cycle first);
  // The dispatcher has no block left.
  void GridAssigned();
  // Simulates cycle `now`; cycles since the last call had nothing to do.
  virtual void RunCycle(Cycle now) = 0;
  // The next cycle in which something can happen, kNever if nothing will without help from outside. Call it after
  // RunCycle(now) or Admit.
  virtual Cycle NextWake(Cycle now) const = 0;
  // Both in one, for who runs the SM again and again: returns NextWake(now), or `now` if there is more to know: a block
  // has retired, a row was freed, something failed or hangs, or the SM may run alone.
  virtual Cycle RunTurn(Cycle now) = 0;
  // Cycles that the SM has run without the others.
  struct Stretch {
    Cycle until = 0;  // the first cycle after those that were run
    Cycle next = 0;   // the cycle that it is to be looked at in
    bool stopped =
        false;  // in the last cycle, `next`, a block retired or something failed, which is still to be dealt with
  };
  // Runs the cycles from `next` on that come before `limit`, until a block retires, something fails, or the memory is
  // not isolated any more. The SM must have a block, and its memory be isolated.
  virtual Stretch RunAlone(Cycle next, Cycle limit) = 0;
  // Credits the statistics up to cycle `until`: everything before it has been run, nothing in it. At the end of the
  // launch, and between events where somebody wants to read the counters.
  virtual void CreditUntil(Cycle until) = 0;
  // Checks what must hold when the last block has retired. Errors: Internal, naming what is left over.
  virtual absl::Status CheckDrained() const { return absl::OkStatus(); }

  uint32_t number() const { return sm_; }
  int resident() const { return resident_; }
  // Who a resident thread or block is, for those that watch.
  uint64_t grid_index(BlockId block) const { return blocks_[block].linear_index; }
  BlockId block_of(ThreadId thread) const { return formation_.block_of(thread); }
  uint32_t index_in_block(ThreadId thread) const { return formation_.index_in_block(thread); }
  // Threads that have exited in this launch.
  uint64_t exited_threads() const { return exited_threads_; }
  // Positions of the blocks that retired in the cycle that was run last.
  std::span<const uint64_t> retired() const { return retired_; }
  // Rows of warp-size hardware threads whose warp has ended, in the cycle that was run last, with all its instructions.
  std::span<const uint32_t> freed_rows() const { return freed_rows_; }
  // Whether a warp may be given to the row.
  bool RowIsFree(uint32_t row) const { return row < row_is_free_.size() && row_is_free_[row] != 0; }
  // Instructions that the row's present or last warp has issued.
  uint64_t InstructionsOfRow(uint32_t row) const { return warp_progress_.instructions(row); }
  // The first cycle that the blocks retired by RunCycle(now) do not need any more.
  virtual Cycle EndOfRetired(Cycle now) const = 0;
  bool ok() const { return !failed_; }
  // The first error: of the policy, of the recording, or a deadlock that this SM found.
  absl::Status status() const;

  // The SM's part of the memory; it lives as long as the core.
  const SmMemory& memory() const { return *memory_; }

  const SmCounters& counters() const { return counters_; }
  const DivergencePolicy& policy() const { return *policy_; }
  std::span<const std::unique_ptr<WarpScheduler>> schedulers() const { return schedulers_; }
  // Writes what only this front end counts.
  virtual void FillResult(result::v1::LaunchResult& /*result*/) const {}

  // Nothing has issued or completed for kNoProgressLimit cycles though a block is resident: nothing will any more,
  // unless the memory is slow. (An SM whose policy runs every cycle never falls silent, so that a hang does not show by
  // itself.)
  static constexpr Cycle kNoProgressLimit = Cycle{1} << 20;
  bool hung() const { return hung_; }
  // The last cycle in which something issued or completed, or a block came.
  Cycle last_progress() const { return last_progress_; }
  // One line on what every thread of the SM waits for; empty if no block is resident.
  std::string ExplainDeadlock() const;

  // MemoryClient.
  void CacheEvent(const CacheNotice& notice) override;

 protected:
  struct Barrier {
    uint32_t arrived = 0;   // threads
    uint32_t expected = 0;  // 0 = all live threads of the block
    std::vector<SlotId> slots;
  };
  static constexpr BlockId kNoBlock = 0xffff;
  struct ResidentBlock {
    bool resident = false;
    bool exited = false;  // all its threads, and the policy knows
    uint64_t position = 0;
    uint64_t linear_index = 0;
    uint32_t live = 0;              // threads, those of warps that have not come yet included
    uint32_t place = 0;             // of its virtual block
    BlockId former = kNoBlock;      // of the same virtual block, has threads left
    std::vector<Barrier> barriers;  // by dense number
  };
  // A resolve, kept while the policy refuses it (resolve_waits_).
  struct PendingResolve {
    bool take = false;  // lanes of an in-flight slot
    Resolution resolution;
    Lanes lanes;
    PathGroups paths;
  };

  // `horizon`: the longest usual time until a result of the front end's own units, in cycles.
  SmCore(const LaunchContext& context, uint32_t sm, std::unique_ptr<DivergencePolicy> policy, ChunkCache& cache,
         MemorySystem& memory, uint32_t horizon);

  // RunTurn and RunAlone for a front end, whose functions are known here.
  template <typename FrontEnd>
  static Cycle RunTurnOf(FrontEnd& core, Cycle now) {
    core.RunCycle(now);
    const bool more =
        core.failed_ || core.hung_ || !core.retired_.empty() || !core.freed_rows_.empty() || core.memory_->isolated();
    return more ? now : core.NextWake(now);
  }
  template <typename FrontEnd>
  static Stretch RunStretch(FrontEnd& core, Cycle next, Cycle limit) {
    Stretch stretch{next, next, false};
    while (stretch.next < limit) {
      const Cycle at = stretch.next;
      core.RunCycle(at);
      stretch.until = at + 1;
      if (core.EndsStretch(stretch)) break;
      stretch.next = core.NextWake(at);
    }
    return stretch;
  }
  // Whether the SM cannot go on alone after the last cycle that was run.
  bool EndsStretch(Stretch& stretch) const {
    if (!retired_.empty() || !ok() || hung_) {
      stretch.next = stretch.until - 1;
      stretch.stopped = true;
      return true;
    }
    if (memory_->isolated()) return false;
    // Whether the network has room for a request was asked before the network has come to this cycle.
    stretch.next = stretch.until;
    return true;
  }

  // --- what a front end adds
  // Credits the cycles before `until` that have not been counted; comes before any change.
  virtual void Credit(Cycle until) = 0;
  // Threads of these rows of warp-size hardware threads have been given to the policy.
  virtual void WarpsAdmitted(uint32_t /*first_row*/, uint32_t /*rows*/) {}
  // All threads of the block have exited, and the policy has been told. Once per block.
  virtual void BlockExited(BlockId block) = 0;
  // The last live thread of a row of warp-size hardware threads has exited; it was in `slot`.
  virtual void RowExited(SlotId /*slot*/, uint32_t row) { FreeRow(row); }
  // A slot that SharedHeld() stopped may go on.
  virtual void SharedReleased() {}
  // What an offered or in-flight slot waits for, in the words "wait for ...".
  virtual std::string WhatSlotWaitsFor(SlotId slot) const = 0;

  // --- sm_core.cc
  // Before anything else in a cycle.
  void BeginCycle(Cycle now) {
    now_ = now;
    formation_.SetNow(now);
    retired_.clear();
    freed_rows_.clear();
    if (opened_.empty()) return;  // what opens from here on releases in the next cycle
    releasing_.swap(opened_);
    resuming_.swap(opened_slots_);
  }
  void RetireBlock(BlockId block);
  // The row's warp has ended, and nothing of it is on its way.
  void FreeRow(uint32_t row);
  // All threads of the block have exited: the block that takes over from it may use the shared memory.
  void ReleaseShared(BlockId block);
  // Whether the slot, which is at `step`, has to leave the shared memory to the block before its own.
  bool SharedHeld(SlotId slot, const Step& step) const {
    return step.shared && blocks_[table().block[slot]].former != kNoBlock;
  }
  void Fail(const absl::Status& status);
  // Steps 3 and 4 of a cycle: barriers that opened, timers, Tick. Whether there is anything to do.
  void RunBarriersAndTimers(Cycle now);
  bool BarriersOrTimersDue(Cycle now) const {
    return !releasing_.empty() || formation_.next_timer() <= now || (interests_ & kEveryCycle) != 0;
  }
  // Tells policy and schedulers of this cycle's barrier arrivals and long waits, in their order.
  void TellDeferred();
  bool AnyDeferred() const { return !deferred_.empty(); }
  // The slot has to wait for memory beyond the core.
  void DeferLongWait(SlotId slot) { deferred_.push_back({slot, 0, false}); }
  void TellLongWait(SlotId slot);
  void CheckProgress(Cycle now) { hung_ = resident_ != 0 && now - last_progress_ > kNoProgressLimit; }
  // Statistics and observer for a traced or inserted issue of one or several slots.
  void CountIssue(int port, Cycle now, std::span<const SlotId> slots, bool inserted);
  // The same of slots that hold `threads` threads.
  void CountIssue(int port, Cycle now, std::span<const SlotId> slots, uint32_t threads, bool inserted);
  // The same for one slot, quicker if nobody else wants to know.
  void CountOneIssue(int port, Cycle now, SlotId slot, bool inserted) {
    if (inserted || !issues_unwatched_) {
      CountIssue(port, now, std::span(&slot, 1), inserted);
      return;
    }
    const Lanes& lanes = formation_.table().lanes[slot];
    warp_progress_.Issued(lanes);
    CountTracedIssue(now, slot, static_cast<uint32_t>(std::popcount(lanes.mask)));
  }
  // The same for `threads` threads of one row, which issue an instruction of the trace; only if issues_unwatched().
  void CountRowIssue(Cycle now, SlotId slot, uint32_t row, uint32_t threads) {
    warp_progress_.IssuedInRow(row);
    CountTracedIssue(now, slot, threads);
  }
  // The same in two parts: all but the statistics, at the issue; the statistics of `issues` such issues, later.
  void TellIssue(Cycle now, SlotId slot) {
    last_progress_ = now;
    for (WarpScheduler* watcher : issue_watchers_) watcher->IssuedOnSm(slot);
  }
  void CountRowIssues(uint32_t row, uint32_t threads, uint64_t issues) {
    warp_progress_.IssuedInRow(row, issues);
    CountTracedIssues(threads, issues);
  }
  // Nobody but the statistics and schedulers wants to know of issues.
  bool issues_unwatched() const { return issues_unwatched_; }
  void Observe(int port, Cycle now, std::span<const SlotId> slots);
  // observe_states.cc: tells the observer of the slots that `state_of` gives a state, and of the ports.
  template <typename StateOf>
  void NotifyStates(Cycle first, uint64_t cycles, std::span<const PortLoss> ports, StateOf state_of) const;
  // profile.cc: with a profile only. An issue; cycles that a port lost while `slot` (kNoSlot: none) was the warp
  // closest to issue.
  void ProfileIssue(std::span<const SlotId> slots, bool inserted);
  void ProfileLoss(SlotId slot, PortLoss loss, bool waw, uint64_t cycles);
  // Whether an access counts as one to memory: some lane reaches beyond shared memory. `has_addresses`: addresses_ has
  // those of the lanes.
  bool ReachesBeyondShared(const Step& step, LaneMask lanes, bool has_addresses) const;
  // Gives the memory the access that the instruction of `slot` makes with `lanes`: hardware threads `threads`, and
  // addresses_ if `has_addresses`, both by lane.
  void SubmitToMemory(AccessId id, SlotId slot, LaneMask lanes, const std::array<ThreadId, kMaxLanes>& threads,
                      bool has_addresses, Cycle now);
  // Port cycles without an issue so far.
  uint64_t Stalls() const { return counters_.scheduler_cycles - counters_.issued; }
  // Threads that are live, by the formation's counts.
  uint64_t LiveThreads() const;

  // --- sm_resolve.cc: functions that return bool return false if the policy has no room; everything behind has to wait
  // The instruction of a slot that is in flight, or at a barrier that has opened, is done.
  bool FinishInstruction(SlotId slot, bool ask_after_barrier);
  // Lanes of a slot in flight go on without the others.
  bool TakeLanes(SlotId slot, LaneMask lanes);
  bool AskPolicy();
  bool Resolve(SlotId slot, ResolveReason reason, bool take);
  void ExitThreads(SlotId slot, const Lanes& lanes, LaneMask exited);
  // Calls function(row, lanes of it) for the threads of `mask`, ascending, in runs of lanes whose threads are of one
  // row of warp-size hardware threads; with static warps, one run.
  template <typename Function>
  void ForEachRowRun(const Lanes& lanes, LaneMask mask, Function function) const;

  // --- sm_barriers.cc
  // The slot's threads arrive; counted per block and barrier, not per warp or PC.
  void ArriveAtBarrier(SlotId slot, const Step& step);
  bool BarrierIsOpenFor(SlotId slot) const { return barriers_ahead_[slot] == 0; }
  bool ResumeFromBarrier(SlotId slot);
  void CheckBarriers(BlockId block);
  void OpenBarrier(BlockId block, uint8_t barrier);
  void ReleaseBarriers(Cycle now);
  bool barrier_opened() const { return !opened_.empty(); }

  struct Deferred {
    SlotId slot;
    uint8_t barrier;
    bool is_barrier;  // else a long wait
  };

  // What every cycle looks at comes first, in few lines of the host's cache, which has forgotten the SM since its last
  // turn.
  const LaunchContext& context_;
  const Step* const steps_;
  const std::unique_ptr<SmMemory> memory_;
  std::unique_ptr<DivergencePolicy> policy_;
  Cycle now_ = 0;
  Cycle last_progress_ = 0;
  const uint32_t sm_;
  const uint32_t interests_;
  const int issue_slots_;
  int resident_ = 0;
  bool failed_ = false;  // something has: status() says what
  bool hung_ = false;
  bool resolve_waits_ = false;  // pending_ is one that the policy has refused, or is being asked about
  std::vector<uint64_t> retired_;
  std::vector<uint32_t> freed_rows_;
  std::vector<BlockId> opened_;     // blocks with a barrier that releases in the next cycle
  std::vector<BlockId> releasing_;  // blocks with a barrier that releases in this cycle
  std::vector<Deferred> deferred_;
  std::vector<std::unique_ptr<WarpScheduler>> schedulers_;
  PendingResolve pending_;
  WriteBackQueue write_back_;
  Formation formation_;
  ThreadCursors cursors_;
  ControlFlow control_flow_;

  std::vector<ResidentBlock> blocks_;
  // By row of warp-size hardware threads:
  std::vector<uint16_t> live_in_row_;  // threads
  std::vector<BlockId> block_of_row_;  // of the present or the last warp
  std::vector<uint8_t> row_is_free_;
  uint64_t admitted_ = 0;  // blocks, or warps where they come one by one
  uint64_t exited_threads_ = 0;

  std::array<uint64_t, kMaxLanes> addresses_{};
  alignas(64) SmCounters counters_;
  WarpProgress warp_progress_;

 private:
  // A block comes, without threads so far.
  BlockId OpenBlock(const BlockArrival& arrival);
  // The threads of a block's warp come, loose, into a row. Returns the lanes that have one.
  LaneMask AddWarp(BlockId block, const RecordedBlock& recorded, uint32_t warp, uint32_t row);

  void BindToVirtualBlock(BlockId block, const WarpArrival::Virtual& virtual_block);
  // Of an issue by one slot: what schedulers and counters are told.
  void CountTracedIssue(Cycle now, SlotId slot, uint32_t threads) {
    TellIssue(now, slot);
    CountTracedIssues(threads, 1);
  }
  void CountTracedIssues(uint32_t threads, uint64_t issues) {
    counters_.warp_instructions += issues;
    counters_.thread_instructions += issues * threads;
    counters_.issues_by_size[threads - 1] += issues;
  }

  struct WarpIdentity {
    uint64_t age = 0;
    uint8_t port = 0;
  };
  std::vector<WarpIdentity> first_warp_;        // by row: of the first warp there
  std::vector<WarpScheduler*> issue_watchers_;  // schedulers that want IssuedOnSm
  std::vector<WarpScheduler*> cache_watchers_;  // schedulers that want CacheEvent
  const bool issues_unwatched_;
  std::vector<uint8_t> barriers_ahead_;  // by slot: barriers (of several blocks, if a policy mixes them) not open yet
  std::vector<SlotId> opened_slots_;     // slots that arrived at a barrier of opened_, once per block of theirs
  std::vector<SlotId> resuming_;         // the same of releasing_
  absl::Status status_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_SM_CORE_H_
