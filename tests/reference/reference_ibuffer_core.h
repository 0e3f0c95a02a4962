// One SM of the reference engine: the front end with instruction buffers.
#ifndef HEDDLE_TESTS_REFERENCE_REFERENCE_IBUFFER_CORE_H_
#define HEDDLE_TESTS_REFERENCE_REFERENCE_IBUFFER_CORE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "replay/memory/ports/memory_system.h"
#include "replay/seams/fetch_policy.h"
#include "tests/reference/reference_register_file.h"
#include "tests/reference/reference_sm.h"
#include "tests/reference/reference_units.h"

namespace heddle::replay {

// docs/reference/timing.md, sections 2, 3 and 5, word by word: every step of every cycle looks at every warp, and
// nothing is remembered that can be found out again.
class ReferenceBufferCore final : public ReferenceSm, public MemoryClient {
 public:
  ReferenceBufferCore(const ReferenceLaunch& launch, uint32_t sm, int capacity);

  void RunCycle(Cycle now, const std::function<void(uint64_t)>& retired) override;
  bool Stuck() const override;
  bool Drained() const override { return memory_->drained(); }
  Cycle EndOf(Cycle now) const override { return now + 1; }
  SmWarps CountWarps() const override;
  SmMemoryLoad MemoryLoad() const override { return memory_->load(); }
  void AddStatistics(ReferenceStatistics& sum) const override;
  Lack LackOf(SlotId slot) const override;
  std::optional<uint32_t> AwaitedRegister(SlotId slot) const override;

  // MemoryClient.
  void LanesDone(AccessId access, LaneMask lanes, Cycle at, bool returned) override;
  void StoreAcknowledged(AccessId access, Cycle at) override;
  void WaitsOffCore(AccessId access) override;
  void FetchArrived(uint32_t fetcher) override;
  void CacheEvent(const CacheNotice& notice) override;

 private:
  using Register = std::pair<uint32_t, uint32_t>;  // call depth and number

  // An issued instruction whose results are not all there.
  struct Work {
    uint64_t number = 0;    // in order of issue
    uint64_t sequence = 0;  // of its result
    SlotId slot = kNoSlot;
    Position at;
    bool inserted = false;  // not of the trace
    bool control = false;
    bool fence = false;
    bool access = false;     // goes to memory
    bool to_memory = false;  // a memory instruction, whether or not a lane accesses
    bool store = false;
    bool memory = false;  // a load, texture access or atomic
    bool holds = false;   // its slot waits for it
    bool off_core = false;
    bool beyond_shared = false;  // an access outside shared memory
    bool result_there = false;   // of a fence in the one-in-flight mode, which also waits for acknowledgements
    LaneMask outstanding = 0;    // lanes whose results are not there
    Lanes lanes;                 // that issued it
    std::set<ThreadId> threads;  // whose registers it writes
    std::set<ThreadId> pending;  // for whose threads its registers are not to be used
    std::set<Register> writes;   // pending
    uint32_t after_start = 0;    // cycles from the start in a unit to the result
    AccessId id = 0;
  };
  // A store that is not acknowledged.
  struct Unacknowledged {
    AccessId id = 0;
    std::set<ThreadId> threads;
  };
  // A barrier of control bits that an instruction has raised, until its result is written or its operands are read.
  struct Raise {
    uint8_t barrier = 0;
    bool operands = false;
    uint64_t number = 0;           // of the work
    std::set<ThreadId> threads{};  // for whom it is up
    std::set<ThreadId> holders{};  // whose block does not retire before it is lowered
  };
  // Whether barriers keep a slot from issuing, and the works whose results it waits for there.
  struct BarrierWait {
    bool blocked = false;
    std::vector<const Work*> results;
  };
  // Of a warp, by stall counts.
  struct Pause {
    uint64_t formed = 0;
    Cycle until = 0;
  };
  // Something due for step 1.
  struct Due {
    enum class Kind { kResult, kLanes, kAcknowledged, kResume, kResolve, kOperands } kind = Kind::kResult;
    Cycle at = 0;
    uint64_t sequence = 0;  // in which the time became known
    uint64_t number = 0;    // of the work
    SlotId slot = kNoSlot;  // kResume, kResolve
    AccessId id = 0;        // kLanes, kAcknowledged
    LaneMask lanes = 0;
    bool returned = false;
  };
  // A slot that policy and scheduler know to wait for memory beyond the core.
  struct LongWait {
    uint64_t formed = 0;
    uint8_t port = 0;
  };
  // The instructions that wait for one slot: consecutive, the first one is that of its position, or the next one while
  // the slot's instruction is under way.
  struct Buffer {
    uint64_t formed = 0;  // the warp that they are for
    Pc head = 0;
    uint32_t entries = 0;
    uint32_t fetching = 0;  // instructions that decode will add
    bool flushed = false;   // it lost its place, and has not been fetched for since
  };

  // What a warp waits for, closest to issue last.
  enum Class {
    kEmpty = kReferenceEmpty,
    kExit = kReferenceExit,
    kBarrierClass = kReferenceBarrier,
    kPolicy = kReferencePolicy,
    kFetch = kReferenceFetch,
    kControl = kReferenceControl,
    kData = kReferenceData,
    kStructural = kReferenceStructural
  };
  struct Condition {
    Class what = kEmpty;
    bool memory = false;         // kData: a load or atomic is among the producers
    bool beyond_shared = false;  // kData: one that goes beyond shared memory
    bool only_write = false;     // kData: no source register is pending
    bool paused = false;         // kPolicy: the dispatcher holds it
  };

  bool one_in_flight() const { return (interests_ & kEveryInstruction) != 0; }
  bool IsControl(Pc pc) const;
  bool HoldsForControl(Pc pc) const;
  // The work that holds the slot; null if there is none.
  const Work* Holding(SlotId slot) const;
  bool Live(SlotId slot) const;

  void HwWarpExited(uint32_t hw_warp, SlotId slot) override;
  void PausesChanged() override { LookAgain(); }

  // --- reference_ibuffer_core.cc. Functions that return bool return false if the policy had no room.
  void TakeResults(Cycle now);
  void ProcessQueue();
  bool Process(const Due& due);
  bool ProcessResult(uint64_t number);
  bool ProcessLanes(AccessId id, LaneMask lanes);
  bool Complete(const Work& completed);
  void FencesGoOn();
  bool StoresOutstanding(const std::set<ThreadId>& threads) const;
  void Acknowledge(AccessId id);
  bool Resume(SlotId slot);
  void RetireBlocks(const std::function<void(uint64_t)>& retired);
  void AddDue(Due due);

  // --- reference_ibuffer_issue.cc
  void SelectPort(int port);
  bool MayIssue(SlotId slot) const;
  bool HasUnit(SlotId slot) const;
  // Registers that the instruction writes: none for an atomic whose result nobody reads, if the machine says so.
  std::vector<uint32_t> Destinations(const trace::v1::Instruction& instruction) const;
  // The works that write registers which the slot's next instruction reads (`sources`) or writes.
  std::vector<const Work*> WritersOf(SlotId slot, bool sources, bool destinations) const;
  void Issue(int port, SlotId slot);
  void SubmitAccess(Work& work, const Lanes& lanes);
  bool IsShared(uint64_t address) const;
  std::set<ThreadId> Owners(const Lanes& lanes) const;
  std::set<ThreadId> PendingFor(const Work& work) const;
  ScoreboardScope Scope() const { return launch_.policies->divergence.traits.scoreboard.scope; }
  // That of the lowest lane's thread.
  uint32_t HwWarpOf(const Lanes& lanes) const;
  void DeliverDeferred();
  bool WaitsLong(SlotId slot) const;
  std::vector<const Work*> Producers(SlotId slot) const;
  bool WaitsForFarData(SlotId slot) const;
  void DeliverEnds();
  void LookAgain();
  void EndLongWaits();

  // --- reference_ibuffer_control.cc
  bool ByControlBits() const;
  void NotePause(SlotId slot, const Lanes& lanes, Pc pc);
  bool Paused(SlotId slot) const;
  std::vector<Raise> RaisesOf(Pc pc) const;
  void RaiseBarriers(const Work& work);
  void LowerBarrier(uint64_t number, bool operands);
  BarrierWait WaitAtBarriers(SlotId slot) const;

  // --- reference_ibuffer_fetch.cc
  void SyncBuffers();
  void Decode();
  void Fetch();
  uint32_t FetchCount(SlotId slot) const;

  // --- reference_ibuffer_classes.cc
  Condition ConditionOf(SlotId slot) const;
  void CountCycle();
  void CountPorts(bool all_wait);
  void CountWarps();
  void CountThreads();
  bool AllWaitForMemory() const;

  const std::unique_ptr<FetchPolicy> fetch_;
  ReferenceUnits units_;
  ReferenceRegisterFile register_file_;
  std::unique_ptr<SmMemory> memory_;
  Cycle now_ = 0;
  std::map<uint64_t, Work> works_;  // by number
  std::vector<Raise> raises_;
  std::map<SlotId, Pause> pauses_;
  std::map<ThreadId, Cycle> thread_pauses_;
  std::vector<Unacknowledged> unacknowledged_;
  std::vector<Due> due_;   // not due yet
  std::deque<Due> queue_;  // due, in order
  uint64_t sequence_ = 0;
  uint64_t numbers_ = 0;
  std::vector<Buffer> buffers_;        // by slot
  std::set<SlotId> waits_for_line_;    // of the instruction cache
  std::map<SlotId, Cycle> offered_;    // one-in-flight mode: when the slot was last offered
  std::map<SlotId, uint64_t> offers_;  // and which offer that was
  std::vector<Cycle> port_free_;
  Cycle memory_input_free_ = 0;
  std::vector<SlotId> issued_;                   // by port, in this cycle
  std::vector<SlotId> last_issued_;              // by port, in this cycle or before
  std::vector<uint64_t> issued_formed_;          // and which warp that was
  std::vector<SlotId> arrived_;                  // at a barrier, in this cycle
  std::map<uint32_t, uint8_t> exited_hw_warps_;  // and the port that had the last thread
  std::map<SlotId, LongWait> long_waits_;
  std::map<SlotId, uint64_t> told_waits_;  // that the policy knows of, and which warp waited
  std::array<uint64_t, kMaxLanes> addresses_{};
  std::array<ThreadId, kMaxLanes> lane_threads_{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REFERENCE_REFERENCE_IBUFFER_CORE_H_
