#include "replay/seams/formation.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {
Formation::Formation(const Setup& setup)
    : warp_size_(setup.warp_size),
      lane_bits_(std::has_single_bit(static_cast<uint32_t>(setup.warp_size)) ? setup.warp_size - 1 : 0),
      max_threads_(setup.max_threads),
      ports_(setup.ports),
      any_lane_(setup.any_lane),
      policy_name_(setup.policy_name),
      alarm_(setup.alarm),
      editor_(*this),
      // Every slot holds a thread, save parked ones that wait for a Place; twice the threads leaves room for those.
      table_(std::min(kMaxSlots, std::max(64, 2 * max_threads_))) {
  const size_t slots = table_.state.size();
  inserted_.assign(slots, 0);
  noted_.assign(slots, 0);
  for (size_t slot = 0; slot < slots; ++slot) free_.Insert(static_cast<SlotId>(slot));
  if (ports_ > 1) offered_by_port_.resize(ports_);
  thread_slot_.assign(max_threads_, kNoSlot);
  thread_position_.assign(max_threads_, Position::Exit());
  thread_block_.assign(max_threads_, 0);
  thread_index_.assign(max_threads_, 0);
  alive_.assign(max_threads_, kAbsent);
  held_.assign(max_threads_, kHeldInactive);
}

ThreadState Formation::StateOf(SlotState state) {
  switch (state) {
    case SlotState::kOffered:
      return ThreadState::kReady;
    case SlotState::kBarrier:
      return ThreadState::kBarrier;
    case SlotState::kInFlight:
    case SlotState::kResolving:
    case SlotState::kParked:  // see StateOfSlot
    case SlotState::kFree:
      break;
  }
  return ThreadState::kDependency;
}

ThreadState Formation::StateOf(HeldReason reason) {
  switch (reason) {
    case HeldReason::kInactive:
      return ThreadState::kInactive;
    case HeldReason::kReconverging:
      return ThreadState::kReconverging;
    case HeldReason::kDependency:
      return ThreadState::kDependency;
    case HeldReason::kReady:
      break;
  }
  return ThreadState::kReady;
}

// --- failures

void Formation::Fail(std::string_view operation, SlotId slot, std::string_view what) {
  if (failed()) return;
  if (alarm_ != nullptr) *alarm_ = true;
  std::string message =
      absl::StrCat("internal error: divergence policy '", policy_name_, "': ", std::string(operation));
  if (slot != kNoSlot) absl::StrAppend(&message, " of slot ", slot);
  absl::StrAppend(&message, " in cycle ", now_, ": ", std::string(what));
  failure_ = absl::InternalError(message);
}

void Formation::MeetLimit(std::string_view what) {
  if (failed()) return;
  if (alarm_ != nullptr) *alarm_ = true;
  failure_ = absl::FailedPreconditionError(
      absl::StrCat("divergence policy '", policy_name_, "' met a limit in cycle ", now_, ": ", std::string(what)));
}

// --- threads

void Formation::AddThread(ThreadId thread, BlockId block, uint32_t index_in_block, Position at) {
  alive_[thread] = kLive;
  thread_slot_[thread] = kNoSlot;
  thread_position_[thread] = at;
  thread_block_[thread] = block;
  thread_index_[thread] = index_in_block;
  held_[thread] = kHeldInactive;
  ++thread_states_[static_cast<int>(ThreadState::kInactive)];
}

void Formation::AddThreads(ThreadId first, uint32_t count, BlockId block, uint32_t first_index, Position at) {
  std::fill_n(alive_.begin() + first, count, kLive);
  std::fill_n(thread_slot_.begin() + first, count, kNoSlot);
  std::fill_n(thread_position_.begin() + first, count, at);
  std::fill_n(thread_block_.begin() + first, count, block);
  std::iota(thread_index_.begin() + first, thread_index_.begin() + first + count, first_index);
  std::fill_n(held_.begin() + first, count, kHeldInactive);
  thread_states_[static_cast<int>(ThreadState::kInactive)] += count;
}

void Formation::RemoveBlock(BlockId block, ThreadId first_thread, uint32_t hardware_threads) {
  // Loops without an exit, which run over many threads at a time, in numbers of one width if they can.
  uint8_t* const alive = &alive_[first_thread];
  const BlockId* const block_of = &thread_block_[first_thread];
  BlockId others = 0;
  for (uint32_t i = 0; i < hardware_threads; ++i) others |= block_of[i] ^ block;
  uint8_t unfinished = 0;
  for (uint32_t i = 0; i < hardware_threads; ++i) unfinished |= alive[i] ^ kFinished;
  if ((others | unfinished) == 0) {
    std::fill_n(alive, hardware_threads, kAbsent);
    thread_states_[static_cast<int>(ThreadState::kFinished)] -= hardware_threads;
    return;
  }
  uint16_t live = 0;
  for (uint32_t i = 0; i < hardware_threads; ++i) live |= alive[i] == kLive && block_of[i] == block;
  if (live != 0) {
    uint32_t i = 0;
    while (alive[i] != kLive || block_of[i] != block) ++i;
    Fail("Retire", kNoSlot, absl::StrCat("thread ", first_thread + i, " is still live"));
    return;
  }
  uint16_t removed = 0;
  for (uint32_t i = 0; i < hardware_threads; ++i) {
    const bool leaves = alive[i] == kFinished && block_of[i] == block;
    removed = static_cast<uint16_t>(removed + leaves);
    alive[i] = leaves ? uint8_t{kAbsent} : alive[i];
  }
  thread_states_[static_cast<int>(ThreadState::kFinished)] -= removed;
}

Position Formation::position_of(ThreadId thread) const {
  const SlotId slot = thread_slot_[thread];
  if (slot == kNoSlot) return thread_position_[thread];
  return slot == pending_slot_ ? pending_at_ : table_.position[slot];
}

// --- states and issue

void Formation::SetState(SlotId slot, SlotState state, HeldReason reason) {
  const SlotState old = table_.state[slot];
  const ThreadState before = StateOfSlot(slot);
  table_.state[slot] = state;
  Note(slot, kStateNoted);
  table_.held[slot] = reason;
  MoveThreads(before, StateOfSlot(slot), static_cast<uint64_t>(std::popcount(table_.lanes[slot].mask)));
  if (old == SlotState::kOffered) {
    Unlist(slot);
    if (WarpScheduler* watcher = scheduler(slot)) watcher->Withdrawn(slot);
  }
  if (state == SlotState::kOffered) List(slot);
}

void Formation::IssueTogether(std::span<const SlotId> slots, uint64_t threads) {
  if (slots.empty()) return;
  const uint8_t port = table_.port[slots.front()];
  SlotSet* const of_port = ports_ > 1 ? &offered_by_port_[port] : nullptr;
  SlotState* const state = table_.state.data();
  ForEachWord(
      slots.size(),
      [&](size_t i) {
        const SlotId slot = slots[i];
        assert(state[slot] == SlotState::kOffered && table_.port[slot] == port);
        state[slot] = SlotState::kInFlight;
        return slot;
      },
      [&](uint32_t word, uint64_t bits) {
        table_.offered.EraseBits(word, bits);
        if (of_port != nullptr) of_port->EraseBits(word, bits);
      });
  MoveThreads(ThreadState::kReady, ThreadState::kDependency, threads);
  NoteTogether(slots, -1);
}

void Formation::AdvanceTogether(std::span<const SlotId> slots, std::span<const Position> at) {
  const uint8_t* const ports = table_.port.data();
  SlotState* const state = table_.state.data();
  SlotRow* const rows = table_.rows.data();
  const Lanes* const lanes = table_.lanes.data();
  uint64_t threads = 0;
  while (!slots.empty()) {
    // Slots of one port, which they mostly are.
    const uint8_t port = ports[slots.front()];
    size_t count = 1;
    while (count < slots.size() && ports[slots[count]] == port) ++count;
    const std::span<const SlotId> own = slots.first(count);
    SlotSet* const of_port = ports_ > 1 ? &offered_by_port_[port] : nullptr;
    const uint64_t sequence = offer_sequence_ + 1;
    ForEachWord(
        count,
        [&](size_t i) {
          const SlotId slot = own[i];
          assert(state[slot] == SlotState::kInFlight);
          rows[slot].position = at[i];
          rows[slot].offered_at = sequence + i;
          state[slot] = SlotState::kOffered;
          threads += static_cast<uint64_t>(std::popcount(lanes[slot].mask));
          return slot;
        },
        [&](uint32_t word, uint64_t bits) {
          table_.offered.InsertBits(word, bits);
          if (of_port != nullptr) of_port->InsertBits(word, bits);
        });
    offer_sequence_ += count;
    NoteTogether(own, 1);
    if (WarpScheduler* watcher = scheduler(own.front())) watcher->OfferedInOrder(own);
    slots = slots.subspan(count);
    at = at.subspan(count);
  }
  MoveThreads(ThreadState::kDependency, ThreadState::kReady, threads);
}

void Formation::NoteTogether(std::span<const SlotId> slots, int offered) {
  if (!noting_ && !priorities_) return;
  for (const SlotId slot : slots) {
    Note(slot, kStateNoted);
    if (table_.priority[slot] != 0) prioritised_ += offered;
  }
}

const SlotSet& Formation::Eligible(int port) {
  const SlotSet& offered = ports_ == 1 ? table_.offered : offered_by_port_[port];
  return prioritised_ == 0 ? offered : HighestPriority(offered);
}

const SlotSet& Formation::HighestPriority(const SlotSet& slots) {
  uint8_t highest = 0;
  slots.ForEach([&](SlotId slot) { highest = std::max(highest, table_.priority[slot]); });
  scratch_.Clear();
  slots.ForEach([&](SlotId slot) {
    if (table_.priority[slot] == highest) scratch_.Insert(slot);
  });
  return scratch_;
}

void Formation::WaitAtBarrier(SlotId slot) { SetState(slot, SlotState::kBarrier); }

// --- resolve

void Formation::MakeLoose(ThreadId thread, Position at, Held held) {
  thread_slot_[thread] = kNoSlot;
  thread_position_[thread] = at;
  held_[thread] = held;
}

void Formation::LoosenNow() {
  const Lanes& lanes = table_.lanes[pending_slot_];
  ForEachLane(lanes.mask, [&](int lane) { MakeLoose(lanes.thread[lane], pending_at_, kHeldResolving); });
  table_.lanes[pending_slot_].mask = 0;
  Note(pending_slot_, kThreadsNoted);
  pending_slot_ = kNoSlot;
  loosened_ = true;
}

void Formation::LoosenGroups(SlotId slot, std::span<const PathGroup> groups, LaneMask exited) {
  const Lanes& lanes = table_.lanes[slot];
  if (exited == lanes.mask && exited != 0 && AreNeighbours(lanes)) {
    const auto count = static_cast<uint32_t>(std::popcount(exited));
    const ThreadId first = lanes.thread[std::countr_zero(exited)];
    std::fill_n(thread_slot_.begin() + first, count, kNoSlot);
    std::fill_n(alive_.begin() + first, count, kFinished);
  } else {
    ForEachLane(exited, [&](int lane) {
      const ThreadId thread = lanes.thread[lane];
      thread_slot_[thread] = kNoSlot;
      alive_[thread] = kFinished;
    });
  }
  MoveThreads(ThreadState::kDependency, ThreadState::kFinished, static_cast<uint64_t>(std::popcount(exited)));
  for (const PathGroup& group : groups) {
    ForEachLane(group.lanes, [&](int lane) { MakeLoose(lanes.thread[lane], group.at, kHeldResolving); });
  }
  Note(slot, kThreadsNoted);
}

void Formation::BeginResolve(SlotId slot, std::span<const PathGroup> groups, LaneMask exited) {
  SetState(slot, SlotState::kResolving);
  resolving_lanes_ = table_.lanes[slot].mask & ~exited;
  loosened_ = false;
  if (exited == 0 && groups.size() == 1) {
    pending_slot_ = slot;
    pending_at_ = groups[0].at;
    return;
  }
  LoosenGroups(slot, groups, exited);
  table_.lanes[slot].mask = 0;
  loosened_ = true;
}

void Formation::EndResolve(SlotId slot, const Lanes& lanes) {
  if (table_.state[slot] == SlotState::kResolving) {
    Fail("Resolve", slot, "the slot was neither continued, placed, parked nor dissolved");
  }
  if (loosened_ && resolving_lanes_ != 0) EndTake(lanes);
}

void Formation::BeginTake(SlotId slot, LaneMask taken, std::span<const PathGroup> groups, LaneMask exited) {
  LoosenGroups(slot, groups, exited);
  table_.lanes[slot].mask &= ~taken;
}

void Formation::EndTake(const Lanes& lanes) {
  ForEachLane(lanes.mask, [&](int lane) {
    const ThreadId thread = lanes.thread[lane];
    if (alive_[thread] == kLive && thread_slot_[thread] == kNoSlot && held_[thread] == kHeldResolving) {
      held_[thread] = kHeldInactive;
      MoveThreads(ThreadState::kDependency, ThreadState::kInactive, 1);
    }
  });
}

// --- timers

void Formation::StartTimer(Cycle at, uint64_t tag) {
  if (at < now_) {
    Fail("StartTimer", kNoSlot, absl::StrCat("cycle ", at, " is over"));
    return;
  }
  timers_.push_back({at, timer_sequence_++, tag});
  std::push_heap(timers_.begin(), timers_.end(), Later);
}

bool Formation::PopTimer(uint64_t& tag) {
  if (timers_.empty() || timers_.front().at > now_) return false;
  std::pop_heap(timers_.begin(), timers_.end(), Later);
  tag = timers_.back().tag;
  timers_.pop_back();
  return true;
}

}  // namespace heddle::replay
