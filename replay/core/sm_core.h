// One SM while a launch runs: everything in flight.
#ifndef HEDDLE_REPLAY_CORE_SM_CORE_H_
#define HEDDLE_REPLAY_CORE_SM_CORE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "replay/core/event_wheel.h"
#include "replay/core/formation.h"
#include "replay/core/launch_context.h"
#include "replay/core/types.h"
#include "replay/divergence/divergence_policy.h"
#include "replay/memory/memory_system.h"
#include "replay/schedule/warp_scheduler.h"
#include "replay/stats/sm_counters.h"
#include "replay/trace/thread_cursors.h"

namespace heddle::replay {

// A thread block on its way in.
struct BlockArrival {
  uint64_t position = 0;      // among the recorded blocks of the launch
  uint64_t linear_index = 0;  // in the grid
  RecordedBlock recorded;
};

// The thesis front end (timing-core.md FE-A): the scheduler is fetch, a thread has one instruction in flight from issue
// to write-back. Runs a cycle only when something can happen in it; skipped cycles are credited to the statistics with
// the state they had. Running a cycle too early is harmless.
//
// Order within a cycle:
//   1. completions that are due, in order of time, then of issue (behind those that write-back still holds)
//   2. the SM's part of the memory, and completions that come of it in this cycle
//   3. barrier releases, by slot; 4. the policy's timers, then Tick
//   5. selection, port by port, if the cycle is a scheduler cycle
//   6. what issues set off: barrier arrivals and long waits are told to policy and schedulers
// The engine dispatches blocks after that.
class SmCore : public MemoryClient {
 public:
  SmCore(const LaunchContext& context, uint32_t sm, std::unique_ptr<DivergencePolicy> policy, ChunkCache& cache,
         MemorySystem& memory);
  SmCore(const SmCore&) = delete;
  SmCore& operator=(const SmCore&) = delete;

  const WarpTable& table() const { return formation_.table(); }
  // One scheduler per port, before anything runs. They are made of the warp table, which exists only with the core.
  void SetSchedulers(std::vector<std::unique_ptr<WarpScheduler>> schedulers);

  // A block enters after the cycle before `first`: its warps may issue in cycle `first`.
  void Admit(const BlockArrival& arrival, Cycle first);
  // Simulates cycle `now`; cycles since the last call had nothing to do.
  void RunCycle(Cycle now);
  // The next cycle in which something can happen, kNever if nothing will without help from outside. Call it after
  // RunCycle(now) or Admit.
  Cycle NextWake(Cycle now) const;

  int resident() const { return resident_; }
  // Positions of the blocks that retired in the cycle that was run last.
  std::span<const uint64_t> retired() const { return retired_; }
  bool ok() const { return !formation_.failed() && cursors_.ok() && ok_; }
  // The first error: of the policy, of the recording, or a deadlock that this SM found.
  absl::Status status() const;

  // Credits the statistics up to the end of the launch.
  void FinishLaunch(Cycle end) { Credit(end); }
  const SmCounters& counters() const { return counters_; }
  const DivergencePolicy& policy() const { return *policy_; }
  std::span<const std::unique_ptr<WarpScheduler>> schedulers() const { return schedulers_; }

  // One line on what every thread of the SM waits for; empty if no block is resident.
  std::string ExplainDeadlock() const;

  // MemoryClient. A slot has at most one access under way; its number is the access's.
  void LanesDone(AccessId access, LaneMask lanes, Cycle at, bool returned) override;
  void StoreAcknowledged(AccessId /*access*/, Cycle /*at*/) override {}
  void WaitsOffCore(AccessId access) override;
  void FetchArrived(uint32_t /*fetcher*/) override {}
  void CacheEvent(const CacheNotice& notice) override;

 private:
  struct Barrier {
    uint32_t arrived = 0;   // threads
    uint32_t expected = 0;  // 0 = all live threads of the block
    std::vector<SlotId> slots;
  };
  struct ResidentBlock {
    bool resident = false;
    uint64_t position = 0;
    uint64_t linear_index = 0;
    uint32_t live = 0;
    std::vector<Barrier> barriers;  // by dense number
  };
  // What a slot's instruction in flight is. Formation knows who is in the slot.
  struct InFlight {
    LaneMask outstanding = 0;  // lanes whose results are not there yet
    uint8_t barriers = 0;      // barriers (of several blocks, if a policy mixes them) that have not opened for the slot
    bool at_barrier = false;   // the instruction is a barrier
    bool inserted = false;
    bool memory = false;    // counts for W0.Mem
    bool off_core = false;  // LongLatencyStarted was called
  };
  // A resolve, kept while the policy refuses it.
  struct PendingResolve {
    bool active = false;
    bool take = false;  // lanes of an in-flight slot
    Resolution resolution;
    Lanes lanes;
    std::array<PathGroup, kMaxLanes> groups;
  };
  struct WriteBack {
    Completion event;
    bool barrier_resume = false;
  };
  struct Deferred {
    SlotId slot;
    uint8_t barrier;
    bool is_barrier;
  };

  // --- sm_core.cc: time and statistics
  void Credit(Cycle until);
  void Classify(int port, uint64_t count);
  void TellDeferred();
  void RetireBlock(BlockId block);
  bool AllWaitForMemory() const;
  Cycle NextDecision(Cycle at) const;

  // --- sm_select.cc: selection and issue
  void Select(Cycle now);
  // Number of slots issued: 0 if the port's scheduler cycle was lost.
  int IssueOne(int port, Cycle now);
  int IssueSeveral(int port, Cycle now);
  bool Enter(int port, SlotId slot, Cycle now);
  void CountIssue(int port, Cycle now, int penalty, std::span<const SlotId> slots);
  void ArriveAtBarrier(SlotId slot, const Step& step);
  uint32_t ScriptedLatency(SlotId slot, Pc pc) const;
  bool ReachesBeyondShared(const Step& step, const Lanes& lanes, bool has_addresses) const;
  void Observe(int port, Cycle now, std::span<const SlotId> slots);

  // --- sm_write_back.cc: completions
  void Complete(Cycle now);
  // Completions that are due in this cycle; they queue up behind those that write-back holds.
  void TakeDue(Cycle now);
  bool WriteBackBlocked() const { return pending_.active || waiting_first_ < waiting_.size(); }
  // False if the policy refused: write-back is blocked from here on.
  bool Process(const WriteBack& item);
  bool ProcessCompletion(const Completion& event);
  bool ResumeFromBarrier(SlotId slot);
  bool FinishInstruction(SlotId slot, bool after_barrier);
  bool TakeLanes(SlotId slot, LaneMask lanes);
  static bool Decides(trace::v1::Terminator terminator);
  int GroupLanes(const Lanes& lanes, Position at, const trace::Block& block, LaneMask& exited);
  void AddToGroup(int& count, Position at, LaneMask lanes);
  Position Reconvergence(const Lanes& lanes, Position at, const trace::Block& block) const;
  bool Resolve(SlotId slot, int count, LaneMask exited, ResolveReason reason, bool take);
  bool AskPolicy();
  void ExitThreads(const Lanes& lanes, LaneMask exited);
  void CheckBarriers(BlockId block);
  void OpenBarrier(BlockId block, uint8_t barrier);
  void Release(Cycle now);

  void Fail(const absl::Status& status);

  const LaunchContext& context_;
  const Step* const steps_;
  const uint32_t sm_;
  std::unique_ptr<DivergencePolicy> policy_;
  const uint32_t interests_;
  const int issue_slots_;
  Formation formation_;
  std::vector<std::unique_ptr<WarpScheduler>> schedulers_;
  ThreadCursors cursors_;
  const std::unique_ptr<SmMemory> memory_;
  EventWheel wheel_;

  std::vector<InFlight> in_flight_;  // by slot
  std::vector<ResidentBlock> blocks_;
  int resident_ = 0;
  uint64_t admitted_ = 0;
  std::vector<uint64_t> retired_;

  std::vector<Cycle> port_free_;    // absolute times
  Cycle occupied_until_ = 0;        // some port is within an issue or its penalty before this cycle
  std::vector<uint8_t> undecided_;  // ports without issue and without a ready slot in this cycle
  SlotSet candidates_;
  std::vector<SlotId> chosen_;
  std::vector<Deferred> deferred_;
  std::array<uint64_t, kMaxLanes> addresses_{};

  std::vector<BlockId> opened_;       // blocks with a barrier that releases in the next cycle
  std::vector<SlotId> opened_slots_;  // slots that arrived there, once per block of theirs
  std::vector<BlockId> releasing_;    // the same, released in this cycle
  std::vector<SlotId> resuming_;

  PendingResolve pending_;
  std::vector<WriteBack> waiting_;  // behind a refused resolve, from waiting_first_ on
  size_t waiting_first_ = 0;

  Cycle now_ = 0;
  Cycle credited_ = 0;  // statistics include every cycle before this one
  Cycle decided_ = 0;   // and every scheduler cycle before this one
  Cycle last_progress_ = 0;
  uint64_t memory_threads_ = 0;  // in slots with a memory access outside shared memory in flight
  SmCounters counters_;
  bool ok_ = true;
  absl::Status status_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_SM_CORE_H_
