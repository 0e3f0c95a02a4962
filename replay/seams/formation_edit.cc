// What policies do to warps through the editor: every operation checks what it is given.
#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "replay/seams/formation.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {
namespace {

std::string_view Name(SlotState state) {
  switch (state) {
    case SlotState::kFree:
      return "free";
    case SlotState::kOffered:
      return "offered";
    case SlotState::kInFlight:
      return "in flight";
    case SlotState::kBarrier:
      return "at a barrier";
    case SlotState::kResolving:
      return "resolving";
    case SlotState::kParked:
      return "parked";
  }
  return "unknown";
}

std::string Text(Position at) {
  return at.is_exit() ? "exit" : absl::StrCat("pc ", at.pc() * 8, " depth ", at.depth());
}

std::string Text(std::string_view text) { return std::string(text); }

}  // namespace

bool Formation::IsSlot(std::string_view operation, SlotId slot) {
  if (slot < table_.state.size() && table_.state[slot] != SlotState::kFree) return true;
  Fail(operation, slot, "there is no such slot");
  return false;
}

bool Formation::IsRestingSlot(std::string_view operation, SlotId slot) {
  if (!IsSlot(operation, slot)) return false;
  const SlotState state = table_.state[slot];
  if (state == SlotState::kOffered || state == SlotState::kParked) return true;
  Fail(operation, slot, absl::StrCat("the slot is ", Text(Name(state)), ", but must be offered or parked"));
  return false;
}

// --- slots come and go

SlotId Formation::Allocate(std::string_view operation) {
  const SlotId slot = free_.First();
  if (slot == kNoSlot) {
    Fail(operation, kNoSlot, absl::StrCat("all ", table_.state.size(), " slots are taken"));
    return kNoSlot;
  }
  free_.Erase(slot);
  ++table_.live;
  table_.stop[slot] = Position::Exit();
  table_.formed[slot] = ++formed_sequence_;
  table_.ages.Add(slot);
  table_.port[slot] = static_cast<uint8_t>(slot % ports_);
  if (continued_.is) {
    table_.formed[slot] = continued_.age;
    table_.ages.Move(slot, table_.rows);
    table_.port[slot] = continued_.port;
    continued_.is = false;
  }
  table_.priority[slot] = 0;
  table_.group[slot] = 0;
  if (slot >= table_.lanes.size()) table_.lanes.resize(size_t{slot} + 1);
  table_.lanes[slot].mask = 0;
  inserted_[slot] = 0;
  return slot;
}

void Formation::Free(SlotId slot) {
  table_.state[slot] = SlotState::kFree;
  table_.lanes[slot].mask = 0;
  Note(slot, kThreadsNoted);
  --table_.live;
  table_.ages.Remove(slot);
  free_.Insert(slot);
}

bool Formation::AreNeighbours(const Lanes& lanes) {
  const int low = std::countr_zero(lanes.mask);
  const LaneMask from_low = lanes.mask >> low;
  if ((from_low & (from_low + 1)) != 0) return false;
  return FollowOneAnother(&lanes.thread[low], static_cast<uint32_t>(std::popcount(lanes.mask)));
}

bool Formation::NeighboursMayEnter(Position at, const Lanes& lanes) const {
  const int low = std::countr_zero(lanes.mask);
  const int first = lanes.thread[low];
  const int end = first + std::popcount(lanes.mask);
  if (end > max_threads_ || (!any_lane_ && HomeLane(lanes.thread[low]) != low)) return false;
  // Each in numbers of its own width, so that the loops run over many threads at a time.
  const uint8_t* const alive = alive_.data();
  const SlotId* const slot = thread_slot_.data();
  const Position* const position = thread_position_.data();
  uint8_t dead = 0;
  for (int thread = first; thread < end; ++thread) dead |= alive[thread] ^ kLive;
  uint16_t placed = 0;
  for (int thread = first; thread < end; ++thread) placed |= slot[thread] ^ kNoSlot;
  uint32_t elsewhere = 0;
  for (int thread = first; thread < end; ++thread) elsewhere |= position[thread] != at ? 1u : 0u;
  return (dead | placed | elsewhere) == 0;
}

bool Formation::CheckEntering(std::string_view operation, SlotId slot, Position at, const Lanes& lanes) {
  if (lanes.mask == 0) {
    Fail(operation, slot, "no threads are given");
    return false;
  }
  if (at.is_exit()) {
    Fail(operation, slot, "no thread can be at the exit");
    return false;
  }
  if (warp_size_ < kMaxLanes && (lanes.mask >> warp_size_) != 0) {
    Fail(operation, slot, absl::StrCat("a lane beyond the warp size ", warp_size_, " is used"));
    return false;
  }
  if (AreNeighbours(lanes) && NeighboursMayEnter(at, lanes)) return true;
  for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    const ThreadId thread = lanes.thread[lane];
    if (thread >= max_threads_ || alive_[thread] != kLive) {
      Fail(operation, slot, absl::StrCat("lane ", lane, " holds thread ", thread, ", which is not live"));
      return false;
    }
    if (thread_slot_[thread] != kNoSlot) {
      Fail(operation, slot,
           absl::StrCat("lane ", lane, " holds thread ", thread, ", which is in slot ", thread_slot_[thread]));
      return false;
    }
    if (thread_position_[thread] != at) {
      Fail(operation, slot,
           absl::StrCat("thread ", thread, " is at ", Text(thread_position_[thread]), ", not at ", Text(at)));
      return false;
    }
    if (!any_lane_ && HomeLane(thread) != lane) {
      Fail(operation, slot, absl::StrCat("thread ", thread, " is in lane ", lane, ", not in its home lane"));
      return false;
    }
  }
  if (any_lane_) {  // home lanes exclude a thread given twice; without them it has to be looked for
    for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      for (LaneMask rest = mask & (mask - 1); rest != 0; rest &= rest - 1) {
        if (lanes.thread[std::countr_zero(rest)] == lanes.thread[lane]) {
          Fail(operation, slot, absl::StrCat("thread ", lanes.thread[lane], " is given twice"));
          return false;
        }
      }
    }
  }
  return true;
}

void Formation::Enter(SlotId slot, const Lanes& lanes) {
  Lanes& inside = table_.lanes[slot];
  const ThreadState state = StateOfSlot(slot);
  if (inside.mask == 0) table_.block[slot] = thread_block_[lanes.thread[std::countr_zero(lanes.mask)]];
  const int low = std::countr_zero(lanes.mask);
  const auto count = static_cast<uint32_t>(std::popcount(lanes.mask));
  const ThreadId first = lanes.thread[low];
  uint8_t* const held = &held_[first];
  bool alike = AreNeighbours(lanes);
  if (alike) {
    uint8_t differs = 0;
    for (uint32_t i = 0; i < count; ++i) differs |= held[i] ^ held[0];
    alike = differs == 0;
  }
  if (alike) {
    std::copy_n(&lanes.thread[low], count, &inside.thread[low]);
    std::fill_n(thread_slot_.begin() + first, count, slot);
    MoveThreads(StateOf(static_cast<Held>(*held)), state, count);
    std::fill_n(held, count, kHeldInactive);
  } else {
    ForEachLane(lanes.mask, [&](int lane) {
      const ThreadId thread = lanes.thread[lane];
      inside.thread[lane] = thread;
      thread_slot_[thread] = slot;
      MoveThreads(StateOf(static_cast<Held>(held_[thread])), state, 1);
      held_[thread] = kHeldInactive;
    });
  }
  inside.mask |= lanes.mask;
  Note(slot, kThreadsNoted);
}

SlotId Formation::SpawnAs(std::string_view operation, SlotState state, Position at, const Lanes& lanes,
                          HeldReason reason) {
  Loosen();
  if (!CheckEntering(operation, kNoSlot, at, lanes)) return kNoSlot;
  const SlotId slot = Allocate(operation);
  if (slot == kNoSlot) return kNoSlot;
  table_.position[slot] = at;
  table_.state[slot] = SlotState::kResolving;
  Enter(slot, lanes);
  SetState(slot, state, reason);
  return slot;
}

void Formation::Continue(std::string_view operation, SlotId slot, SlotState state, HeldReason reason) {
  if (!IsSlot(operation, slot)) return;
  if (table_.state[slot] != SlotState::kResolving) {
    Fail(operation, slot, absl::StrCat("the slot is ", Text(Name(table_.state[slot])), ", not resolving"));
    return;
  }
  if (pending_slot_ == slot) {
    pending_slot_ = kNoSlot;
    table_.position[slot] = pending_at_;
    SetState(slot, state, reason);
    return;
  }
  // The threads have been made loose one by one, or took several ways: they must still be together.
  Lanes lanes = table_.lanes[slot];
  lanes.mask = resolving_lanes_;
  if (lanes.mask == 0) {
    Fail(operation, slot, "no thread is left in the slot");
    return;
  }
  const Position at = thread_position_[lanes.thread[std::countr_zero(lanes.mask)]];
  if (!CheckEntering(operation, slot, at, lanes)) return;
  table_.position[slot] = at;
  Enter(slot, lanes);
  SetState(slot, state, reason);
}

void Formation::Place(SlotId slot, Position at, const Lanes& given) {
  if (!IsSlot("Place", slot)) return;
  const SlotState state = table_.state[slot];
  if (state != SlotState::kResolving && !(state == SlotState::kParked && table_.lanes[slot].mask == 0)) {
    Fail("Place", slot,
         absl::StrCat("the slot is ", Text(Name(state)), ", but must be resolving, or parked without threads"));
    return;
  }
  const Lanes lanes = given;  // may be the slot's own
  Loosen();
  if (!CheckEntering("Place", slot, at, lanes)) return;
  table_.position[slot] = at;
  Enter(slot, lanes);
  SetState(slot, SlotState::kOffered);
}

void Formation::Dissolve(SlotId slot) {
  if (!IsSlot("Dissolve", slot)) return;
  if (table_.state[slot] == SlotState::kResolving) {
    Loosen();
    Free(slot);
    return;
  }
  if (!IsRestingSlot("Dissolve", slot)) return;
  const Lanes& lanes = table_.lanes[slot];
  const Position at = table_.position[slot];
  SetState(slot, SlotState::kParked);
  ForEachLane(lanes.mask, [&](int lane) { MakeLoose(lanes.thread[lane], at, kHeldInactive); });
  Free(slot);
}

void Formation::Join(SlotId slot, const Lanes& lanes) {
  if (!IsRestingSlot("Join", slot)) return;
  Loosen();
  if ((table_.lanes[slot].mask & lanes.mask) != 0) {
    Fail("Join", slot, absl::StrCat("lane ", std::countr_zero(table_.lanes[slot].mask & lanes.mask), " is taken"));
    return;
  }
  if (!CheckEntering("Join", slot, table_.position[slot], lanes)) return;
  Enter(slot, lanes);
  if (table_.state[slot] == SlotState::kOffered) {
    if (WarpScheduler* watcher = scheduler(slot)) watcher->Grown(slot, lanes);
  }
}

SlotId Formation::Split(SlotId slot, LaneMask mask) {
  if (!IsRestingSlot("Split", slot)) return kNoSlot;
  Lanes& lanes = table_.lanes[slot];
  if (mask == 0 || (mask & ~lanes.mask) != 0 || mask == lanes.mask) {
    Fail("Split", slot, "the lanes to move must be some, but not all, of the slot's");
    return kNoSlot;
  }
  const SlotId part = Allocate("Split");
  if (part == kNoSlot) return kNoSlot;
  table_.position[part] = table_.position[slot];
  table_.stop[part] = table_.stop[slot];
  table_.group[part] = table_.group[slot];
  table_.priority[part] = table_.priority[slot];
  Lanes& moved = table_.lanes[part];
  moved.mask = mask;
  ForEachLane(mask, [&](int lane) {
    moved.thread[lane] = lanes.thread[lane];
    thread_slot_[lanes.thread[lane]] = part;
  });
  lanes.mask &= ~mask;
  Note(slot, kThreadsNoted);
  Note(part, kThreadsNoted);
  table_.block[part] = thread_block_[moved.thread[std::countr_zero(mask)]];
  table_.block[slot] = thread_block_[lanes.thread[std::countr_zero(lanes.mask)]];
  const SlotState state = table_.state[slot];
  if (state == SlotState::kOffered) {
    if (WarpScheduler* watcher = scheduler(slot)) watcher->Grown(slot, Lanes{});
  }
  // An offered slot's part counts as parked until it is offered as well.
  table_.state[part] = SlotState::kParked;
  table_.held[part] = table_.held[slot];
  MoveThreads(StateOfSlot(slot), StateOfSlot(part), static_cast<uint64_t>(std::popcount(mask)));
  if (state == SlotState::kOffered) SetState(part, state);
  return part;
}

void Formation::Merge(SlotId from, SlotId into) {
  if (!IsRestingSlot("Merge", from) || !IsRestingSlot("Merge", into)) return;
  if (from == into) {
    Fail("Merge", from, "a slot cannot merge with itself");
    return;
  }
  if (table_.position[from] != table_.position[into]) {
    Fail("Merge", from,
         absl::StrCat("it is at ", Text(table_.position[from]), ", slot ", into, " at ", Text(table_.position[into])));
    return;
  }
  if ((table_.lanes[from].mask & table_.lanes[into].mask) != 0) {
    Fail("Merge", from, absl::StrCat("it shares a lane with slot ", into));
    return;
  }
  if (inserted_[from] != inserted_[into]) {
    Fail("Merge", from, absl::StrCat("it has other instructions inserted than slot ", into));
    return;
  }
  const Lanes moved = table_.lanes[from];
  SetState(from, SlotState::kParked, table_.held[from]);
  const ThreadState before = StateOfSlot(from);
  Lanes& inside = table_.lanes[into];
  ForEachLane(moved.mask, [&](int lane) {
    inside.thread[lane] = moved.thread[lane];
    thread_slot_[moved.thread[lane]] = into;
  });
  inside.mask |= moved.mask;
  Note(into, kThreadsNoted);
  MoveThreads(before, StateOfSlot(into), static_cast<uint64_t>(std::popcount(moved.mask)));
  table_.block[into] = thread_block_[inside.thread[std::countr_zero(inside.mask)]];
  Free(from);
  if (table_.state[into] == SlotState::kOffered) {
    if (WarpScheduler* watcher = scheduler(into)) watcher->Grown(into, moved);
  }
}

void Formation::Park(SlotId slot, HeldReason reason) {
  if (!IsSlot("Park", slot)) return;
  switch (table_.state[slot]) {
    case SlotState::kResolving:  // its threads stay loose
      Loosen();
      [[fallthrough]];
    case SlotState::kParked:
    case SlotState::kOffered:
      SetState(slot, SlotState::kParked, reason);
      return;
    default:
      Fail("Park", slot, absl::StrCat("the slot is ", Text(Name(table_.state[slot]))));
  }
}

void Formation::Offer(SlotId slot) {
  if (!IsRestingSlot("Offer", slot)) return;
  if (table_.lanes[slot].mask == 0) {
    Fail("Offer", slot, "the slot has no threads");
    return;
  }
  if (table_.state[slot] == SlotState::kParked) SetState(slot, SlotState::kOffered);
}

// --- attributes

void Formation::SetPort(SlotId slot, uint8_t port) {
  if (!IsSlot("SetPort", slot)) return;
  if (port >= ports_) {
    Fail("SetPort", slot, absl::StrCat("port ", static_cast<int>(port), " of ", ports_));
    return;
  }
  if (table_.port[slot] == port) return;
  if (table_.state[slot] != SlotState::kOffered) {
    table_.port[slot] = port;
    Note(slot, kStateNoted);
    return;
  }
  SetState(slot, SlotState::kParked);
  table_.port[slot] = port;
  SetState(slot, SlotState::kOffered);
}

void Formation::SetPriority(SlotId slot, uint8_t priority) {
  if (!IsSlot("SetPriority", slot)) return;
  if (table_.state[slot] == SlotState::kOffered) prioritised_ += (priority != 0) - (table_.priority[slot] != 0);
  table_.priority[slot] = priority;
  priorities_ |= priority != 0;
}

void Formation::SetAge(SlotId slot, uint64_t formed) {
  if (!IsSlot("SetAge", slot)) return;
  if (table_.state[slot] != SlotState::kParked) {  // schedulers of offered slots have sorted it in
    Fail("SetAge", slot, absl::StrCat("the slot is ", Text(Name(table_.state[slot])), ", not parked"));
    return;
  }
  table_.formed[slot] = formed;
  table_.ages.Move(slot, table_.rows);
  Note(slot, kThreadsNoted);
}

void Formation::SetHeld(ThreadId thread, HeldReason reason) {
  Loosen();
  if (thread >= max_threads_ || alive_[thread] != kLive || thread_slot_[thread] != kNoSlot) {
    Fail("SetHeld", kNoSlot, absl::StrCat("thread ", thread, " is not loose"));
    return;
  }
  const Held held = static_cast<Held>(reason);
  MoveThreads(StateOf(static_cast<Held>(held_[thread])), StateOf(held), 1);
  held_[thread] = held;
}

}  // namespace heddle::replay
