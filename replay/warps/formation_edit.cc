// What policies do to warps through the editor: every operation checks what it is given.
#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "replay/seams/lane_mask.h"
#include "replay/warps/formation.h"

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
  const SlotId slot = pool_.Take();
  if (slot == kNoSlot) {
    Fail(operation, kNoSlot, absl::StrCat("all ", table_.state.size(), " slots are taken"));
    return kNoSlot;
  }
  inserted_[slot] = 0;
  return slot;
}

bool Formation::CheckPort(std::string_view operation, SlotId slot, uint8_t port, const Lanes& lanes) {
  if (!one_port_per_block_) return true;
  for (LaneMask left = lanes.mask; left != 0; left &= left - 1) {
    const ThreadId thread = lanes.thread[std::countr_zero(left)];
    if (PortOf(thread) == port) continue;
    Fail(operation, slot,
         absl::StrCat("thread ", thread, " is of a block on scheduler ", static_cast<int>(PortOf(thread)),
                      ", the warp is on ", static_cast<int>(port)));
    return false;
  }
  return true;
}

bool Formation::CheckEntering(std::string_view operation, SlotId slot, Position at, const Lanes& lanes) {
  if (rules_.HoldForNeighbours(at, lanes)) return true;
  const std::string violation = rules_.Violation(at, lanes);
  if (violation.empty()) {
    return !one_port_per_block_ ||
           CheckPort(operation, slot, PortOf(lanes.thread[std::countr_zero(lanes.mask)]), lanes);
  }
  Fail(operation, slot, violation);
  return false;
}

void Formation::Enter(SlotId slot, const Lanes& lanes) {
  Lanes& inside = table_.lanes[slot];
  if (inside.mask == 0) {
    const ThreadId first = lanes.thread[std::countr_zero(lanes.mask)];
    table_.block[slot] = threads_.block(first);
    if (one_port_per_block_) table_.port[slot] = PortOf(first);
  }
  threads_.Enter(slot, StateOfSlot(slot), lanes, inside);
  changes_.Note(slot, SlotChanges::kThreads);
}

SlotId Formation::SpawnAs(std::string_view operation, SlotState state, Position at, const Lanes& lanes,
                          HeldReason reason) {
  UnassignThreads();
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
  if (resolving_.together == slot) {
    resolving_.together = kNoSlot;
    table_.position[slot] = resolving_.at;
    SetState(slot, state, reason);
    return;
  }
  // The threads have been made unassigned one by one, or took several ways: they must still be together.
  Lanes lanes = table_.lanes[slot];
  lanes.mask = resolving_.lanes;
  if (lanes.mask == 0) {
    Fail(operation, slot, "no thread is left in the slot");
    return;
  }
  const Position at = threads_.position(lanes.thread[std::countr_zero(lanes.mask)]);
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
  UnassignThreads();
  if (!CheckEntering("Place", slot, at, lanes)) return;
  table_.position[slot] = at;
  Enter(slot, lanes);
  SetState(slot, SlotState::kOffered);
}

void Formation::Dissolve(SlotId slot) {
  if (!IsSlot("Dissolve", slot)) return;
  if (table_.state[slot] == SlotState::kResolving) {
    UnassignThreads();
    Free(slot);
    return;
  }
  if (!IsRestingSlot("Dissolve", slot)) return;
  const Lanes& lanes = table_.lanes[slot];
  const Position at = table_.position[slot];
  SetState(slot, SlotState::kParked);
  ForEachLane(lanes.mask, [&](int lane) { threads_.Unassign(lanes.thread[lane], at, ThreadTable::kInactive); });
  Free(slot);
}

void Formation::Join(SlotId slot, const Lanes& lanes) {
  if (!IsRestingSlot("Join", slot)) return;
  UnassignThreads();
  if ((table_.lanes[slot].mask & lanes.mask) != 0) {
    Fail("Join", slot, absl::StrCat("lane ", std::countr_zero(table_.lanes[slot].mask & lanes.mask), " is taken"));
    return;
  }
  if (!CheckEntering("Join", slot, table_.position[slot], lanes)) return;
  if (!CheckPort("Join", slot, table_.port[slot], lanes)) return;
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
    threads_.Move(lanes.thread[lane], part);
  });
  lanes.mask &= ~mask;
  changes_.Note(slot, SlotChanges::kThreads);
  changes_.Note(part, SlotChanges::kThreads);
  table_.block[part] = threads_.block(moved.thread[std::countr_zero(mask)]);
  table_.block[slot] = threads_.block(lanes.thread[std::countr_zero(lanes.mask)]);
  if (one_port_per_block_) table_.port[part] = table_.port[slot];
  const SlotState state = table_.state[slot];
  if (state == SlotState::kOffered) {
    if (WarpScheduler* watcher = scheduler(slot)) watcher->Grown(slot, Lanes{});
  }
  // An offered slot's part counts as parked until it is offered as well.
  table_.state[part] = SlotState::kParked;
  table_.held[part] = table_.held[slot];
  threads_.Count(StateOfSlot(slot), StateOfSlot(part), static_cast<uint64_t>(std::popcount(mask)));
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
         absl::StrCat("it is at ", PositionText(table_.position[from]), ", slot ", into, " at ",
                      PositionText(table_.position[into])));
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
  if (!CheckPort("Merge", from, table_.port[into], table_.lanes[from])) return;
  const Lanes moved = table_.lanes[from];
  SetState(from, SlotState::kParked, table_.held[from]);
  const ThreadState before = StateOfSlot(from);
  Lanes& inside = table_.lanes[into];
  ForEachLane(moved.mask, [&](int lane) {
    inside.thread[lane] = moved.thread[lane];
    threads_.Move(moved.thread[lane], into);
  });
  inside.mask |= moved.mask;
  changes_.Note(into, SlotChanges::kThreads);
  threads_.Count(before, StateOfSlot(into), static_cast<uint64_t>(std::popcount(moved.mask)));
  table_.block[into] = threads_.block(inside.thread[std::countr_zero(inside.mask)]);
  Free(from);
  if (table_.state[into] == SlotState::kOffered) {
    if (WarpScheduler* watcher = scheduler(into)) watcher->Grown(into, moved);
  }
}

void Formation::Park(SlotId slot, HeldReason reason) {
  if (!IsSlot("Park", slot)) return;
  switch (table_.state[slot]) {
    case SlotState::kResolving:  // its threads stay unassigned
      UnassignThreads();
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
  if (table_.port[slot] == port || !CheckPort("SetPort", slot, port, table_.lanes[slot])) return;
  if (table_.state[slot] != SlotState::kOffered) {
    table_.port[slot] = port;
    changes_.Note(slot, SlotChanges::kState);
    return;
  }
  SetState(slot, SlotState::kParked);
  table_.port[slot] = port;
  SetState(slot, SlotState::kOffered);
}

void Formation::SetAge(SlotId slot, uint64_t formed) {
  if (!IsSlot("SetAge", slot)) return;
  if (table_.state[slot] != SlotState::kParked) {  // schedulers of offered slots have sorted it in
    Fail("SetAge", slot, absl::StrCat("the slot is ", Text(Name(table_.state[slot])), ", not parked"));
    return;
  }
  table_.formed[slot] = formed;
  table_.ages.Move(slot, table_.entries);
  changes_.Note(slot, SlotChanges::kThreads);
}

void Formation::SetHeld(ThreadId thread, HeldReason reason) {
  UnassignThreads();
  if (thread >= threads_.size() || !threads_.is_unassigned(thread)) {
    Fail("SetHeld", kNoSlot, absl::StrCat("thread ", thread, " is not loose"));
    return;
  }
  threads_.Hold(thread, reason);
}

void Formation::StartTimer(Cycle at, uint64_t tag) {
  if (at < now_) {
    Fail("StartTimer", kNoSlot, absl::StrCat("cycle ", at, " is over"));
    return;
  }
  timers_.Start(at, tag);
}

}  // namespace heddle::replay
