// The front end with a single in-order pipeline of an SM.
#ifndef HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_SINGLE_PIPELINE_CORE_H_
#define HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_SINGLE_PIPELINE_CORE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/core/single_pipeline/eligible_slots.h"
#include "replay/core/single_pipeline/fence_unit.h"
#include "replay/core/single_pipeline/single_pipeline.h"
#include "replay/core/sm_core.h"

namespace heddle::replay {

// The scheduler is fetch, and a thread has one instruction in flight from issue to write-back (Fung's thesis, chapter 4
// and section 5.1). With a memory of fixed latency every instruction takes its time by itself; otherwise it goes
// through a pipeline.
class SinglePipelineCore final : public SmCore, private SinglePipeline::Core, private IssueView {
 public:
  SinglePipelineCore(const LaunchContext& context, uint32_t sm, std::unique_ptr<DivergencePolicy> policy,
                     ChunkCache& cache, MemorySystem& memory);

  void RunCycle(Cycle now) override;
  Cycle NextWake(Cycle now) const override;
  Cycle RunTurn(Cycle now) override { return RunTurnOf(*this, now); }
  RunAhead RunAlone(Cycle next, Cycle limit) override { return RunAloneOf(*this, next, limit); }
  void CreditUntil(Cycle until) override { Credit(until); }
  const IssueView& view() const override { return *this; }
  SmWarps CountWarps() const override;
  // Blocks retire at the start of a cycle, by the exits that are written back in it.
  Cycle EndOfRetired(Cycle now) const override { return now; }

  // MemoryClient. With fixed latencies the number of an access is that of its slot, else the pipeline's.
  void LanesDone(AccessId access, LaneMask lanes, Cycle at, bool returned) override;
  void StoreAcknowledged(AccessId access, Cycle at) override {
    if (SmParts::IsCollective(access)) {
      sm_.CollectiveAcknowledged(access, at);
      return;
    }
    if (pipeline_ == nullptr) return;
    sm_.write_back.Add(at, {access, Completion::kAcknowledged, 0});
  }
  void WaitsOffCore(AccessId access) override;
  void FetchArrived(uint32_t /*fetcher*/) override {}

 private:
  // What a slot's instruction in flight is. Formation knows who is in the slot.
  struct InFlightInstruction {
    LaneMask outstanding = 0;  // lanes whose results are not there yet
    bool at_barrier = false;   // the instruction is a barrier
    bool inserted = false;
    bool meets = false;     // an arrival at a matrix instruction that has to wait for others
    bool passes = false;    // no lane's guard holds, so that it accesses nothing
    bool memory = false;    // counts for W0.Mem
    bool off_core = false;  // LongLatencyStarted was called
    uint32_t issues = 1;    // that it takes, one per value of its threads' uniform registers
  };

  // --- single_pipeline_view.cc
  Lack LackOf(SlotId slot) const override;
  // There is no scoreboard.
  std::optional<uint32_t> AwaitedRegister(SlotId /*slot*/) const override { return std::nullopt; }

  // --- single_pipeline_core.cc: time, statistics, completions
  void Credit(Cycle until) override;
  void BlockExited(BlockId block) override {
    if (!sm_.async.Busy(block)) RetireBlock(block);
  }
  std::string WhatSlotWaitsFor(SlotId slot) const override {
    const bool ready = table().state[slot] == SlotState::kOffered;
    return ready ? "are ready, but are not issued" : "wait for an instruction to complete";
  }
  void Classify(int port, uint64_t count);
  void ProfilePort(int port, PortLoss loss, uint64_t count);
  // `cycles` cycles from `first` on with the present state, for an observer that wants states.
  void ObserveStates(Cycle first, uint64_t cycles) const;
  // Whether every live thread is in a slot that waits for memory, or in one that is paused, and some wait.
  bool AllWaitForMemory() const {
    if (memory_threads_ == 0) return false;
    if (!sm_.blocks.any_paused()) [[likely]]
      return memory_threads_ == sm_.LiveThreads();
    const WarpTable& warps = table();
    uint64_t waiting = 0;
    for (size_t i = 0; i < warps.lanes.size(); ++i) {
      const auto slot = static_cast<SlotId>(i);
      if (warps.state[slot] != SlotState::kInFlight || !in_flight_[slot].memory || sm_.IsPaused(slot)) continue;
      waiting += static_cast<uint64_t>(warps.thread_count(slot));
    }
    return waiting != 0 && waiting + sm_.PausedThreads(/*offered=*/false) == sm_.LiveThreads();
  }
  // Whether some slot that is not paused has an instruction in flight. Looks at all of them.
  bool AnyInFlight() const {
    const WarpTable& warps = table();
    bool any = false;
    for (size_t slot = 0; slot < warps.lanes.size() && !any; ++slot) {
      any = warps.state[slot] == SlotState::kInFlight && !sm_.IsPaused(static_cast<SlotId>(slot));
    }
    return any;
  }
  // Whether a slot of the port is offered whose block is not paused.
  bool AnyOffered(int port) const {
    return sm_.blocks.any_paused() ? eligible_.AnyUnpaused(port) : sm_.formation.AnyOffered(port);
  }
  // The slots of the port that may issue, of the highest priority there is.
  const SlotSet& Eligible(int port) {
    return sm_.context.by_warp || sm_.blocks.any_paused() ? eligible_.Of(port) : sm_.formation.Eligible(port);
  }
  // The last `decisions` scheduler cycles, which were alike, for SmActivity. The counters of ports have them already.
  void CountActivity(uint64_t decisions) {
    SmCounters& counters = sm_.issues.counters();
    const uint64_t cycles = decisions * static_cast<uint64_t>(sm_.context.issue_cycles);
    counters.cycles.Add(counters.issued != counters.cycles.issued, counters.stall != counters.cycles.stalled,
                        AllWaitForMemory(), AnyInFlight(), cycles);
    counters.cycles.issued = counters.issued;
    counters.cycles.stalled = counters.stall;
  }
  // The first scheduler cycle from `at` on.
  Cycle NextDecision(Cycle at) const {
    const Cycle period = static_cast<Cycle>(sm_.context.issue_cycles);
    return period == 1 ? at : (at + period - 1) / period * period;
  }
  void Complete(Cycle now);
  void TakeDue(Cycle now);
  // False if the policy refused: write-back is blocked from here on.
  bool Process(const Completion& item);
  bool ProcessLanes(SlotId slot, LaneMask lanes);
  bool ProcessIssue(uint32_t number);

  // --- single_pipeline_memory.cc: the core's side of the pipeline
  const Step* AccessOf(SlotId slot) const override;
  LaneMask LanesOf(SlotId slot) const override { return in_flight_[slot].outstanding; }
  void SubmitAccess(AccessId id, const SinglePipeline::Access& access, Cycle now) override;
  void WriteBack(SlotId slot, LaneMask lanes) override;
  bool write_back_blocked() const override { return resolve_.waits(); }
  void WarpsAdmitted(uint32_t first_hw_warp, uint32_t hw_warps) override {
    const auto warp_size = static_cast<uint32_t>(sm_.context.warp_size);
    sm_.async.Admit(first_hw_warp * warp_size, hw_warps * warp_size);
    if (pipeline_ != nullptr) fences_.Admit(first_hw_warp * warp_size, hw_warps * warp_size, sm_.blocks.admitted());
  }
  void Acknowledge(AccessId id);
  // Asynchronous copies, and matrix instructions of threads that had to meet; warps that waited for them go on.
  void RunCollectives(Cycle now);
  // Whether the slot's instruction is a wait for copies or a transaction barrier that is not over.
  bool AsyncWaits(SlotId slot) const {
    const bool async = !in_flight_[slot].inserted && sm_.steps[table().position[slot].pc()].kind == Step::kAsync;
    return async && sm_.async.Waits(slot);
  }
  // Whether stores of the slot's threads are on their way, and its instruction is a fence.
  bool FenceWaits(SlotId slot) const;

  // --- single_pipeline_issue.cc: selection and issue
  void Select(Cycle now);
  // Number of slots issued: 0 if the port's scheduler cycle was lost.
  int IssueOne(int port, Cycle now);
  int IssueSeveral(int port, Cycle now);
  // The results of these slots, which take the same time, come as one completion.
  void CloseIssue(std::span<const SlotId> slots, Cycle now);
  bool Enter(int port, SlotId slot, Cycle now);
  // The instruction's results come after its latency. False if the memory has no room for its access.
  bool StartFixed(SlotId slot, const Step& step, Cycle now);
  // The instruction goes through the pipeline.
  void StartPipelined(SlotId slot, const Step& step);
  // The slot that the port's scheduler picks; kNoSlot if it lets none issue, or if it has failed.
  SlotId Pick(int port, const SlotSet& eligible) {
    return Checked(port, sm_.notifier.scheduler(port).Pick(eligible), eligible);
  }
  SlotId Checked(int port, SlotId picked, const SlotSet& eligible);
  // The port is held by the issue, and `penalty` cycles longer.
  void HoldPort(int port, Cycle now, int penalty) {
    port_free_[port] = now + static_cast<Cycle>(sm_.context.issue_cycles + penalty);
    occupied_until_ = std::max(occupied_until_, port_free_[port]);
  }

  std::unique_ptr<SinglePipeline> pipeline_;    // null: fixed latencies
  std::vector<InFlightInstruction> in_flight_;  // by slot
  std::vector<Cycle> port_free_;                // absolute times
  Cycle occupied_until_ = 0;                    // some port is within an issue or its penalty before this cycle
  std::vector<uint8_t> undecided_;              // ports without issue and without a ready slot in this cycle
  SlotSet candidates_;
  EligibleSlots eligible_;

  // Issues of several slots whose results are on their way, with fixed latencies.
  std::vector<std::vector<SlotId>> issues_;  // by number; those that are not in use are empty
  std::vector<uint32_t> free_issues_;

  Cycle credited_ = 0;           // statistics include every cycle before this one
  Cycle decided_ = 0;            // and every scheduler cycle before this one
  uint64_t memory_threads_ = 0;  // in slots with a memory access outside shared memory in flight

  FenceUnit fences_;      // with a pipeline only
  Lanes access_threads_;  // hardware threads of the access that is being submitted
  // With a pipeline and values of uniform registers: by slot, the addresses of an access on its way to the memory.
  std::vector<std::array<uint64_t, kMaxLanes>> taken_addresses_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_SINGLE_PIPELINE_CORE_H_
