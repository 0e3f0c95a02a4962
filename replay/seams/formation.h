// Which threads are together: warps, loose threads, and the guarded operations on them. Knows nothing of time.
#ifndef HEDDLE_REPLAY_SEAMS_FORMATION_H_
#define HEDDLE_REPLAY_SEAMS_FORMATION_H_

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_editor.h"
#include "replay/seams/warp_scheduler.h"
#include "replay/seams/warp_table.h"

namespace heddle::replay {

// What a live or finished thread of a resident block is doing, for the breakdown of idle cycles (metrics: HARP's
// thread states). Threads of parked slots and loose ones count as what the policy says that they are held for.
enum class ThreadState : uint8_t { kReady, kDependency, kBarrier, kInactive, kReconverging, kFinished };
inline constexpr int kThreadStates = 6;

// The formation state of one SM: the warp table, where loose threads are, timers of the policy, and the notifications
// of the schedulers. It is kept apart from what is in flight, so that any engine can drive the same policies: one that
// skips cycles and one that polls each cycle. Everything a policy may do goes through WarpEditor; the rest of the
// public functions are for the engine.
//
// Slots go round: Offered -Issue-> InFlight -Advance-> Offered, or InFlight -BeginResolve-> Resolving -policy->
// Offered, Parked or Free. InFlight -WaitAtBarrier-> Barrier -Advance or BeginResolve->.
class Formation {
 public:
  struct Setup {
    int warp_size = 32;
    int max_threads = 0;  // hardware threads, at most kMaxSlots
    int ports = 1;
    bool any_lane = false;    // PolicyTraits::any_lane
    std::string policy_name;  // for messages
    bool* alarm = nullptr;    // set when a rule is broken or a limit met, for who asks in every cycle
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
  const Cycle& clock() const { return now_; }  // the same for those that look again and again

  // --- threads
  // A thread becomes live and loose at `at`.
  void AddThread(ThreadId thread, BlockId block, uint32_t index_in_block, Position at);
  // `count` neighbouring threads become live and loose at `at`; the first has number `first_index` in the block.
  void AddThreads(ThreadId first, uint32_t count, BlockId block, uint32_t first_index, Position at);
  // The next slot that is made continues a warp that has run before: it takes that warp's age and port.
  void ContinueWarp(uint64_t age, uint8_t port) { continued_ = {true, port, age}; }
  // The block's threads, all of them finished, leave the SM.
  void RemoveBlock(BlockId block, ThreadId first_thread, uint32_t hardware_threads);
  BlockId block_of(ThreadId thread) const { return thread_block_[thread]; }
  uint32_t index_in_block(ThreadId thread) const { return thread_index_[thread]; }
  bool is_live(ThreadId thread) const { return alive_[thread] == kLive; }
  // Slot of a live thread; kNoSlot if it is loose. During Resolve, threads of the resolving slot are loose.
  SlotId slot_of(ThreadId thread) const { return thread_slot_[thread]; }
  // Position of a live thread, loose or in a slot.
  Position position_of(ThreadId thread) const;
  // What one thread of a resident block is doing, from its slot or why it is loose.
  ThreadState StateOfThread(ThreadId thread) const {
    if (alive_[thread] != kLive) return ThreadState::kFinished;
    const SlotId slot = thread_slot_[thread];
    return slot == kNoSlot ? StateOf(static_cast<Held>(held_[thread])) : StateOfSlot(slot);
  }
  // Threads by state; kDependency includes those of a slot whose resolve was refused.
  const std::array<uint64_t, kThreadStates>& thread_states() const { return thread_states_; }

  // --- issue and completion
  // Slots that port may issue: offered slots of the port with the highest priority there is. The reference is good
  // until the next change.
  const SlotSet& Eligible(int port);
  // Whether some offered slot has a priority above 0, and the members of `slots` with the highest priority among them.
  // The reference is good until the next call of this or of Eligible.
  bool prioritised() const { return prioritised_ != 0; }
  const SlotSet& HighestPriority(const SlotSet& slots);
  bool AnyOffered(int port) const { return !(ports_ == 1 ? table_.offered : offered_by_port_[port]).empty(); }
  // Offered -> InFlight. The scheduler is not told: it has picked the slot.
  void Issue(SlotId slot) {
    assert(table_.state[slot] == SlotState::kOffered);
    Unlist(slot);
    Switch(slot, SlotState::kInFlight, ThreadState::kReady, ThreadState::kDependency);
  }
  // Issue for several slots of one port, which hold `threads` threads.
  void IssueTogether(std::span<const SlotId> slots, uint64_t threads);
  // Issue and Advance in one: the slot stays offered.
  void MoveOn(SlotId slot, Position at) {
    table_.position[slot] = at;
    table_.offered_at[slot] = ++offer_sequence_;
    if (WarpScheduler* watcher = scheduler(slot)) watcher->Offered(slot);
  }
  // InFlight or Barrier -> Offered at `at`, all threads; the policy is not asked.
  void Advance(SlotId slot, Position at) {
    table_.position[slot] = at;
    const bool waited = table_.state[slot] == SlotState::kBarrier;
    assert(waited || table_.state[slot] == SlotState::kInFlight);
    Switch(slot, SlotState::kOffered, waited ? ThreadState::kBarrier : ThreadState::kDependency, ThreadState::kReady);
    List(slot);
  }
  // Advance for several slots in flight, one after the other; slot i goes to at[i].
  void AdvanceTogether(std::span<const SlotId> slots, std::span<const Position> at);
  // InFlight -> Barrier.
  void WaitAtBarrier(SlotId slot);

  // InFlight or Barrier -> Resolving: the threads become loose at the positions of `groups`, which cover all lanes of
  // the slot except `exited`; the exited ones are finished. Then call the policy's Resolve; if it accepts, EndResolve;
  // if it refuses, call it again later with the same resolution.
  void BeginResolve(SlotId slot, std::span<const PathGroup> groups, LaneMask exited);
  // Checks that the slot was placed again, parked or dissolved. `lanes` are the slot's before BeginResolve.
  void EndResolve(SlotId slot, const Lanes& lanes);
  // Takes `lanes` of an in-flight slot out of it; they are loose at the positions of `groups` (those in `exited`
  // finished). Followed by Resolve with reason kLanes and EndTake.
  void BeginTake(SlotId slot, LaneMask lanes, std::span<const PathGroup> groups, LaneMask exited);
  void EndTake(const Lanes& lanes);

  // Instructions that are not in the trace and that the slot has to issue first. TookInserted counts one down.
  uint32_t inserted(SlotId slot) const { return inserted_[slot]; }
  void TookInserted(SlotId slot) { --inserted_[slot]; }

  // --- changes
  // For an engine that keeps what follows from a slot's state: from now on every slot that changes is noted, save by
  // MoveOn. TakeChange hands out one slot after the other until it returns false, with whether its threads are others.
  void NoteChanges() { noting_ = true; }
  bool AnyChange() const { return !changed_.empty(); }
  bool TakeChange(SlotId& slot, bool& threads) {
    if (changed_.empty()) return false;
    slot = changed_.back();
    changed_.pop_back();
    threads = (noted_[slot] & kThreadsNoted) != 0;
    noted_[slot] = 0;
    return true;
  }

  // --- timers
  Cycle next_timer() const { return timers_.empty() ? kNever : timers_.front().at; }
  // The tag of a timer that is due, in order of time, then of start. False if none is due.
  bool PopTimer(uint64_t& tag);

  // --- failures
  // Records a broken rule; the first one stays. Either sets Setup::alarm.
  void Fail(std::string_view operation, SlotId slot, std::string_view what);
  // The run needs more than a parameter of the policy allows: ends it like Fail, but as a refusal.
  void MeetLimit(std::string_view what);
  bool failed() const { return !failure_.ok(); }
  // The first failure (an internal error, or FailedPrecondition for a limit), or OK.
  const absl::Status& status() const { return failure_; }

 private:
  friend class WarpEditor;

  enum Life : uint8_t { kAbsent, kLive, kFinished };
  // Why a loose thread is loose: a HeldReason, or kHeldResolving until the policy has decided.
  enum Held : uint8_t { kHeldInactive = static_cast<uint8_t>(HeldReason::kInactive), kHeldResolving = 0xff };
  struct TimerEntry {
    Cycle at;
    uint64_t sequence;
    uint64_t tag;
  };
  static bool Later(const TimerEntry& a, const TimerEntry& b) {
    return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
  }

  static ThreadState StateOf(SlotState state);
  static ThreadState StateOf(HeldReason reason);
  static ThreadState StateOf(Held held) {
    return held == kHeldResolving ? ThreadState::kDependency : StateOf(static_cast<HeldReason>(held));
  }
  ThreadState StateOfSlot(SlotId slot) const {
    return table_.state[slot] == SlotState::kParked ? StateOf(table_.held[slot]) : StateOf(table_.state[slot]);
  }
  // Changes a slot's state and keeps the set of offered slots, the counts of threads by state, and the schedulers' view
  // in step. `reason` counts for parked slots. What happens for every instruction (Issue, Advance) puts together what
  // it needs of this by itself.
  void SetState(SlotId slot, SlotState state, HeldReason reason = HeldReason::kInactive);
  void MoveThreads(ThreadState from, ThreadState to, uint64_t count) {
    thread_states_[static_cast<int>(from)] -= count;
    thread_states_[static_cast<int>(to)] += count;
  }
  // The slot's own part of a change of state that is neither from nor to parked, so that `held` stays kInactive.
  void Switch(SlotId slot, SlotState state, ThreadState before, ThreadState after) {
    table_.state[slot] = state;
    Note(slot, kStateNoted);
    MoveThreads(before, after, static_cast<uint64_t>(std::popcount(table_.lanes[slot].mask)));
  }
  // Takes the slot from the offered ones, or adds it and tells its scheduler.
  void Unlist(SlotId slot) {
    table_.offered.Erase(slot);
    if (ports_ > 1) offered_by_port_[table_.port[slot]].Erase(slot);
    prioritised_ -= table_.priority[slot] != 0;
  }
  void List(SlotId slot) {
    table_.offered.Insert(slot);
    if (ports_ > 1) offered_by_port_[table_.port[slot]].Insert(slot);
    prioritised_ += table_.priority[slot] != 0;
    table_.offered_at[slot] = ++offer_sequence_;
    if (WarpScheduler* watcher = scheduler(slot)) watcher->Offered(slot);
  }
  // Calls slot(i) for i from 0 to count - 1, and apply(word, bits) for the slots that it returns: neighbours mostly
  // share a word of a SlotSet.
  template <typename Slot, typename Apply>
  [[gnu::always_inline]] static void ForEachWord(size_t count, Slot slot, Apply apply) {
    uint32_t word = 0;
    uint64_t bits = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t number = slot(i);
      if (number >> 6 != word) {
        if (bits != 0) apply(word, bits);
        word = number >> 6;
        bits = 0;
      }
      bits |= uint64_t{1} << (number & 63);
    }
    if (bits != 0) apply(word, bits);
  }
  // The rest of IssueTogether and AdvanceTogether, which hardly anybody needs. `offered`: 1 if the slots are offered
  // now, -1 if they were.
  void NoteTogether(std::span<const SlotId> slots, int offered);
  WarpScheduler* scheduler(SlotId slot) const {
    return table_.port[slot] < schedulers_.size() ? schedulers_[table_.port[slot]] : nullptr;
  }

  static constexpr uint8_t kStateNoted = 1;
  static constexpr uint8_t kThreadsNoted = 2;
  void Note(SlotId slot, uint8_t what) {
    if (!noting_) return;
    if (noted_[slot] == 0) changed_.push_back(slot);
    noted_[slot] |= what;
  }

  // Makes the threads of the resolving slot loose, if that has been put off.
  void Loosen() {
    if (pending_slot_ != kNoSlot) LoosenNow();
  }
  void LoosenNow();
  // `exited` threads of a slot have ended, those of `groups` belong to no slot until the policy places them.
  void LoosenGroups(SlotId slot, std::span<const PathGroup> groups, LaneMask exited);
  void MakeLoose(ThreadId thread, Position at, Held held);

  SlotId Allocate(std::string_view operation);
  void Free(SlotId slot);
  // Whether the lanes are neighbours, and hold threads that follow one another: mostly they are a whole row.
  static bool AreNeighbours(const Lanes& lanes);
  // CheckEntering without words, for neighbours: false if something may be wrong.
  bool NeighboursMayEnter(Position at, const Lanes& lanes) const;
  // Checks threads that are to enter a slot at `at`; false after Fail.
  bool CheckEntering(std::string_view operation, SlotId slot, Position at, const Lanes& lanes);
  // Threads that passed the check enter the slot; the slot's state counts them from now on.
  void Enter(SlotId slot, const Lanes& lanes);
  SlotId SpawnAs(std::string_view operation, SlotState state, Position at, const Lanes& lanes,
                 HeldReason reason = HeldReason::kInactive);
  bool IsSlot(std::string_view operation, SlotId slot);
  bool IsRestingSlot(std::string_view operation, SlotId slot);

  // Operations of the editor, one to one.
  void Continue(std::string_view operation, SlotId slot, SlotState state, HeldReason reason = HeldReason::kInactive);
  void Place(SlotId slot, Position at, const Lanes& lanes);
  void Dissolve(SlotId slot);
  void Join(SlotId slot, const Lanes& lanes);
  SlotId Split(SlotId slot, LaneMask mask);
  void Merge(SlotId from, SlotId into);
  void Park(SlotId slot, HeldReason reason);
  void Offer(SlotId slot);
  void SetPort(SlotId slot, uint8_t port);
  void SetPriority(SlotId slot, uint8_t priority);
  void SetAge(SlotId slot, uint64_t formed);
  void SetHeld(ThreadId thread, HeldReason reason);
  void StartTimer(Cycle at, uint64_t tag);

  // The lane that a thread has in its static warp.
  int HomeLane(ThreadId thread) const { return lane_bits_ != 0 ? thread & lane_bits_ : thread % warp_size_; }

  // What every cycle looks at lies together: the host's caches have forgotten the SM since its last turn.
  Cycle now_ = 0;
  std::vector<TimerEntry> timers_;  // heap
  std::vector<SlotId> changed_;
  int prioritised_ = 0;  // offered slots with a priority above 0
  bool noting_ = false;
  uint64_t offer_sequence_ = 0;
  std::vector<WarpScheduler*> schedulers_;
  std::array<uint64_t, kThreadStates> thread_states_{};

  const int warp_size_;
  const int lane_bits_;  // warp size - 1 if that is a power of two above 1, else 0: divisions show in the profile
  const int max_threads_;
  const int ports_;
  const bool any_lane_;
  const std::string policy_name_;
  bool* const alarm_;
  WarpEditor editor_;
  WarpTable table_;
  SlotSet free_;
  std::vector<SlotSet> offered_by_port_;  // only with several ports
  SlotSet scratch_;                       // what Eligible returns when priorities differ
  bool priorities_ = false;               // some slot has ever had a priority above 0
  std::vector<uint32_t> inserted_;
  struct Continued {
    bool is = false;
    uint8_t port = 0;
    uint64_t age = 0;
  } continued_;  // what the next slot takes over
  uint64_t formed_sequence_ = 0;

  std::vector<SlotId> thread_slot_;
  std::vector<Position> thread_position_;  // of loose threads
  std::vector<BlockId> thread_block_;
  std::vector<uint32_t> thread_index_;
  std::vector<uint8_t> alive_;
  std::vector<uint8_t> held_;

  // Resolving slot with a single outcome whose threads have not been made loose yet; Continue then costs nothing.
  SlotId pending_slot_ = kNoSlot;
  Position pending_at_;
  LaneMask resolving_lanes_ = 0;
  bool loosened_ = false;  // threads of the resolving slot were made loose one by one

  std::vector<uint8_t> noted_;  // by slot
  uint64_t timer_sequence_ = 0;
  absl::Status failure_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_FORMATION_H_
