// The front end with instruction buffers of an SM.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_CORE_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_CORE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "replay/core/ibuffer/buffer_setup.h"
#include "replay/core/ibuffer/cycle_accounting.h"
#include "replay/core/ibuffer/fast_path.h"
#include "replay/core/ibuffer/fetch_stage.h"
#include "replay/core/ibuffer/ibuffer_state.h"
#include "replay/core/ibuffer/ibuffer_view.h"
#include "replay/core/ibuffer/instruction_buffers.h"
#include "replay/core/ibuffer/issue_stage.h"
#include "replay/core/ibuffer/issue_status_unit.h"
#include "replay/core/ibuffer/result_stage.h"
#include "replay/core/sm_core.h"
#include "replay/seams/fetch_policy.h"

namespace heddle::replay {

// Fetch into a buffer per warp, decode, scoreboard, issue to execution units: docs/reference/timing.md, section 3.
// Policies that resolve every instruction have no buffers: a thread has one instruction in flight.
//
//   FetchStage -> InstructionBuffers -> IssueStatusUnit (scoreboard) -> IssueStage (units) -> ResultStage -> the policy
//
// The stages have their own state, and share tables by warp, hardware warp and instruction (IBufferState). The core
// itself runs the cycle, finds the next one, and takes what memory and blocks report.
class IBufferCore final : public SmCore {
 public:
  IBufferCore(const LaunchContext& context, const BufferSetup& setup, uint32_t sm,
              std::unique_ptr<DivergencePolicy> policy, ChunkCache& cache, MemorySystem& memory);

  // Before anything runs, after SetSchedulers.
  void SetFetchPolicy(std::unique_ptr<FetchPolicy> policy) { fetch_.SetPolicy(std::move(policy)); }
  // A quick second way to run cycles, for SMs that run alone. It works on these parts.
  void SetFastPath(std::unique_ptr<FastPath> fast_path) { fast_path_ = std::move(fast_path); }
  FastPathParts parts() { return {sm_, state_, buffers_, fetch_, status_, issue_, accounting_, results_, resolve_}; }

  void RunCycle(Cycle now) override;
  Cycle NextWake(Cycle now) const override;
  Cycle RunTurn(Cycle now) override;
  RunAhead RunAlone(Cycle next, Cycle limit) override;
  void CreditUntil(Cycle until) override { Credit(until); }
  SmWarps CountWarps() const override;
  // Blocks retire at the end of a cycle.
  Cycle EndOfRetired(Cycle now) const override { return now + 1; }
  absl::Status CheckDrained() const override;

  StallCounters stalls() const { return state_.issue_status.counters(); }
  struct FetchCounters {
    uint64_t fetches = 0;       // hits of the instruction cache
    uint64_t instructions = 0;  // that entered a buffer
    uint64_t dropped = 0;       // of those, dropped before they issued
  };
  FetchCounters fetch_counters() const {
    return {fetch_.fetches(), buffers_.counters().instructions, buffers_.counters().dropped};
  }
  const FetchPolicy& fetch_policy() const { return fetch_.policy(); }
  const IssueView& view() const override { return view_; }
  // Whether instructions pass through buffers.
  bool buffered() const { return !state_.one_in_flight; }

  // MemoryClient. The number of an access is that of its instruction in flight; a fetcher's is its slot.
  void LanesDone(AccessId access, LaneMask lanes, Cycle at, bool returned) override;
  void StoreAcknowledged(AccessId access, Cycle at) override;
  void WaitsOffCore(AccessId access) override;
  void FetchArrived(uint32_t fetcher) override;

 private:
  void Credit(Cycle until) override { accounting_.Credit(until); }
  void PauseChanged(BlockId block) override {
    status_.PauseChanged(block);
    core_wake_ = 0;
  }
  void WarpsAdmitted(uint32_t first_hw_warp, uint32_t hw_warps) override;
  void BlockExited(BlockId block) override { results_.BlockExited(block); }
  void HwWarpExited(SlotId slot, uint32_t hw_warp) override;
  void SharedReleased() override;
  void ClusterNews(Cycle at) override { core_wake_ = std::min(core_wake_, at); }
  std::string WhatSlotWaitsFor(SlotId slot) const override;
  // The hardware warp's exited warp, if there is one, is forgotten.
  void LeaveHwWarp(uint32_t hw_warp);
  void RetireBlocks();

  // The part of RunCycle that begins with the results of the core's own units, if the memory has nothing to do.
  void RunFromResults(Cycle now) {
    results_.Complete(now);
    RunAfterMemory(now);
  }
  void RunAfterMemory(Cycle now);
  // The fetches of a cycle behind the first one.
  void FetchAgain(Cycle now);
  // Waits that the policy knows of may be over.
  void DeliverEndsOfWaits();
  // Asynchronous copies, and matrix instructions of threads that had to meet; warps that waited for them go on.
  void RunCollectives(Cycle now);
  void RunAsync(Cycle now);
  void RunRendezvous(Cycle now);
  // The memory reports something for cycle `at`.
  void WakeCoreAt(Cycle at);
  // Runs the memory in a cycle before core_wake_. Returns whether that was all: nothing has changed for the core, and
  // the cycle is as if it had not been run. Else the core goes on with what comes after the memory.
  bool RunMemoryOnly(Cycle now);
  // The memory has something for the core: in a cycle of the memory only, the cycles up to now are counted before it.
  void WakeCore();
  // A result that the memory has reported.
  void ReportResult(Cycle at, const Completion& result);
  // The next cycle after `now` in which something other than the memory has to run, if the memory changes nothing and
  // no fetch is due.
  Cycle CoreWake(Cycle now) const;

  // What every cycle looks at comes first. The last answer of CoreWake, brought forward by what the memory has told
  // since.
  alignas(64) mutable Cycle core_wake_ = 0;
  bool memory_only_ = false;  // RunMemoryOnly runs the memory, which has changed nothing so far
  CycleAccounting accounting_;
  IBufferState state_;
  InstructionBuffers buffers_;
  IssueStatusUnit status_;
  FetchStage fetch_;
  ResultStage results_;
  IssueStage issue_;
  IBufferView view_;
  std::unique_ptr<FastPath> fast_path_;  // null: there is none
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_CORE_H_
