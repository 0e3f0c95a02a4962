// One SM of the reference engine.
#ifndef HEDDLE_TESTS_REPLAY_REFERENCE_REFERENCE_CORE_H_
#define HEDDLE_TESTS_REPLAY_REFERENCE_REFERENCE_CORE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/machine.pb.h"
#include "replay/core/formation.h"
#include "replay/divergence/divergence_policy.h"
#include "replay/engine/replay.h"
#include "replay/schedule/warp_scheduler.h"
#include "tests/replay/reference/reference_statistics.h"
#include "tests/replay/reference/thread_expansion.h"
#include "traces/format/reader.h"

namespace heddle::replay {

// What all SMs of a launch share.
struct ReferenceLaunch {
  const trace::TraceReader* reader = nullptr;
  const trace::LaunchView* view = nullptr;
  const machine::v1::Machine* machine = nullptr;
  const std::vector<ExpandedBlock>* blocks = nullptr;  // recorded ones, ascending
  const DivergenceRegistry::Entry* divergence = nullptr;
  const SchedulerRegistry::Entry* scheduler = nullptr;
  const Parameters* divergence_parameters = nullptr;
  const Parameters* scheduler_parameters = nullptr;
  IssueObserver* observer = nullptr;
  uint32_t launch = 0;
};

class ReferenceCore {
 public:
  ReferenceCore(const ReferenceLaunch& launch, uint32_t sm, int capacity);

  // The parts of a cycle, in their order. `retired` is called with the recorded block that left.
  void Complete(Cycle now, const std::function<void(uint64_t)>& retired);
  void Select(Cycle now);
  // A block enters at the end of cycle `now`, or before cycle 0.
  void Admit(Cycle now, uint64_t recorded_block);

  int resident() const;
  // Nothing can ever happen again, though blocks are resident.
  bool Stuck() const;
  absl::Status status() const;
  // Adds this SM's counts and its policies' counters.
  void AddStatistics(ReferenceStatistics& sum) const;
  std::string Describe() const;

 private:
  struct Thread {
    int place = -1;      // of its block; -1 = this hardware thread is not used
    uint32_t index = 0;  // in its block
    const std::vector<Step>* steps = nullptr;
    size_t next = 0;              // step that it executes next, or is executing
    std::vector<uint32_t> calls;  // blocks whose continuation is pending
    bool done() const { return next == steps->size(); }
  };
  struct Resident {
    uint64_t recorded = 0;  // position among the recorded blocks
    ThreadId first_thread = 0;
  };
  // The instruction of a slot between issue and the end of its work.
  struct Flight {
    Pc pc = 0;
    LaneMask outstanding = 0;  // lanes whose result is not there yet
    bool inserted = false;     // not of the trace
    bool memory = false;       // an access outside shared memory
    bool off_core = false;     // an access beyond the SM
    bool barrier = false;
    bool waiting = false;          // at a barrier, write-back is over
    std::map<int, Cycle> release;  // barrier: by block, when it lets the slot go; kNever = it is closed
  };
  // Something for write-back to do.
  struct WriteBack {
    Cycle due = 0;
    uint64_t order = 0;  // of issue
    SlotId slot = kNoSlot;
    LaneMask lanes = 0;
    bool resume = false;  // the slot goes on from a barrier
  };
  // A question to the policy, kept while it has no room.
  struct Asked {
    Resolution resolution;
    Lanes lanes;
    std::vector<PathGroup> groups;
    bool take = false;  // lanes that leave a slot in flight
  };
  struct Port {
    Cycle free_at = 0;     // holds its last issue until then, extra cycles included
    Cycle busy_until = 0;  // the lanes of its last issue enter the pipeline until then
  };
  // What happened on a port in a scheduler cycle.
  enum class Slotting : uint8_t { kIssued, kStalled, kNothing };

  const trace::Program& program() const { return *launch_.view->program; }
  int warp_size() const { return static_cast<int>(launch_.machine->core().warp_size()); }
  Position PositionOf(const Thread& thread) const;
  ThreadId HardwareThread(ThreadId first_thread, uint32_t index) const;

  // Write-back. The functions that return bool return false if the policy had no room: everything behind has to wait.
  void WriteBackAll(Cycle now, const std::function<void(uint64_t)>& retired);
  bool Process(Cycle now, const WriteBack& item);
  bool ResumeFromBarrier(SlotId slot);
  // The instruction of these lanes is over.
  bool Finish(SlotId slot, const Lanes& lanes, bool barrier_resolve, bool take);
  bool Ask();
  void StepOver(const Lanes& lanes, Pc pc);
  Position Reconvergence(Pc pc, const Thread& thread) const;
  void RetireBlocks(const std::function<void(uint64_t)>& retired);
  std::set<int> PlacesOf(SlotId slot) const;
  void OpenBarriers(Cycle now);
  void ReleaseBarriers(Cycle now);

  // Slots that may issue on `port`: offered, of the highest priority, and not in `refused`.
  SlotSet Eligible(int port, const std::set<SlotId>& refused) const;
  Slotting SelectPort(Cycle now, int port);
  // Slots that issue together, picked one by one.
  std::vector<SlotId> Choose(Cycle now, int port, int& penalty);
  void StartInstruction(Cycle now, SlotId slot);
  trace::v1::MemorySpace SpaceOf(uint64_t address) const;
  // Lanes by the cycle in which their results are there.
  std::map<Cycle, LaneMask> Latencies(Cycle now, SlotId slot, Flight& flight) const;
  uint32_t ScriptedLatency(Pc pc, const Lanes& lanes) const;
  void TellArrivals();
  void Announce(Cycle now, int port, const std::vector<SlotId>& chosen);
  void CountSchedulerCycle(Slotting slotting);
  void CountCycle(Cycle now);
  ThreadState Classify(ThreadId hardware_thread) const;
  bool AllWaitForMemory() const;

  const ReferenceLaunch launch_;
  const uint32_t sm_;
  const int issue_cycles_;  // cycles that a warp takes to enter the pipeline
  Formation formation_;
  std::unique_ptr<DivergencePolicy> policy_;
  std::vector<std::unique_ptr<WarpScheduler>> schedulers_;
  uint32_t interests_ = 0;
  std::vector<std::optional<Resident>> places_;
  std::vector<Thread> threads_;  // by hardware thread
  std::map<SlotId, Flight> flights_;
  std::vector<WriteBack> pending_;  // not due yet
  std::deque<WriteBack> queue_;     // due
  std::optional<Asked> asked_;      // what the policy had no room for
  std::vector<Port> ports_;
  std::vector<SlotId> issued_now_;  // slots that issued in this cycle, in order
  uint64_t issues_ = 0;
  uint64_t admissions_ = 0;
  ReferenceStatistics statistics_;
  absl::Status status_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_REFERENCE_REFERENCE_CORE_H_
