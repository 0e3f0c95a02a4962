// One SM while a launch runs: what all front ends share.
#ifndef HEDDLE_REPLAY_CORE_SM_CORE_H_
#define HEDDLE_REPLAY_CORE_SM_CORE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "replay/core/arrivals.h"
#include "replay/core/clusters/cluster_board.h"
#include "replay/core/launch_context.h"
#include "replay/core/resolve_unit.h"
#include "replay/core/sm_parts.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/issue_view.h"
#include "replay/seams/sm_activity.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {

// What the run of a launch sees of an SM, and what all front ends do alike: blocks come and go, barriers open, timers
// run out. A front end derives from it: it decides when instructions issue and when their results come, and counts
// where the cycles go. The state is in the parts (SmParts) and in the stages of the front end.
//
// Runs a cycle only when something can happen in it; skipped cycles are credited to the statistics with the state they
// had. Running a cycle too early is harmless. `docs/reference/timing.md` has the order within a cycle.
class alignas(64) SmCore : public MemoryClient, protected ExitListener, private ClusterMember {
 public:
  SmCore(const SmCore&) = delete;
  SmCore& operator=(const SmCore&) = delete;

  const WarpTable& table() const { return sm_.table(); }
  const Cycle& clock() const { return sm_.formation.clock(); }
  // What the slots lack to issue; lives as long as the core.
  virtual const IssueView& view() const = 0;
  // One scheduler per port, before anything runs. They are made of the warp table, which exists only with the core.
  void SetSchedulers(std::vector<std::unique_ptr<WarpScheduler>> schedulers) {
    sm_.notifier.SetSchedulers(std::move(schedulers));
  }

  // Of machines with a first-level data cache, before anything runs.
  void SetMemoryPolicy(std::unique_ptr<MemoryPolicy> policy) { sm_.memory.SetPolicy(std::move(policy)); }

  // A block enters after the cycle before `first`: its warps may issue, or be fetched for where there are instruction
  // buffers, in cycle `first`.
  void Admit(const BlockArrival& arrival, Cycle first);
  // One warp of a block enters, in the same way.
  void AdmitWarp(const WarpArrival& arrival, Cycle first);
  // The dispatcher has no block left.
  void GridAssigned();
  // The dispatcher pauses a resident block, or resumes it: what issues from cycle `first` on.
  void SetPaused(BlockId block, bool paused, Cycle first);
  // Simulates cycle `now`; cycles since the last call had nothing to do.
  virtual void RunCycle(Cycle now) = 0;
  // The next cycle in which something can happen, kNever if nothing will without help from outside. Call it after
  // RunCycle(now) or Admit.
  virtual Cycle NextWake(Cycle now) const = 0;
  // Both in one, for who runs the SM again and again: returns NextWake(now), or `now` if there is more to know: a block
  // has retired, a hardware warp was freed, something failed or hangs, or the SM may run alone.
  virtual Cycle RunTurn(Cycle now) = 0;
  // How far the SM has run ahead of the others.
  struct RunAhead {
    Cycle until = 0;  // the first cycle after those that were run
    Cycle next = 0;   // the cycle that it is to be looked at in
    // In the last cycle, `next`, a block retired or something failed, which is still to be dealt with.
    bool stopped = false;
  };
  // Runs the cycles from `next` on that come before `limit`, until a block retires, something fails, or the memory is
  // not isolated any more. The SM must have a block, and its memory be isolated.
  virtual RunAhead RunAlone(Cycle next, Cycle limit) = 0;
  // Credits the statistics up to cycle `until`: everything before it has been run, nothing in it. At the end of the
  // launch, and between events where somebody wants to read the counters.
  virtual void CreditUntil(Cycle until) = 0;
  // Checks what must hold when the last block has retired. Errors: Internal, naming what is left over.
  virtual absl::Status CheckDrained() const { return absl::OkStatus(); }

  uint32_t number() const { return sm_.number; }
  int resident() const { return sm_.blocks.resident(); }
  // Who a resident thread or block is, for those that watch.
  uint64_t grid_index(BlockId block) const { return sm_.blocks[block].linear_index; }
  // Where the block with this position in the order of dispatch is; BlockTable::kNone if it is not here.
  BlockId PlaceOf(uint64_t position) const { return sm_.blocks.Find(position); }
  bool HasBlockAt(BlockId place) const { return sm_.blocks[place].resident; }
  bool IsPaused(BlockId block) const { return sm_.blocks.IsPaused(block); }
  // The first hardware warp of a block that has come as a whole.
  uint32_t FirstHwWarpOf(BlockId block) const { return block * sm_.context.hw_warps_per_block; }
  BlockId block_of(ThreadId thread) const { return sm_.formation.block_of(thread); }
  uint32_t index_in_block(ThreadId thread) const { return sm_.formation.index_in_block(thread); }
  // Threads that have exited in this launch.
  uint64_t exited_threads() const { return sm_.blocks.exited_threads(); }
  // ClusterBoard::AnySm for the resident blocks.
  template <typename Is>
  bool AnySmOfItsClusters(Is is) const {
    if (sm_.context.clusters == nullptr) return false;
    for (size_t block = 0; block < sm_.blocks.size(); ++block) {
      const BlockTable::Block& resident = sm_.blocks[static_cast<BlockId>(block)];
      if (resident.resident && sm_.context.clusters->AnySm(resident.position, is)) return true;
    }
    return false;
  }
  // Positions of the blocks that retired in the cycle that was run last.
  std::span<const uint64_t> retired() const { return sm_.blocks.retired(); }
  // Hardware warps whose warp has ended, in the cycle that was run last, with all its instructions.
  std::span<const uint32_t> freed_hw_warps() const { return sm_.blocks.freed_hw_warps(); }
  // Whether a warp may be given to the hardware warp.
  bool HwWarpIsFree(uint32_t hw_warp) const { return sm_.blocks.HwWarpIsFree(hw_warp); }
  // Instructions that the hardware warp's present or last warp has issued.
  uint64_t InstructionsOfHwWarp(uint32_t hw_warp) const { return sm_.issues.progress().instructions(hw_warp); }
  // The first cycle that the blocks retired by RunCycle(now) do not need any more.
  virtual Cycle EndOfRetired(Cycle now) const = 0;
  bool ok() const { return !sm_.run.failed; }
  // The first error: of the policy, of the recording, or a deadlock that this SM found.
  absl::Status status() const;

  // The SM's part of the memory; it lives as long as the core.
  const SmMemory& memory() const { return sm_.memory.memory(); }

  const SmCounters& counters() const { return sm_.issues.counters(); }
  // What has been credited of it; cycles only if the context counts them.
  SmActivity activity() const;
  // The warps after the last cycle that was run.
  virtual SmWarps CountWarps() const = 0;
  const RemoteCounts& remote_counts() const { return sm_.memory.remote_counts(); }
  const DivergencePolicy& policy() const { return *sm_.policy; }
  // Null where there is no data cache.
  const MemoryPolicy* memory_policy() const { return sm_.memory.policy(); }
  std::span<const std::unique_ptr<WarpScheduler>> schedulers() const { return sm_.notifier.schedulers(); }
  // Writes what only this front end counts.
  virtual void FillResult(result::v1::LaunchResult& /*result*/) const {}

  // Nothing has issued or completed for kNoProgressLimit cycles though a block is resident: nothing will any more,
  // unless the memory is slow, or other SMs have blocks of its clusters that are. (An SM whose policy runs every cycle
  // never falls silent, so that a hang does not show by itself.)
  static constexpr Cycle kNoProgressLimit = Cycle{1} << 20;
  bool hung() const { return sm_.run.hung; }
  // The last cycle in which something issued or completed, or a block came.
  Cycle last_progress() const { return sm_.run.last_progress; }
  // One line on what every thread of the SM waits for; empty if no block is resident.
  std::string ExplainDeadlock() const;

  // MemoryClient.
  void CacheEvent(const CacheNotice& notice) override { sm_.notifier.NotifyCacheEvent(notice); }

 protected:
  // `horizon`: the longest usual time until a result of the front end's own units, in cycles.
  SmCore(const LaunchContext& context, uint32_t sm, std::unique_ptr<DivergencePolicy> policy, ChunkCache& cache,
         MemorySystem& memory, uint32_t horizon);

  // RunTurn and RunAlone for a front end, whose functions are known here.
  template <typename FrontEnd>
  static Cycle RunTurnOf(FrontEnd& core, Cycle now) {
    core.RunCycle(now);
    const bool more = !core.ok() || core.hung() || !core.retired().empty() || !core.freed_hw_warps().empty() ||
                      core.memory().isolated();
    return more ? now : core.NextWake(now);
  }
  template <typename FrontEnd>
  static RunAhead RunAloneOf(FrontEnd& core, Cycle next, Cycle limit) {
    RunAhead ahead{next, next, false};
    while (ahead.next < limit) {
      const Cycle at = ahead.next;
      core.RunCycle(at);
      ahead.until = at + 1;
      if (core.MustRejoin(ahead)) break;
      ahead.next = core.NextWake(at);
    }
    return ahead;
  }
  // Whether the SM cannot go on alone after the last cycle that was run.
  bool MustRejoin(RunAhead& ahead) const {
    if (!retired().empty() || !ok() || hung()) {
      ahead.next = ahead.until - 1;
      ahead.stopped = true;
      return true;
    }
    if (memory().isolated()) return false;
    // Whether the network has room for a request was asked before the network has come to this cycle.
    ahead.next = ahead.until;
    return true;
  }

  // --- what a front end adds
  // Credits the cycles before `until` that have not been counted; comes before any change.
  virtual void Credit(Cycle until) = 0;
  // The block is paused or resumed from the next cycle on.
  virtual void PauseChanged(BlockId /*block*/) {}
  // Threads of these hardware warps have been given to the policy.
  virtual void WarpsAdmitted(uint32_t /*first_hw_warp*/, uint32_t /*hw_warps*/) {}
  // What an offered or in-flight slot waits for, in the words "wait for ...".
  virtual std::string WhatSlotWaitsFor(SlotId slot) const = 0;
  // ExitListener, for front ends that have nothing to add.
  void HwWarpExited(SlotId /*slot*/, uint32_t hw_warp) override { sm_.blocks.FreeHwWarp(hw_warp); }
  void SharedReleased() override {}

  // ClusterMember tells of something that happens in cycle `at`.
  virtual void ClusterNews(Cycle /*at*/) {}

  // --- parts of a cycle
  // Steps 3 and 4: barriers that opened, timers, Tick. Whether there is anything to do.
  void RunBarriersAndTimers(Cycle now);
  bool BarriersOrTimersDue(Cycle now) const {
    return sm_.barriers.releases() || sm_.formation.next_timer() <= now || (sm_.interests & kEveryCycle) != 0;
  }
  void CheckProgress(Cycle now) {
    sm_.run.hung = resident() != 0 && now - sm_.run.last_progress > kNoProgressLimit && !HasNews() &&
                   !sm_.blocks.any_paused();  // the dispatcher may resume them
  }
  // All threads of the block have exited, and nothing of it is on its way.
  void RetireBlock(BlockId block);

  SmParts sm_;
  ResolveUnit resolve_;

 private:
  // ClusterMember.
  void OpenClusterBarrier(BlockId block, Cycle at) override {
    sm_.barriers.OpenCluster(block, at);
    ClusterNews(at + 1);
  }
  void ArriveFromCluster(BlockId block, uint64_t address, uint64_t count, bool drops, Cycle at) override {
    sm_.async.ArriveFromCluster(block, address, count, drops, at);
    ClusterNews(at);
  }

  // Whether what other SMs have told it is still on its way, or a barrier that opens later.
  bool HasNews() const {
    return sm_.has_collectives && (sm_.barriers.NextRelease() != kNever || sm_.async.AnyArrivalOrRelease());
  }
  // The block comes to the SM.
  BlockId OpenBlock(const BlockArrival& arrival);
  // The threads of a block's warp come, unassigned, into a hardware warp. Returns the lanes that have one.
  LaneMask AddWarp(BlockId block, const RecordedBlock& recorded, uint32_t warp, uint32_t hw_warp);
  void ReleaseBarriers(Cycle now);

  struct WarpIdentity {
    uint64_t age = 0;
    uint8_t port = 0;
  };
  std::vector<WarpIdentity> first_warp_;  // by hardware warp: of the first warp there
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_SM_CORE_H_
