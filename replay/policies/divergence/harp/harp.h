// HARP: both sides of every divergence run at once, diverged threads are regrouped in small tables, and barriers of
// threads instead of stacks bring warps together again (Lashgar, Khonsari, Baniasadi, section 4).
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "replay/policies/divergence/harp/harp_tables.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {

// The policy; every rule is beside the function that keeps it. A slot that is offered is in the First-Level, a parked
// one in the Second-Level or the Ready-Lookup or on its way, one in flight in the pipeline or the Waiting-Lookup. Loose
// threads have reached a barrier, or wait for the data of other members of their warp.
class HarpPolicy final : public DivergencePolicy {
 public:
  HarpPolicy(const DivergenceContext& context, const Parameters& parameters);

  uint32_t interests() const override { return kEveryInstruction | kIssue; }

  // A block belongs to one scheduler (Table 5 counts threads per scheduler).
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override;

  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override;

  // The warp leaves the First-Level, and the oldest of the Second-Level moves up.
  Verdict AcceptIssue(SlotId slot, WarpEditor& editor) override;

  void Timer(uint64_t tag, WarpEditor& editor) override;

  void Retire(BlockId block, WarpEditor& editor) override;

  std::span<const uint64_t> counters() const override { return counters_; }

  std::string Explain(const WarpTable& /*table*/) const override;

 private:
  // In the order of their declaration in policies/harp.cc.
  enum Counter {
    kDivergences,
    kReadyMerges,
    kReadyThreadsMerged,
    kReadyBypasses,
    kWaitingMerges,
    kWaitingThreadsMerged,
    kWaitingBypasses,
    kBarriersReserved,
    kBarrierMisses,
    kWarpsRevived,
    kMaxBarriers,
    kMaxFirstLevel,
    kMaxSecondLevel,
    kMaxReadyLookup,
    kMaxWaitingLookup,
    kSecondLevelOverflows,
    kLowCycles,
    kCounters
  };

  // Tags of timers: what in the upper half, which one in the lower half.
  enum class Event : uint64_t {
    kTransitions,  // port: the cycle's completions are done
    kArrival,      // slot: enters the Second-Level
    kFirstLevel,   // slot: enters the First-Level
    kCommit,       // index: the search of the barrier table is done
  };
  static constexpr uint64_t Tag(Event event, uint64_t which) { return static_cast<uint64_t>(event) << 32 | which; }

  void Raise(Counter counter, uint64_t value) { counters_[counter] = std::max(counters_[counter], value); }

  // --- First-Level and Second-Level

  bool MayEnterFirstLevel(const HarpTables& tables) const {
    return first_level_ == 0 || (tables.first_level < first_level_ && tables.second_ready == 0);
  }

  // A parked slot moves up.
  void EnterFirstLevel(HarpTables& tables, SlotId slot, WarpEditor& editor);

  // A parked slot is ready in the Second-Level, and moves on if the First-Level has room.
  void MakeReady(HarpTables& tables, SlotId slot, WarpEditor& editor);

  // A slot that resolves, all of whose threads go on, is ready.
  void GoOn(HarpTables& tables, SlotId slot, WarpEditor& editor);

  // A new warp of loose threads, parked; kNoSlot if the editor refused it.
  SlotId SpawnParked(uint8_t port, Position at, const Lanes& lanes, HeldReason reason, WarpEditor& editor);

  // A new warp of loose threads that is ready.
  void SpawnReady(uint8_t port, Position at, const Lanes& lanes, WarpEditor& editor);

  // The warp ends; its threads become loose.
  void Dissolve(uint8_t port, SlotId slot, WarpEditor& editor);

  // The Second-Level holds the warps that are in no other table: ready, in the pipeline, or at a barrier.
  void CheckSecondLevel(const HarpTables& tables, WarpEditor& editor);

  // What lookup_low_water is compared with.
  int ReadyWarps(const HarpTables& tables) const {
    return tables.second_ready + tables.arriving + (count_first_level_ ? tables.first_level : 0);
  }

  // Counts cycles in which few warps are ready. Call it after every change of ReadyWarps or `resident`.
  void TrackLow(HarpTables& tables, Cycle now);

  // --- commit

  // Threads of a committed warp go on. `slot` resolves, or is kNoSlot and the threads are loose. `whole`: none of the
  // slot's threads has ended.
  void Apply(uint8_t port, SlotId slot, std::span<const PathGroup> groups, const Lanes& lanes, Position reconvergence,
             bool whole, WarpEditor& editor);

  void SumReserved();  // barriers of all ports

  // The pipelined table: what follows from the search comes barrier_latency - 1 cycles after the commit.
  void Postpone(uint8_t port, SlotId slot, const Resolution& resolution, WarpEditor& editor);

  // A commit to be applied when its search is done, and doing so.
  PendingCommit& NewCommit(uint8_t port, WarpEditor& editor);

  void ApplyPostponed(uint32_t index, WarpEditor& editor);

  static void Hold(const Lanes& lanes, LaneMask mask, HeldReason reason, WarpEditor& editor) {
    ForEachLane(mask, [&](int lane) { editor.SetHeld(lanes.thread[lane], reason); });
  }

  // --- barriers

  // Loose threads have come to `at`; those that a barrier waits for there are taken out of `lanes`. Warps that are
  // complete come back to life and, at the same point, may be what an outer barrier waits for.
  void Arrive(uint8_t port, Position at, Lanes& lanes, WarpEditor& editor);

  // Frees the barriers in `complete_`, each with what follows from it before the next.
  void ReviveAll(uint8_t port, WarpEditor& editor);

  // A revived warp leaves the barrier table.
  void EnterSecondLevel(uint8_t port, const RevivedWarp& warp, WarpEditor& editor);

  // A parked slot is ready in the Second-Level after `delay` cycles.
  void MoveIn(HarpTables& tables, SlotId slot, Cycle delay, WarpEditor& editor);

  // --- Ready-Lookup

  // Diverged threads join warps of the table at their PC where their lanes are free; the others become a new one, or
  // miss the chance if the table is full (section 4.2.1).
  void MergeReady(uint8_t port, Position at, Lanes left, BlockId block, WarpEditor& editor);

  // Calls Transitions when the completions of this cycle are done.
  void Watch(uint8_t port, WarpEditor& editor);

  // Moves into the Second-Level (section 4.2.3): revived warps first, then, while few warps are ready, the oldest of
  // the Ready-Lookup.
  void Transitions(uint8_t port, WarpEditor& editor);

  // --- Waiting-Lookup

  // The slot's threads join warps of the table that execute the same memory instruction, where their lanes are free;
  // the others have an entry of their own if there is one left, and else wait as they are.
  void EnterWaitingLookup(HarpTables& tables, SlotId slot, WarpEditor& editor);

  // The slot's accesses are done. False if it was alone in its entry: it goes on as it is.
  bool LeaveWaitingLookup(const Resolution& resolution, uint8_t port, WarpEditor& editor);

  static void FreeWaiting(HarpTables& tables, uint32_t index);

  // Loose threads that go on as one warp commit.
  void Commit(uint8_t port, Position at, const Lanes& lanes, WarpEditor& editor);

  int warp_size_;
  int first_level_;  // 0: one table for both levels
  int second_level_;
  bool spill_;
  size_t ready_lookup_;
  size_t waiting_lookup_;
  bool whole_warps_;
  bool restamp_;
  int low_water_;
  bool count_first_level_;
  int lookups_per_cycle_;
  bool one_port_;
  Cycle lookup_delay_;
  Cycle barrier_delay_;
  Cycle first_level_delay_;
  Cycle barrier_latency_;
  int ports_;
  std::vector<HarpTables> tables_;                 // by port
  std::vector<std::vector<WaitingShare>> shares_;  // by slot
  std::vector<uint8_t> accepted_;                  // by slot: has left the First-Level
  std::vector<uint8_t> waits_for_memory_;          // by PC: goes to the Waiting-Lookup
  std::vector<PendingCommit> commits_;
  // Scratch.
  std::vector<uint32_t> complete_;
  std::vector<uint32_t> inner_;
  std::vector<SlotId> merged_;
  std::array<uint64_t, kCounters> counters_{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_H_
