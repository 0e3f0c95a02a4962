// One SM of the reference engine: the front end with a single pipeline and a memory of fixed latency.
#ifndef HEDDLE_TESTS_REFERENCE_REFERENCE_CORE_H_
#define HEDDLE_TESTS_REFERENCE_REFERENCE_CORE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "tests/reference/reference_sm.h"

namespace heddle::replay {

// The single pipeline (Fung's thesis, chapters 4 and 5): a thread has one instruction in flight.
class ReferenceCore : public ReferenceSm {
 public:
  ReferenceCore(const ReferenceLaunch& launch, uint32_t sm, int capacity);

  void RunCycle(Cycle now, const std::function<void(uint64_t)>& retired) override;
  bool Stuck() const override;
  Cycle EndOf(Cycle now) const override { return now; }
  Lack LackOf(SlotId slot) const override;
  std::optional<uint32_t> AwaitedRegister(SlotId /*slot*/) const override { return std::nullopt; }
  SmWarps CountWarps() const override;

 protected:
  // The instruction of a slot between issue and the end of its work.
  struct InFlight {
    Pc pc = 0;
    LaneMask outstanding = 0;  // lanes whose result is not there yet
    bool inserted = false;     // not of the trace
    bool memory = false;       // an access outside shared memory
    bool off_core = false;     // an access beyond the SM
    bool barrier = false;
  };
  // Something for write-back to do.
  struct WriteBack {
    Cycle due = 0;
    uint64_t order = 0;  // of issue
    SlotId slot = kNoSlot;
    LaneMask lanes = 0;
    bool resume = false;  // the slot goes on from a barrier
  };
  struct Port {
    Cycle free_at = 0;     // holds its last issue until then, extra cycles included
    Cycle busy_until = 0;  // the lanes of its last issue enter the pipeline until then
  };
  // --- what differs where instructions go through a pipeline to a memory stage
  // Sets what the instruction is, and says when its results come.
  virtual void Start(Cycle now, SlotId slot, InFlight& in_flight);
  // The slots have issued together.
  virtual void Entered(Cycle /*now*/, int /*port*/, const std::vector<SlotId>& /*slots*/, int /*penalty*/) {}
  virtual bool HasRoom(int port) const;
  // HasRoom, as policies see it: where latencies are fixed there is no pipeline.
  virtual bool ShowsRoom(int /*port*/) const { return true; }
  // After write-back's own events.
  virtual void RunPipeline(Cycle /*now*/, const std::function<void(uint64_t)>& /*retired*/) {}
  // A fence has to wait for stores of its threads.
  virtual bool FenceWaits(SlotId /*slot*/, const InFlight& /*in_flight*/) const { return false; }

  // What happened on a port in a scheduler cycle.
  enum class Slotting : uint8_t { kIssued, kStalled, kNothing };

  void Complete(Cycle now, const std::function<void(uint64_t)>& retired);
  void Select(Cycle now);

  // Write-back. The functions that return bool return false if the policy had no room: everything behind has to wait.
  void WriteBackAll(Cycle now, const std::function<void(uint64_t)>& retired);
  bool Process(Cycle now, const WriteBack& item);
  bool ResumeFromBarrier(SlotId slot);
  void RetireBlocks(const std::function<void(uint64_t)>& retired);
  void ReleaseBarriers(Cycle now);

  Slotting SelectPort(Cycle now, int port);
  // Slots that issue together, picked one by one.
  std::vector<SlotId> Choose(Cycle now, int port, int& penalty);
  void StartInstruction(Cycle now, SlotId slot);
  trace::v1::MemorySpace SpaceOf(uint64_t address) const;
  // Lanes by the cycle in which their results are there.
  std::map<Cycle, LaneMask> Latencies(Cycle now, SlotId slot, InFlight& in_flight) const;
  uint32_t ScriptedLatency(Pc pc, const Lanes& lanes) const;
  void NotifyArrivals();
  void NotifyEnds();
  int RegisterBankPenalty(SlotId slot) const;
  void CountSchedulerCycle(Slotting slotting);
  void CountCycle(Cycle now);
  ThreadState Classify(ThreadId hardware_thread) const;
  bool AllWaitForMemory() const;
  bool AnyInFlight() const;

  std::map<SlotId, InFlight> in_flight_;
  std::vector<WriteBack> pending_;  // not due yet
  std::deque<WriteBack> queue_;     // due
  std::vector<Port> ports_;
  std::map<SlotId, uint64_t> ended_;  // long waits that are over, and which warp waited
  std::vector<SlotId> issued_now_;    // slots that issued in this cycle, in order
  std::set<SlotId> fences_;           // slots whose fence waits for stores
  uint64_t issues_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REFERENCE_REFERENCE_CORE_H_
