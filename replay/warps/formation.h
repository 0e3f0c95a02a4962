// Which threads are together: warps, unassigned threads, and the guarded operations on them. Knows nothing of time.
#ifndef HEDDLE_REPLAY_WARPS_FORMATION_H_
#define HEDDLE_REPLAY_WARPS_FORMATION_H_

#include <bit>
#include <cassert>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_editor.h"
#include "replay/seams/warp_scheduler.h"
#include "replay/seams/warp_table.h"
#include "replay/warps/entry_rules.h"
#include "replay/warps/formation_editor.h"
#include "replay/warps/offered_slots.h"
#include "replay/warps/policy_failure.h"
#include "replay/warps/policy_timers.h"
#include "replay/warps/slot_changes.h"
#include "replay/warps/slot_pool.h"
#include "replay/warps/thread_state.h"
#include "replay/warps/thread_table.h"

namespace heddle::replay {

// The formation state of one SM: the warp table, where unassigned threads are, timers of the policy, and the
// notifications of the schedulers. It is kept apart from what is in flight, so that any engine can drive the same
// policies: one that skips cycles and one that polls each cycle. Everything a policy may do goes through WarpEditor;
// the rest of the public functions are for the engine.
//
// Slots go round: Offered -Issue-> InFlight -Advance-> Offered, or InFlight -BeginResolve-> Resolving -policy->
// Offered, Parked or Free. InFlight -WaitAtBarrier-> Barrier -Advance or BeginResolve->.
class Formation {
 public:
  struct Setup {
    int warp_size = 32;
    int max_threads = 0;  // hardware threads, at most kMaxSlots
    int ports = 1;
    bool any_lane = false;            // PolicyTraits::any_lane
    bool one_port_per_block = false;  // ThesisPipeline.blocks_on_one_scheduler
    std::string policy_name;          // for messages
    bool* error_flag = nullptr;       // set when a rule is broken or a limit met, for who asks in every cycle
  };

  explicit Formation(const Setup& setup);
  Formation(const Formation&) = delete;
  Formation& operator=(const Formation&) = delete;

  const WarpTable& table() const { return table_; }
  WarpEditor& editor() { return editor_; }
  // The schedulers to notify, by port. May be left empty.
  void SetSchedulers(std::vector<WarpScheduler*> schedulers) { schedulers_ = std::move(schedulers); }

  // Start of a cycle; what now() and StartTimer refer to.
  void SetNow(Cycle now) { now_ = now; }
  Cycle now() const { return now_; }
  const Cycle& clock() const { return now_; }  // now(), for those that look again and again

  // --- threads
  // A thread becomes live and unassigned at `at`.
  void AddThread(ThreadId thread, BlockId block, uint32_t index_in_block, Position at) {
    threads_.Add(thread, block, index_in_block, at);
  }
  // `count` neighbouring threads become live and unassigned at `at`; the first has number `first_index` in the block.
  void AddThreads(ThreadId first, uint32_t count, BlockId block, uint32_t first_index, Position at) {
    threads_.AddWarp(first, count, block, first_index, at);
  }
  // The next slot that is made continues a warp that has run before: it takes that warp's age and port.
  void ContinueWarp(uint64_t age, uint8_t port) { pool_.ContinueWarp(age, port); }
  // The block's threads, all of them finished, leave the SM.
  void RemoveBlock(BlockId block, ThreadId first_thread, uint32_t hardware_threads);
  BlockId block_of(ThreadId thread) const { return threads_.block(thread); }
  uint32_t index_in_block(ThreadId thread) const { return threads_.index_in_block(thread); }
  bool is_live(ThreadId thread) const { return threads_.is_live(thread); }
  // Slot of a live thread; kNoSlot if it is unassigned. During Resolve, threads of the resolving slot are unassigned.
  SlotId slot_of(ThreadId thread) const { return threads_.slot(thread); }
  // Position of a live thread, unassigned or in a slot.
  Position position_of(ThreadId thread) const {
    const SlotId slot = threads_.slot(thread);
    if (slot == kNoSlot) return threads_.position(thread);
    return slot == resolving_.together ? resolving_.at : table_.position[slot];
  }
  // What one thread of a resident block is doing, from its slot or why it is unassigned.
  ThreadState StateOfThread(ThreadId thread) const {
    if (!threads_.is_live(thread)) return ThreadState::kFinished;
    const SlotId slot = threads_.slot(thread);
    return slot == kNoSlot ? threads_.StateOfUnassigned(thread) : StateOfSlot(slot);
  }
  // Threads by state; kDependency includes those of a slot whose resolve was refused.
  const ThreadStateCounts& thread_states() const { return threads_.counts(); }

  // --- issue and completion
  // Slots that port may issue: offered slots of the port with the highest priority there is. The reference is good
  // until the next change.
  const SlotSet& Eligible(int port) {
    const SlotSet& offered = offered_.of(port);
    return offered_.prioritised() ? offered_.HighestPriority(offered) : offered;
  }
  // Offered slots of the port, whatever their priorities.
  const SlotSet& OfferedOn(int port) const { return offered_.of(port); }
  // Whether some offered slot has a priority above 0, and the members of `slots` with the highest priority among them.
  // The reference is good until the next call of this or of Eligible.
  bool prioritised() const { return offered_.prioritised(); }
  const SlotSet& HighestPriority(const SlotSet& slots) { return offered_.HighestPriority(slots); }
  bool AnyOffered(int port) const { return !offered_.of(port).empty(); }
  // Offered -> InFlight. The scheduler is not told: it has picked the slot.
  void Issue(SlotId slot) {
    assert(table_.state[slot] == SlotState::kOffered);
    offered_.Erase(slot);
    Switch(slot, SlotState::kInFlight, ThreadState::kReady, ThreadState::kDependency);
  }
  // Issue for several slots of one port, which hold `threads` threads.
  void IssueTogether(std::span<const SlotId> slots, uint64_t threads);
  // Issue and Advance in one: the slot stays offered.
  void MoveOn(SlotId slot, Position at) {
    table_.position[slot] = at;
    offered_.Renew(slot);
    if (WarpScheduler* watcher = scheduler(slot)) watcher->Offered(slot);
  }
  // InFlight or Barrier -> Offered at `at`, all threads; the policy is not asked.
  void Advance(SlotId slot, Position at) {
    table_.position[slot] = at;
    const bool waited = table_.state[slot] == SlotState::kBarrier;
    assert(waited || table_.state[slot] == SlotState::kInFlight);
    Switch(slot, SlotState::kOffered, waited ? ThreadState::kBarrier : ThreadState::kDependency, ThreadState::kReady);
    Offered(slot);
  }
  // Advance for several slots in flight, one after the other; slot i goes to at[i].
  void AdvanceTogether(std::span<const SlotId> slots, std::span<const Position> at);
  // InFlight -> Barrier.
  void WaitAtBarrier(SlotId slot) { SetState(slot, SlotState::kBarrier); }

  // InFlight or Barrier -> Resolving: the threads become unassigned at the positions of `groups`, which cover all lanes
  // of the slot except `exited`; the exited ones are finished. Then call the policy's Resolve; if it accepts,
  // EndResolve; if it refuses, call it again later with the same resolution.
  void BeginResolve(SlotId slot, std::span<const PathGroup> groups, LaneMask exited);
  // Checks that the slot was placed again, parked or dissolved. `lanes` are the slot's before BeginResolve.
  void EndResolve(SlotId slot, const Lanes& lanes);
  // Takes `lanes` of an in-flight slot out of it; they are unassigned at the positions of `groups` (those in `exited`
  // finished). Followed by Resolve with reason kLanes and EndTake.
  void BeginTake(SlotId slot, LaneMask lanes, std::span<const PathGroup> groups, LaneMask exited);
  void EndTake(const Lanes& lanes) { threads_.SettleUnassigned(lanes); }

  // Instructions that are not in the trace and that the slot has to issue first. TookInserted counts one down.
  uint32_t inserted(SlotId slot) const { return inserted_[slot]; }
  void TookInserted(SlotId slot) { --inserted_[slot]; }

  // --- changes
  // For an engine that keeps what follows from a slot's state: from now on every slot that changes is noted, save by
  // MoveOn. TakeChange hands out one slot after the other until it returns false, with whether its threads are others.
  void NoteChanges() { changes_.Enable(); }
  bool AnyChange() const { return changes_.any(); }
  // Whether the slot is among those that TakeChange has still to hand out.
  bool HasChanged(SlotId slot) const { return changes_.noted(slot); }
  bool TakeChange(SlotId& slot, bool& threads) { return changes_.Take(slot, threads); }

  // --- timers
  Cycle next_timer() const { return timers_.next(); }
  // The tag of a timer that is due, in order of time, then of start. False if none is due.
  bool PopTimer(uint64_t& tag) { return timers_.Pop(now_, tag); }

  // --- failures
  // Records a broken rule; the first one stays. Either sets Setup::error_flag.
  void Fail(std::string_view operation, SlotId slot, std::string_view what) {
    failure_.Fail(operation, slot, now_, what);
  }
  // The run needs more than a parameter of the policy allows: ends it like Fail, but as a refusal.
  void ReportLimitExceeded(std::string_view what) { failure_.ReportLimitExceeded(now_, what); }
  bool failed() const { return failure_.failed(); }
  // The first failure (an internal error, or FailedPrecondition for a limit), or OK.
  const absl::Status& status() const { return failure_.status(); }

  // --- operations of the editor, one to one, for WarpEditor, which says what they do
  int warp_size() const { return rules_.warp_size(); }
  SlotId SpawnAs(std::string_view operation, SlotState state, Position at, const Lanes& lanes,
                 HeldReason reason = HeldReason::kInactive);
  void Continue(std::string_view operation, SlotId slot, SlotState state, HeldReason reason = HeldReason::kInactive);
  void Place(SlotId slot, Position at, const Lanes& lanes);
  void Dissolve(SlotId slot);
  void Join(SlotId slot, const Lanes& lanes);
  SlotId Split(SlotId slot, LaneMask mask);
  void Merge(SlotId from, SlotId into);
  void Park(SlotId slot, HeldReason reason);
  void Offer(SlotId slot);
  void SetStop(SlotId slot, Position stop) {
    if (IsSlot("SetStop", slot)) table_.stop[slot] = stop;
  }
  void SetPort(SlotId slot, uint8_t port);
  void SetPriority(SlotId slot, uint8_t priority) {
    if (IsSlot("SetPriority", slot)) offered_.SetPriority(slot, priority);
  }
  void SetGroup(SlotId slot, uint32_t group) {
    if (IsSlot("SetGroup", slot)) table_.group[slot] = group;
  }
  void SetAge(SlotId slot, uint64_t formed);
  void InsertInstructions(SlotId slot, uint32_t count) {
    if (!IsSlot("InsertInstructions", slot)) return;
    inserted_[slot] += count;
    changes_.Note(slot, SlotChanges::kState);
  }
  void SetHeld(ThreadId thread, HeldReason reason);
  void StartTimer(Cycle at, uint64_t tag);

 private:
  // The slot whose instruction is done, until the policy has decided.
  struct Resolving {
    SlotId together = kNoSlot;  // its threads all go to `at` and are still in it; Continue costs nothing then
    Position at;
    LaneMask lanes = 0;       // that have not exited
    bool unassigned = false;  // its threads were made unassigned one by one
  };

  ThreadState StateOfSlot(SlotId slot) const {
    const SlotState state = table_.state[slot];
    return state == SlotState::kParked ? ThreadStateOf(table_.held[slot]) : ThreadStateOf(state);
  }
  uint64_t ThreadsIn(SlotId slot) const { return static_cast<uint64_t>(std::popcount(table_.lanes[slot].mask)); }
  // Changes a slot's state and keeps the set of offered slots, the counts of threads by state, and the schedulers' view
  // in step. `reason` counts for parked slots. What happens for every instruction (Issue, Advance) puts together what
  // it needs of this by itself.
  void SetState(SlotId slot, SlotState state, HeldReason reason = HeldReason::kInactive);
  // The slot's own part of a change of state that is neither from nor to parked, so that `held` stays kInactive.
  void Switch(SlotId slot, SlotState state, ThreadState before, ThreadState after) {
    table_.state[slot] = state;
    changes_.Note(slot, SlotChanges::kState);
    threads_.Count(before, after, ThreadsIn(slot));
  }
  // The slot is offered from now on: tells its scheduler.
  void Offered(SlotId slot) {
    offered_.Insert(slot);
    if (WarpScheduler* watcher = scheduler(slot)) watcher->Offered(slot);
  }
  WarpScheduler* scheduler(SlotId slot) const {
    return table_.port[slot] < schedulers_.size() ? schedulers_[table_.port[slot]] : nullptr;
  }

  // Makes the threads of the resolving slot unassigned, if that has been put off.
  void UnassignThreads() {
    if (resolving_.together != kNoSlot) UnassignThreadsNow();
  }
  void UnassignThreadsNow();
  // `exited` threads of a slot have ended, those of `groups` belong to no slot until the policy places them.
  void UnassignGroups(SlotId slot, std::span<const PathGroup> groups, LaneMask exited);

  SlotId Allocate(std::string_view operation);
  void Free(SlotId slot) {
    changes_.Note(slot, SlotChanges::kThreads);
    pool_.Return(slot);
  }
  // Where blocks are bound to ports: that of a thread's block.
  uint8_t PortOf(ThreadId thread) const { return static_cast<uint8_t>(threads_.block(thread) % ports_); }
  // Where blocks are bound to ports: whether all threads are of blocks of `port`; false after Fail.
  bool CheckPort(std::string_view operation, SlotId slot, uint8_t port, const Lanes& lanes);
  // Checks threads that are to enter a slot at `at`; false after Fail.
  bool CheckEntering(std::string_view operation, SlotId slot, Position at, const Lanes& lanes);
  // Threads that passed the check enter the slot; the slot's state counts them from now on.
  void Enter(SlotId slot, const Lanes& lanes);
  bool IsSlot(std::string_view operation, SlotId slot);
  bool IsRestingSlot(std::string_view operation, SlotId slot);

  // What every cycle looks at lies together: the host's caches have forgotten the SM since its last turn.
  Cycle now_ = 0;
  PolicyTimers timers_;
  SlotChanges changes_;
  OfferedSlots offered_;
  std::vector<WarpScheduler*> schedulers_;  // by port
  ThreadTable threads_;
  FormationEditor editor_;
  WarpTable table_;
  SlotPool pool_;
  const EntryRules rules_;
  std::vector<uint32_t> inserted_;  // by slot
  Resolving resolving_;
  PolicyFailure failure_;
  const int ports_;
  const bool one_port_per_block_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_WARPS_FORMATION_H_
