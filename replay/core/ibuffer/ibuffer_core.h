// The front end with instruction buffers of an SM.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_CORE_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_CORE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "replay/core/event_wheel.h"
#include "replay/core/ibuffer/execution_units.h"
#include "replay/core/ibuffer/flight_table.h"
#include "replay/core/ibuffer/scoreboard.h"
#include "replay/core/ibuffer/warp_standing.h"
#include "replay/core/issue_table.h"
#include "replay/core/sm_core.h"
#include "replay/seams/fetch_policy.h"

namespace heddle::replay {

class ArithmeticRun;

// What the machine says about this front end, worked out once per launch.
struct BufferSetup {
  BufferSetup(const trace::Program& program, std::span<const Step> steps, const machine::v1::Machine& machine);

  IssueTable table;
  machine::v1::ExecutionUnits units;
  uint8_t entries = 0;  // of a buffer
  uint8_t fetch_instructions = 0;
  bool fetch_when_free_slot = false;
  uint32_t reformed_warp_cycles = 0;
  uint32_t memory_interval = 1;    // of memory instructions, times their lane groups
  uint32_t line_instructions = 0;  // of the instruction cache; 0 = no cache, fetches reach as far as they like
  uint32_t simd_width = 0;
  bool skip_empty_groups = false;
};

// Fetch into a buffer per warp, decode, scoreboard, issue to execution units: docs/reference/timing.md, section 3.
// Policies that resolve every instruction have no buffers: a thread has one instruction in flight.
class IBufferCore final : public SmCore {
 public:
  IBufferCore(const LaunchContext& context, const BufferSetup& setup, uint32_t sm,
              std::unique_ptr<DivergencePolicy> policy, ChunkCache& cache, MemorySystem& memory);
  ~IBufferCore() override;

  // Before anything runs, after SetSchedulers.
  void SetFetchPolicy(std::unique_ptr<FetchPolicy> policy);

  void RunCycle(Cycle now) override;
  Cycle NextWake(Cycle now) const override;
  Cycle RunTurn(Cycle now) override { return RunTurnOf(*this, now); }
  Stretch RunAlone(Cycle next, Cycle limit) override;
  void CreditUntil(Cycle until) override { Credit(until); }
  // Blocks retire at the end of a cycle.
  Cycle EndOfRetired(Cycle now) const override { return now + 1; }
  absl::Status CheckDrained() const override;

  StallCounters stalls() const { return standings_.counters(); }
  struct FetchCounters {
    uint64_t fetches = 0;       // hits of the instruction cache
    uint64_t instructions = 0;  // that entered a buffer
    uint64_t dropped = 0;       // of those, dropped before they issued
  };
  const FetchCounters& fetch_counters() const { return fetch_counters_; }
  const FetchPolicy& fetch_policy() const { return *fetch_policy_; }
  // Whether instructions pass through buffers.
  bool buffered() const { return !one_in_flight_; }

  // MemoryClient. The number of an access is that of its instruction in flight; a fetcher's is its slot.
  void LanesDone(AccessId access, LaneMask lanes, Cycle at, bool returned) override;
  void StoreAcknowledged(AccessId access, Cycle at) override;
  void WaitsOffCore(AccessId access) override;
  void FetchArrived(uint32_t fetcher) override;

 private:
  friend class ArithmeticRun;
  // Why a slot is in flight (SlotState::kInFlight).
  enum class InFlight : uint8_t {
    kControl,     // a branch, call, return or exit
    kFence,       // a fence, for stores
    kMemory,      // a memory instruction that holds its warp
    kArithmetic,  // any other instruction that holds its warp
    kResolve,     // its resolve waits behind one that the policy has refused
  };
  enum class Fetchable : uint8_t { kNo, kEligible, kAtBarrier };

  // What is known of a slot beyond the warp table.
  struct alignas(64) Warp {
    uint64_t formed = 0;      // the warp's identity: WarpTable::formed when it was looked at last
    uint64_t offered_at = 0;  // one in flight: the offer that `ready_at` belongs to
    Cycle ready_at = 0;       // one in flight: the first cycle in which it may issue
    LaneMask own = 0;         // its threads as lanes of `row`
    Standing offered;         // plain: what it stands for when it lacks nothing, but for the unit
    Pc head = 0;              // of the first instruction in the buffer, or of the next to fetch
    uint32_t flight = 0;      // kControl, kMemory, kArithmetic: what holds it
    uint16_t row = 0;         // of its threads, or kMixedRows
    uint8_t valid = 0;        // instructions in the buffer
    uint8_t threads = 0;
    InFlight in_flight = InFlight::kControl;
    Fetchable fetchable = Fetchable::kNo;
    bool fetching = false;  // its fetch is being decoded
    bool waits_for_line = false;
    bool flushed = false;    // its buffer was dropped, and no fetch has gone out since
    bool told_wait = false;  // LongLatencyStarted was called
    bool in_order = false;   // its threads are of one row, and lane i holds thread i of it
    bool plain = false;      // offered, its threads of one row, nothing inserted: see ibuffer_plain.h
  };

  // What is known of a row of warp-size hardware threads, in half a line of the host's cache.
  static constexpr uint8_t kNoPort = 0xff;
  struct alignas(32) Row {
    uint32_t results_due = 0;              // instructions with a result to come, once for each of their rows
    SlotId only = kNoSlot;                 // the slot, if there is exactly one in `slots`
    uint8_t exited_port = kNoPort;         // that its exited warp counts for
    absl::InlinedVector<SlotId, 8> slots;  // with threads of the row, ascending, if there is a scoreboard; mostly one
    void NoteSlots() { only = slots.size() == 1 ? slots.front() : kNoSlot; }  // after a change of `slots`
  };

  // --- ibuffer_core.cc: the cycle
  void Credit(Cycle until) override {
    offer_cycle_ = until;
    if (until > credited_) CreditSkipped(until);
  }
  void CreditSkipped(Cycle until);
  [[gnu::always_inline]] inline void CountCycle(Cycle now);
  // The part of RunCycle that begins with the results of the core's own units, if the memory has nothing to do.
  void RunFromResults(Cycle now) {
    Complete(now);
    RunAfterMemory(now);
  }
  void RunAfterMemory(Cycle now);
  // Runs the memory in a cycle before core_wake_. Returns whether that was all: nothing has changed for the core, and
  // the cycle is as if it had not been run. Else the core goes on with what comes after the memory.
  bool RunMemoryAlone(Cycle now);
  // Something changes for the core: before the change, the cycles up to now are counted.
  void Disturb();
  // The next cycle after `now` in which something other than the memory has to run, if the memory changes nothing and
  // no fetch is due.
  Cycle CoreWake(Cycle now) const;
  // There is something to decode, or to fetch, in the next cycle.
  bool FetchDue() const {
    return fetched_.slot != kNoSlot || !fetchable_.empty() || (!fetchable_at_barrier_.empty() && !fetch_declined_);
  }
  // `count` cycles, of which `idle` without an issue on any port, in which the ports in `issued` (bits) issued.
  [[gnu::always_inline]] inline void CountPorts(uint64_t count, uint64_t idle, uint32_t issued);
  // `count` cycles without an issue; threads in offered warps that wait for data.
  void CountIdle(uint64_t count, uint64_t data_threads);
  void ProfilePorts(uint64_t count, uint32_t issued);
  // observe_states.cc: `cycles` cycles from `first` on with the present state, for an observer that wants states.
  void ObserveStates(Cycle first, uint64_t cycles) const;
  void WarpsAdmitted(uint32_t first_row, uint32_t rows) override;
  void BlockExited(BlockId block) override;
  void RowExited(SlotId slot, uint32_t row) override;
  void SharedReleased() override;
  // The row's exited warp, if there is one, is forgotten.
  void LeaveRow(uint32_t row);
  std::string WhatSlotWaitsFor(SlotId slot) const override;
  void RetireBlocks(Cycle now);
  void TellLongWaits();

  // --- ibuffer_warps.cc: what follows from a slot's state
  // Looks at every slot that the formation has changed.
  void TakeChanges() {
    if (formation_.AnyChange()) TakeAllChanges();
  }
  void TakeAllChanges();
  void Changed(SlotId slot, bool threads);
  void FindRows(SlotId slot, Warp& warp);
  void LeaveRows(SlotId slot, const Warp& warp);
  void DropBuffer(SlotId slot, Warp& warp);
  // Works out what the slot stands for, and whether it can be fetched for.
  void Reclass(SlotId slot);
  [[gnu::noinline]] Standing StandingOf(SlotId slot, const Warp& warp) const;
  static inline WarpClass DataClassOf(Scoreboard::Hazard hazard);  // of a warp that the hazard blocks
  // What the slot stands for begins or ends to be a long wait.
  void ChangeLongWait(SlotId slot, Warp& warp);
  Scoreboard::Hazard HazardOf(SlotId slot, const Warp& warp, const IssueStep& step, Pc pc) const;
  bool HasRoom(const Warp& warp) const {
    return setup_.fetch_when_free_slot ? warp.valid < setup_.entries : warp.valid == 0;
  }
  void UpdateFetchable(SlotId slot, Warp& warp) {
    const bool room = HasRoom(warp);
    if (room || warp.fetchable != Fetchable::kNo) SetFetchable(slot, warp, room);
  }
  [[gnu::noinline]] void SetFetchable(SlotId slot, Warp& warp, bool room);
  // Calls function(row, lanes) for every row that the slot has threads of.
  template <typename Function>
  void ForEachRow(SlotId slot, const Warp& warp, Function function) const {
    if (warp.row != kMixedRows) {
      function(warp.row, warp.own);
    } else {
      for (const RowLanes& one : rows_of_[slot]) function(one.row, one.lanes);
    }
  }
  // Of ReclassWaiting, for rows with threads in several slots.
  [[gnu::noinline]] void ReclassSeveralWaiting(uint32_t row);

  // --- ibuffer_plain.h: the same for plain warps, at their head
  [[gnu::always_inline]] inline Standing PlainStanding(const Warp& warp) const;
  // The buffer or the scoreboard has changed; whether it can be fetched for is looked at apart.
  [[gnu::always_inline]] inline void ReclassPlain(SlotId slot, Warp& warp);
  [[gnu::always_inline]] inline void UpdatePlainFetchable(SlotId slot, Warp& warp);
  // Looks again at the warps with threads of the row that wait for data.
  [[gnu::always_inline]] inline void ReclassWaiting(uint32_t row);
  [[gnu::always_inline]] inline void ReclassIfWaiting(SlotId slot);

  // --- ibuffer_issue.cc
  void Select(Cycle now);
  [[gnu::always_inline]] inline const SlotSet* Eligible(int port, Cycle now);
  bool MemoryFree(Cycle now) const { return now >= memory_free_ && memory_->StageFree(); }
  [[gnu::always_inline]] inline bool TryPort(int port, Cycle now);
  // The scheduler has picked a slot that it must not.
  void FailPick(int port, SlotId slot, Cycle now);
  // Holds the port as long as the policy says.
  void TakePenalty(int port, SlotId slot, Cycle now) {
    const int penalty = policy_->IssuePenalty(slot, table());
    if (penalty <= 0) return;
    port_free_[port] = now + 1 + static_cast<Cycle>(penalty);
    penalty_until_ = std::max(penalty_until_, port_free_[port]);
  }
  void Issue(int port, SlotId slot, Cycle now);
  // The same for an instruction of a plain warp that is `simple`, if issues_unwatched().
  [[gnu::always_inline]] inline void IssuePlain(int port, SlotId slot, Warp& warp, const IssueStep& step, Cycle now);
  void MoveOn(int port, SlotId slot, const IssueStep& step);
  // Of lanes that an instruction of the slot is issued in.
  uint32_t Groups(SlotId slot) const;
  // A number for an instruction of the slot that has a result to come.
  uint32_t Launch(SlotId slot, const Warp& warp, Pc pc);
  // The instruction in flight takes, or gives back, its registers.
  void ReserveRegisters(uint32_t id, const Flight& flight, Position at, uint8_t producer);
  void ReleaseRegisters(uint32_t row, uint32_t id, const Flight& flight) {
    if (ByBits(flight)) {
      scoreboard_.ReleaseBits(row, flight.pc);
    } else {
      scoreboard_.Release(row, id);
    }
  }
  bool ByBits(const Flight& flight) const { return scoreboard_.by_bits() && flight.row != kMixedRows; }
  void IssueInserted(int port, SlotId slot, Cycle now);
  // The slot is in flight from now on.
  void HoldSlot(int port, SlotId slot, InFlight why, uint32_t flight);
  void SubmitAccess(SlotId slot, const Warp& warp, LaneMask lanes, uint32_t flight, const Step& step, Cycle now);
  // The slot is done with its instruction, in the cycle of its issue.
  void FinishAtIssue(SlotId slot);
  bool StoresPending(SlotId slot, const Warp& warp) const;

  // --- ibuffer_results.cc
  // A result that the memory has reported.
  void AddResult(Cycle at, const Completion& result);
  void Complete(Cycle now) {
    if (one_in_flight_ || resolve_waits_) CompleteWaiting(now);
    TakeDue(now);
  }
  // What comes before the results that are due: offers that take effect, and what a policy has refused so far.
  void CompleteWaiting(Cycle now);
  void TakeDue(Cycle now);
  // False if the policy refused: write-back is blocked from here on.
  bool Process(const Completion& item);
  // The arithmetic instruction at `pc` of a slot of this row alone has its results.
  void ProcessRegisters(uint32_t row, Pc pc);
  // One of the row's results has come.
  void CountResult(uint32_t row) {
    if (--rows_[row].results_due == 0 && live_in_row_[row] == 0) RowDone(row);
  }
  // The row has no live thread, and none of its instructions has a result to come.
  void RowDone(uint32_t row);
  bool ResultsDue(BlockId block) const;
  bool ProcessLanes(uint32_t flight, LaneMask lanes);
  void Acknowledge(uint32_t flight);
  template <typename Function>
  void ForEachRowOf(uint32_t id, const Flight& flight, Function function) {
    if (flight.row != kMixedRows) {
      function(flight.row, ~LaneMask{0});
    } else {
      for (const RowLanes& one : flights_.rows(id)) function(one.row, one.lanes);
    }
  }

  // --- ibuffer_fetch.cc
  void Decode();
  // What was fetched for the slot enters its buffer.
  void TakeFetched(SlotId slot, Warp& warp);
  // Returns the slot whose standing has changed by it, kNoSlot if there is none.
  SlotId Fetch(Cycle now);
  uint32_t FetchCount(const Warp& warp) const;

  // What every cycle looks at, in one line of the host's cache.
  // The last answer of CoreWake, brought forward by what the memory has told since.
  alignas(64) mutable Cycle core_wake_ = 0;
  // In RunAlone, where nothing from outside wakes the memory: it sleeps before this cycle, and is as isolated as it
  // was.
  Cycle memory_wake_ = 0;
  Cycle credited_ = 0;           // statistics include every cycle before this one
  Cycle offer_cycle_ = 0;        // the cycle that an offer made now counts in
  Cycle penalty_until_ = 0;      // some port is held before this cycle
  Cycle memory_free_ = 0;        // the memory stage's input
  uint32_t issued_ports_ = 0;    // in this cycle, as bits
  const bool one_in_flight_;     // the policy resolves every instruction
  bool memory_alone_ = false;    // RunMemoryAlone runs the memory, which has changed nothing so far
  bool due_again_ = false;       // the memory has reported results for the present cycle
  bool fetch_declined_ = false;  // the policy chose none in a cycle without an issue
  struct Fetched {
    SlotId slot = kNoSlot;
    uint8_t count = 0;
  } fetched_;                                  // in this or the last cycle, not decoded yet
  std::array<SlotId, kMaxPorts> issued_;       // by port, in this cycle
  std::array<SlotId, kMaxPorts> last_issued_;  // by port, in this cycle or before
  std::vector<SlotId> long_waits_;             // slots that may have to be told of
  std::vector<BlockId> retiring_;
  std::array<Cycle, kMaxPorts> port_free_{};  // by port: absolute times
  const BufferSetup& setup_;
  const bool data_holds_;  // a warp waits for its own loads: the policy takes lanes as their data come
  const bool plain_;       // a warp may be plain: buffers, whole blocks, and a program without calls
  std::unique_ptr<FetchPolicy> fetch_policy_;
  std::unique_ptr<ArithmeticRun> arithmetic_;   // null if policies or watchers leave no room for it
  std::vector<Warp> warps_;                     // by slot, up to the highest that has been taken so far
  std::vector<uint8_t> buffered_;               // by slot: Warp::valid, as the fetch policy sees it
  std::vector<std::vector<RowLanes>> rows_of_;  // by slot, if of several rows; none as long as no slot is
  std::vector<Row> rows_;
  WarpStandings standings_;
  FlightTable flights_;
  Scoreboard scoreboard_;
  ExecutionUnits units_;
  EventWheel reformed_;  // slots that may issue from a cycle on

  SlotSet eligible_;
  std::vector<SlotId> fence_waits_;
  std::vector<SlotId> released_;  // slots that a result may have freed, for use in ProcessLanes

  SlotSet fetchable_;
  SlotSet fetchable_at_barrier_;
  const FetchView fetch_view_{fetchable_, fetchable_at_barrier_, buffered_,
                              std::span(issued_).first(static_cast<size_t>(context_.ports)),
                              std::span(last_issued_).first(static_cast<size_t>(context_.ports))};
  FetchCounters fetch_counters_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_CORE_H_
