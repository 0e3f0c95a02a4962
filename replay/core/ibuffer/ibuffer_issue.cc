// Selection and issue with instruction buffers.
#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "replay/core/ibuffer/ibuffer_core.h"
#include "replay/core/ibuffer/ibuffer_plain.h"

namespace heddle::replay {

void IBufferCore::Select(Cycle now) {
  issued_.fill(kNoSlot);
  issued_ports_ = 0;
  uint32_t left = ~0u;  // ports whose turn is still to come, and that nothing holds
  if (now < penalty_until_) [[unlikely]] {
    for (int port = 0; port < context_.ports; ++port) left &= ~(static_cast<uint32_t>(now < port_free_[port]) << port);
  }
  // Asked anew each time: what a port issues may change what others could.
  while (const uint32_t ports = standings_.ready_ports() & left) {
    const int port = std::countr_zero(ports);
    left &= ~0u << 1 << port;
    if (TryPort(port, now)) issued_ports_ |= 1u << port;
  }
}

// The slots of the port that could issue now; null if there is none.
inline const SlotSet* IBufferCore::Eligible(int port, Cycle now) {
  constexpr uint32_t kMemory = 1u << static_cast<int>(UnitClass::kMemory);
  const uint32_t ready = standings_.ready_units(port);
  uint32_t units = ready & units_.FreeClasses(now);
  if ((ready & kMemory) != 0 && MemoryFree(now)) units |= kMemory;
  if (units == 0) return nullptr;
  const SlotSet* const sets = &standings_.ready(port, UnitClass::kSp);  // one set per unit
  const SlotSet* found = &sets[std::countr_zero(units)];
  while ((units &= units - 1) != 0) {
    eligible_.AssignUnion(*found, sets[std::countr_zero(units)]);
    found = &eligible_;
  }
  return found;
}

inline bool IBufferCore::TryPort(int port, Cycle now) {
  const SlotSet* eligible = Eligible(port, now);
  if (eligible == nullptr) return false;
  if (formation_.prioritised()) eligible = &formation_.HighestPriority(*eligible);
  const SlotId slot = schedulers_[port]->Pick(*eligible);
  if (slot == kNoSlot) return false;
  if (slot >= warps_.size() || !eligible->Contains(slot)) {
    FailPick(port, slot, now);
    return false;
  }
  if ((interests_ & kIssue) != 0) {
    const Verdict verdict = policy_->AcceptIssue(slot, formation_.editor());
    TakeChanges();
    if (verdict == Verdict::kRefused || standings_.of(slot).state() != WarpClass::kStructural) return false;
  }
  TakePenalty(port, slot, now);
  Warp& warp = warps_[slot];
  if (warp.plain && setup_.table[warp.head].simple && issues_unwatched()) {
    IssuePlain(port, slot, warp, setup_.table[warp.head], now);
  } else {
    Issue(port, slot, now);
  }
  return true;
}

void IBufferCore::FailPick(int port, SlotId slot, Cycle now) {
  Fail(absl::InternalError(
      absl::StrCat("the scheduler of port ", port, " picked slot ", slot, ", which is not eligible, in cycle ", now)));
}

uint32_t IBufferCore::Groups(SlotId slot) const {
  if (!setup_.skip_empty_groups) return static_cast<uint32_t>(context_.issue_cycles);
  LaneMask lanes = table().lanes[slot].mask;
  const LaneMask group = setup_.simd_width == kMaxLanes ? ~LaneMask{0} : (LaneMask{1} << setup_.simd_width) - 1;
  uint32_t groups = 0;
  for (; lanes != 0; lanes = setup_.simd_width == kMaxLanes ? 0 : lanes >> setup_.simd_width) {
    groups += (lanes & group) != 0;
  }
  return groups;
}

void IBufferCore::Issue(int port, SlotId slot, Cycle now) {
  standings_.Issued(slot, now);
  issued_[port] = slot;
  last_issued_[port] = slot;
  Warp& warp = warps_[slot];
  const bool inserted = !warp.plain && formation_.inserted(slot) != 0;
  if (warp.plain && issues_unwatched()) {
    CountRowIssue(now, slot, warp.row, warp.threads);
  } else {
    CountOneIssue(port, now, slot, inserted);
  }
  if (inserted) {
    IssueInserted(port, slot, now);
    return;
  }
  const WarpTable& warps = table();
  const Position at = warps.position[slot];
  const Step& step = steps_[at.pc()];
  const IssueStep& how = setup_.table[at.pc()];
  // The table's lanes are several lines of the host's cache, which mostly has forgotten them.
  const LaneMask lanes = warp.in_order ? warp.own : warps.lanes[slot].mask;
  const uint32_t groups = Groups(slot);
  if (!one_in_flight_) {
    buffered_[slot] = --warp.valid;
    warp.head = at.pc() + 1;
  }
  Cycle result = 0;
  if (how.unit == UnitClass::kMemory) {
    memory_free_ = now + setup_.memory_interval * groups;
  } else {
    const uint32_t row = warp.row != kMixedRows ? warp.row
                                                : warps.lanes[slot].thread[std::countr_zero(lanes)] /
                                                      static_cast<uint32_t>(context_.warp_size);
    const Cycle start = units_.Issue(how.unit, how.interval * groups, row, setup_.table.sources(how), now);
    result = start + how.before_last * groups + how.latency;
  }
  if (how.hold == Hold::kBarrier) {
    formation_.Issue(slot);
    schedulers_[port]->Issued(slot);
    ArriveAtBarrier(slot, step);
    formation_.WaitAtBarrier(slot);
    TakeChanges();
    return;
  }

  const bool data_holds = data_holds_ && how.gets_data;
  const bool holds = one_in_flight_ || how.hold == Hold::kControl || data_holds;
  const bool writes = how.destinations != 0 && !one_in_flight_ && !data_holds;
  uint32_t flight = 0;
  if (holds || writes || how.unit == UnitClass::kMemory) {
    flight = Launch(slot, warp, at.pc());
    flights_[flight].outstanding = lanes;
    flights_[flight].holds = holds;
    flights_[flight].writes = writes;
    if (how.unit == UnitClass::kMemory) {
      SubmitAccess(slot, warp, lanes, flight, step, now);
    } else {
      if (writes) ReserveRegisters(flight, flights_[flight], at, Scoreboard::kArithmetic);
      write_back_.Add(result, {flight, Completion::kLanes, lanes});
    }
  }
  if (holds) {
    InFlight why = how.unit == UnitClass::kMemory ? InFlight::kMemory : InFlight::kArithmetic;
    if (how.hold == Hold::kControl) why = InFlight::kControl;
    if (how.hold == Hold::kFence) why = InFlight::kFence;
    HoldSlot(port, slot, why, flight);
  } else if (how.hold == Hold::kFence && StoresPending(slot, warp)) {
    fence_waits_.push_back(slot);
    HoldSlot(port, slot, InFlight::kFence, 0);
  } else {
    MoveOn(port, slot, how);
  }
  if (!writes) return;
  // Other warps with threads of these rows may have to wait for the registers now. (This one has been looked at; it may
  // have left the row since, so that the only warp there is another.)
  ForEachRowOf(flight, flights_[flight], [&](uint32_t row, LaneMask) {
    for (const SlotId other : rows_[row].slots) {
      if (other != slot) Reclass(other);
    }
  });
}

inline void IBufferCore::IssuePlain(int port, SlotId slot, Warp& warp, const IssueStep& how, Cycle now) {
  const Pc pc = warp.head;
  const uint32_t row = warp.row;
  standings_.Issued(slot, now);
  issued_[port] = slot;
  last_issued_[port] = slot;
  CountRowIssue(now, slot, row, warp.threads);
  const uint32_t groups = Groups(slot);
  buffered_[slot] = --warp.valid;
  warp.head = pc + 1;
  const Cycle start = units_.Issue(how.unit, how.interval * groups, row, setup_.table.sources(how), now);
  if (how.destinations != 0) {  // nothing but registers of one row waits for the result
    scoreboard_.ReserveBits(row, pc, Scoreboard::kArithmetic);
    ++rows_[row].results_due;
    write_back_.Add(start + how.before_last * groups + how.latency, {row, Completion::kRegisters, pc});
  }
  const Position next(pc + 1, /*depth=*/0);
  if (next == table().stop[slot] || ((interests_ & kEveryBlockEnd) != 0 && steps_[pc].ends_block)) {
    formation_.Issue(slot);
    schedulers_[port]->Issued(slot);
    FinishAtIssue(slot);
  } else {
    schedulers_[port]->Issued(slot);
    formation_.MoveOn(slot, next);
    ReclassPlain(slot, warp);
    UpdatePlainFetchable(slot, warp);
  }
  if (how.destinations == 0 || rows_[row].only == slot) return;
  for (const SlotId other : rows_[row].slots) {
    if (other != slot) Reclass(other);
  }
}

void IBufferCore::IssueInserted(int port, SlotId slot, Cycle now) {
  const Warp& warp = warps_[slot];
  const IssueStep& how = setup_.table.inserted();
  const LaneMask lanes = table().lanes[slot].mask;
  const Cycle start = units_.Issue(how.unit, how.interval * Groups(slot), 0, {}, now);
  const uint32_t flight = Launch(slot, warp, table().position[slot].pc());
  flights_[flight].outstanding = lanes;
  flights_[flight].holds = true;
  flights_[flight].inserted = true;
  write_back_.Add(start + how.latency, {flight, Completion::kLanes, lanes});
  HoldSlot(port, slot, InFlight::kArithmetic, flight);
}

void IBufferCore::HoldSlot(int port, SlotId slot, InFlight why, uint32_t flight) {
  warps_[slot].in_flight = why;
  warps_[slot].flight = flight;
  formation_.Issue(slot);
  schedulers_[port]->Issued(slot);
  TakeChanges();
}

void IBufferCore::MoveOn(int port, SlotId slot, const IssueStep& how) {
  Warp& warp = warps_[slot];
  const Position at = table().position[slot];
  const Position next(how.next, at.depth());
  const bool ask = next == table().stop[slot] || ((interests_ & kEveryBlockEnd) != 0 && steps_[at.pc()].ends_block);
  if (ask) {
    formation_.Issue(slot);
    schedulers_[port]->Issued(slot);
    FinishAtIssue(slot);
    return;
  }
  schedulers_[port]->Issued(slot);
  formation_.MoveOn(slot, next);
  if (warp.head != how.next) {  // a block that falls through to one elsewhere
    DropBuffer(slot, warp);
    warp.head = how.next;
    warp.flushed = true;
  }
  Reclass(slot);
}

void IBufferCore::FinishAtIssue(SlotId slot) {
  if (resolve_waits_) {
    warps_[slot].in_flight = InFlight::kResolve;
    write_back_.Hold({slot, Completion::kFinish, 0});
  } else {
    FinishInstruction(slot, /*ask_after_barrier=*/false);
  }
  TakeChanges();
}

uint32_t IBufferCore::Launch(SlotId slot, const Warp& warp, Pc pc) {
  const uint32_t id = flights_.Add();
  Flight& flight = flights_[id];
  flight.slot = slot;
  flight.row = warp.row;
  flight.pc = pc;
  if (warp.row == kMixedRows) flights_.rows(id) = rows_of_[slot];
  ForEachRowOf(id, flight, [&](uint32_t row, LaneMask) { ++rows_[row].results_due; });
  return id;
}

void IBufferCore::ReserveRegisters(uint32_t id, const Flight& flight, Position at, uint8_t producer) {
  if (ByBits(flight)) {
    scoreboard_.ReserveBits(flight.row, at.pc(), producer);
    return;
  }
  ForEachRowOf(id, flight, [&](uint32_t row, LaneMask own) {
    scoreboard_.Reserve(row, own, setup_.table[at.pc()], at.depth(), id, producer);
  });
}

void IBufferCore::SubmitAccess(SlotId slot, const Warp& warp, LaneMask mask, uint32_t id, const Step& step, Cycle now) {
  const Lanes& lanes = table().lanes[slot];
  const Position at = table().position[slot];
  const IssueStep& how = setup_.table[at.pc()];
  const bool generic = step.space == trace::v1::SPACE_GENERIC;
  const bool addresses = step.has_address && (generic || memory_->needs_addresses());
  if (addresses) {
    const bool whole_row = warp.in_order && mask == JointRow::kLanes && context_.warp_size == JointRow::kThreads;
    if (!whole_row || !cursors_.TakeRowAddresses(warp.row, at.pc(), addresses_)) {
      cursors_.TakeAddresses(lanes, at.pc(), addresses_);
    }
  } else if (step.has_address) {
    cursors_.SkipAddresses(lanes);
  }
  Flight& flight = flights_[id];
  flight.beyond_shared = ReachesBeyondShared(step, mask, addresses);
  if (flight.writes) {
    const uint8_t producer = !how.gets_data         ? Scoreboard::kArithmetic
                             : flight.beyond_shared ? Scoreboard::kMemory | Scoreboard::kBeyondShared
                                                    : Scoreboard::kMemory;
    ReserveRegisters(id, flight, at, producer);
  }
  if (step.op == trace::v1::OP_STORE) {
    flight.unacknowledged = true;
    if (setup_.table.has_fence()) {
      flight.store = true;
      ForEachRowOf(id, flight, [&](uint32_t row, LaneMask own) { scoreboard_.AddStore(row, own, id); });
    }
  }
  SubmitToMemory(id, slot, mask, lanes.thread, addresses, now);
  if (memory_wake_ != 0) memory_wake_ = 1;
}

bool IBufferCore::StoresPending(SlotId slot, const Warp& warp) const {
  bool pending = false;
  ForEachRow(slot, warp, [&](uint32_t row, LaneMask own) { pending |= scoreboard_.HasStore(row, own); });
  return pending;
}

}  // namespace heddle::replay
