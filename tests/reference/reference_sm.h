// What the reference cores of both front ends share: an SM's threads, their positions, and the questions to the policy.
#ifndef HEDDLE_TESTS_REFERENCE_REFERENCE_SM_H_
#define HEDDLE_TESTS_REFERENCE_REFERENCE_SM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/machine.pb.h"
#include "replay/engine/configuration.h"
#include "replay/engine/replay.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/issue_view.h"
#include "replay/seams/memory_policy.h"
#include "replay/seams/warp_scheduler.h"
#include "replay/warps/formation.h"
#include "tests/reference/reference_statistics.h"
#include "tests/reference/reference_warp_progress.h"
#include "tests/reference/thread_expansion.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// What all SMs of a launch share.
struct ReferenceLaunch {
  const trace::TraceReader* reader = nullptr;
  const trace::LaunchView* view = nullptr;
  const trace::Program* program = nullptr;  // as warps walk it
  const machine::v1::Machine* machine = nullptr;
  const std::vector<ExpandedBlock>* blocks = nullptr;  // recorded ones, ascending
  const CheckedConfiguration* policies = nullptr;
  MemorySystem* memory = nullptr;  // null: the core's own fixed latencies
  SharedState* shared = nullptr;   // of the trace
  uint32_t l1_ways = 0;            // in this launch
  IssueObserver* observer = nullptr;
  ReferenceWarpProgress* warp_progress = nullptr;
  uint32_t launch = 0;

  // Single pipeline: cycles from issue to write-back.
  Cycle PipelineDepth() const {
    const bool bypass =
        machine->core().thesis().register_read_bypass() && (KeepsWarps() || policies->divergence.traits.mixed_pcs);
    return machine->core().pipeline_depth() - (bypass ? 1 : 0);
  }

  // Whether the threads of a slot are always of one static warp.
  bool KeepsWarps() const { return policies->divergence.traits.regrouping == Regrouping::kNever; }
};

class ReferenceSm : public IssueView {
 public:
  ReferenceSm(const ReferenceLaunch& launch, uint32_t sm, int capacity);
  virtual ~ReferenceSm() = default;
  ReferenceSm(const ReferenceSm&) = delete;
  ReferenceSm& operator=(const ReferenceSm&) = delete;

  // Simulates cycle `now`, with or without resident blocks. `retired` is called with each recorded block that leaves.
  virtual void RunCycle(Cycle now, const std::function<void(uint64_t)>& retired) = 0;
  // A block enters, into the lowest free place unless one is named; cycle `first` is the first that it may issue in.
  void Admit(Cycle first, uint64_t recorded_block, std::optional<uint32_t> named = {});
  // The dispatcher pauses a resident block, or resumes it, from cycle `first` on.
  void SetPaused(Cycle first, uint64_t recorded_block, bool paused);
  // Nothing can ever happen again, though blocks are resident.
  virtual bool Stuck() const = 0;
  // Nothing is under way outside the blocks.
  virtual bool Drained() const { return true; }
  // The launch's cycles if its last block retired in the cycle `now`.
  virtual Cycle EndOf(Cycle now) const = 0;

  int resident() const;
  uint32_t FirstHwWarpOf(uint64_t recorded_block) const {
    return places_[PlaceOf(recorded_block)]->first_thread / static_cast<uint32_t>(warp_size());
  }
  // What a dispatcher may know, after the last cycle.
  SmActivity activity() const { return activity_; }
  virtual SmWarps CountWarps() const = 0;
  virtual SmMemoryLoad MemoryLoad() const { return {}; }
  void GridAssigned() {
    for (const auto& scheduler : schedulers_) scheduler->GridAssigned();
  }
  absl::Status status() const;
  // Adds this SM's counts and its policies' counters.
  virtual void AddStatistics(ReferenceStatistics& sum) const;
  std::string Describe() const;

 protected:
  struct Thread {
    int place = -1;      // of its block; -1 = this hardware thread is not used
    uint32_t index = 0;  // in its block
    const std::vector<ScriptStep>* steps = nullptr;
    size_t next = 0;              // step that it executes next, or is executing
    std::vector<uint32_t> calls;  // blocks whose continuation is pending
    bool done() const { return next == steps->size(); }
  };
  struct Resident {
    uint64_t recorded = 0;  // position among the recorded blocks
    ThreadId first_thread = 0;
  };
  // A question to the policy, kept while it has no room.
  struct Asked {
    Resolution resolution;
    Lanes lanes;
    std::vector<PathGroup> groups;
    bool take;  // lanes that leave a slot in flight
  };

  // A slot at a barrier, from its issue until it goes on.
  struct Arrival {
    Pc pc = 0;
    Cycle at = kNever;             // of the arrival; kNever = in this cycle
    bool waiting = false;          // nothing but the barrier holds it
    std::map<int, Cycle> release;  // by block, when the barrier lets the slot go; kNever = it is closed
  };

  // Blocks are paused or resumed.
  virtual void PausesChanged() {}
  // Whether the slot's block is paused, so that it issues nothing and is not fetched for.
  bool BlockPaused(SlotId slot) const { return paused_places_.contains(formation_.table().block[slot]); }
  // Counts `cycles` cycles of which one decides, for activity().
  void CountActivity(bool issued, bool ready, bool all_in_memory, bool some_wait, uint64_t cycles);
  // Makes the memory policy, if the machine has a data cache, and gives it to the SM's memory.
  void MakeMemoryPolicy(SmMemory& memory);

  // The last thread of hardware warp `hw_warp` (hardware threads [hw_warp * warp size, ...)) has exited, in this slot.
  virtual void HwWarpExited(uint32_t /*hw_warp*/, SlotId /*slot*/) {}

  // Notes for the statistics of warps, in the present cycle.
  void Note(ReferenceWarpProgress::Event event, const Lanes& lanes, LaneMask mask);
  uint64_t Stalls() const { return statistics_.scheduler_total - statistics_.scheduler_issued; }

  static void AddCounters(std::span<const uint64_t> values, const std::vector<CounterSpec>& specs,
                          std::map<std::string, uint64_t>& sum);

  const trace::Program& program() const { return *launch_.program; }
  int warp_size() const { return static_cast<int>(launch_.machine->core().warp_size()); }
  Position PositionOf(const Thread& thread) const;
  // Lanes whose threads' guard does not keep them from executing what they come to.
  LaneMask Executing(const Lanes& lanes) const;

  // Where lanes go after an instruction, and whether that is for the policy to decide.
  struct Outcome {
    std::map<Position, PathGroup> groups;
    LaneMask exited = 0;
    bool block_end = false;
    bool decides = false;  // a branch of several outcomes
    bool at_stop = false;
    bool asks = false;  // the policy decides, whatever the reason
  };
  Outcome OutcomeOf(SlotId slot, const Lanes& lanes, Pc pc) const;
  // The instruction at `pc` of these lanes is over: the slot goes on, or the policy is asked. False if it had no room;
  // `asked_` then holds the question.
  bool Finish(SlotId slot, const Lanes& lanes, Pc pc, bool barrier_resolve, bool take);
  // Asks (again). True if the policy has decided.
  bool Ask();
  // A block whose threads have all exited leaves.
  void Retire(size_t place, const std::function<void(uint64_t)>& retired);
  // A slot whose barrier let it go does go on.
  void NoteResumed(SlotId slot);
  bool AllThreadsDone(size_t place) const;
  // Places of the blocks of a slot's threads: normally one.
  std::set<int> PlacesOf(SlotId slot) const;
  // --- barriers. One opens when the threads that arrived and those that exited are all threads of the block, or, for a
  // counted one, when as many arrived as it counts. Its slots may go on from the next cycle; a slot with threads of
  // several blocks waits for the barriers of all of them.
  void ArriveAtBarrier(SlotId slot);
  void WaitAtBarrier(SlotId slot);
  bool IsOpen(SlotId slot, Cycle now) const;
  void OpenBarriers(Cycle now);
  Cycle ReleaseOf(const std::vector<Arrival*>& arrivals, Cycle now) const;
  // Tells the schedulers which barriers let go in this cycle, and returns the slots that were waiting for nothing else,
  // ascending.
  std::vector<SlotId> Released(Cycle now);
  bool AllBarriersClosed() const;

  // Slots that may issue on `port` among those that `can_issue`: offered, and of the highest priority.
  SlotSet Eligible(int port, const std::function<bool(SlotId)>& can_issue) const;
  // How many times the threads issue the instruction that they are at: once per value of the uniform registers that it
  // reads. Counts it.
  uint32_t IssuesPerValue(const Lanes& lanes);
  // Counts an issue of the slots, and tells the observer.
  void Announce(Cycle now, int port, const std::vector<SlotId>& chosen, bool inserted);

  const ReferenceLaunch launch_;
  const uint32_t sm_;
  const int issue_cycles_;  // cycles that a warp takes to enter the pipeline
  Formation formation_;
  std::unique_ptr<DivergencePolicy> policy_;
  std::vector<std::unique_ptr<WarpScheduler>> schedulers_;
  std::unique_ptr<MemoryPolicy> memory_policy_;
  SmMemory* policy_memory_ = nullptr;  // hears of warps; null: there is no memory policy
  uint32_t interests_ = 0;
  std::vector<std::optional<Resident>> places_;
  std::set<size_t> paused_places_;
  std::vector<Thread> threads_;  // by hardware thread
  std::map<SlotId, Arrival> arrivals_;
  std::optional<Asked> asked_;  // what the policy had no room for
  ReferenceStatistics statistics_;
  absl::Status status_;

 private:
  size_t PlaceOf(uint64_t recorded_block) const;
  ThreadId HardwareThread(ThreadId first_thread, uint32_t index) const;
  void StepOver(const Lanes& lanes, Pc pc);
  void NotifyExitedHwWarps(SlotId slot, const Lanes& lanes, LaneMask exited);
  Position Reconvergence(Pc pc, const Thread& thread) const;

  uint64_t admissions_ = 0;
  SmActivity activity_;
};

// Calls function(lane) for the lanes of a mask, ascending.
template <typename Function>
void ForEachLaneOf(LaneMask mask, Function function) {
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    if ((mask >> lane & 1) != 0) function(lane);
  }
}

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REFERENCE_REFERENCE_SM_H_
