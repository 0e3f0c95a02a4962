#include "replay/core/ibuffer/issue_stage.h"

#include <bit>

#include "absl/strings/str_cat.h"

namespace heddle::replay {

IssueStage::IssueStage(SmParts& sm, ResolveUnit& resolve, IBufferState& state, InstructionBuffers& buffers,
                       IssueStatusUnit& status, ResultStage& results)
    : sm_(sm),
      resolve_(resolve),
      state_(state),
      buffers_(buffers),
      status_(status),
      results_(results),
      units_(state.setup.units, static_cast<uint32_t>(sm.context.ports)),
      register_ports_(state.setup.register_reads, sm.context.ports) {}

// --- selection

void IssueStage::SelectReady(Cycle now) {
  IBufferState& core = state_;
  IssuePorts& state = core.ports;
  uint32_t left = ~state.issued_mask;  // ports whose turn is still to come, and that nothing holds
  if (now < state.held_until) [[unlikely]] {
    for (int port = 0; port < sm_.context.ports; ++port)
      left &= ~(static_cast<uint32_t>(now < state.free[port]) << port);
  }
  if (core.setup.ports_in_turn) [[unlikely]] {
    SelectInTurn(left, now);
    return;
  }
  // Asked anew each time: what a port issues may change what others could.
  while (const uint32_t ports = core.issue_status.ready_ports() & left) {
    const int port = std::countr_zero(ports);
    left &= ~0u << 1 << port;
    if (TryPort(port, now)) state.issued_mask |= 1u << port;
  }
}

void IssueStage::SelectInTurn(uint32_t free_ports, Cycle now) {
  const int count = sm_.context.ports;
  const int first = static_cast<int>(now % static_cast<Cycle>(count));
  for (int i = 0; i < count; ++i) {
    const int port = (first + i) % count;
    if ((state_.issue_status.ready_ports() & free_ports & 1u << port) == 0) continue;
    if (TryPort(port, now)) state_.ports.issued_mask |= 1u << port;
  }
}

// The slots of the port that could issue now; null if there is none.
inline const SlotSet* IssueStage::Eligible(int port, Cycle now) {
  IBufferState& state = state_;
  constexpr uint32_t kMemory = 1u << static_cast<int>(UnitClass::kMemory);
  const uint32_t ready = state.issue_status.ready_units(port);
  uint32_t units = ready & units_.FreeClasses(now);
  if ((ready & kMemory) != 0 && MemoryFree(now)) units |= kMemory;
  if (units == 0) return nullptr;
  const SlotSet* const sets = &state.issue_status.ready(port, UnitClass::kSp);  // one set per unit
  const SlotSet* found = &sets[std::countr_zero(units)];
  while ((units &= units - 1) != 0) {
    eligible_.AssignUnion(*found, sets[std::countr_zero(units)]);
    found = &eligible_;
  }
  return found;
}

inline bool IssueStage::TryPort(int port, Cycle now) {
  SmParts& sm = sm_;
  IBufferState& state = state_;
  const SlotSet* eligible = Eligible(port, now);
  if (eligible == nullptr) return false;
  if (sm.formation.prioritised()) eligible = &sm.formation.HighestPriority(*eligible);
  const SlotId slot = sm.notifier.scheduler(port).Pick(*eligible);
  if (slot == kNoSlot) return false;
  if (slot >= state.warps.size() || !eligible->Contains(slot)) {
    FailPick(port, slot, now);
    return false;
  }
  if ((sm.interests & kIssue) != 0) {
    const Verdict verdict = sm.policy->AcceptIssue(slot, sm.formation.editor());
    status_.TakeChanges();
    if (verdict == Verdict::kRefused || state.issue_status.of(slot).state() != WarpClass::kStructural) return false;
  }
  TakePenalty(port, slot, now);
  WarpEntry& warp = state.warps[slot];
  if (warp.regular && state.setup.table[warp.head].simple && sm.issues.unwatched()) {
    IssueRegular(port, slot, warp, state.setup.table[warp.head], now);
  } else {
    Issue(port, slot, now);
  }
  return true;
}

void IssueStage::FailPick(int port, SlotId slot, Cycle now) {
  sm_.run.Fail(absl::InternalError(
      absl::StrCat("the scheduler of port ", port, " picked slot ", slot, ", which is not eligible, in cycle ", now)));
}

bool IssueStage::AnyReadyForMemory() const {
  for (int port = 0; port < sm_.context.ports; ++port) {
    if ((state_.issue_status.ready_units(port) >> static_cast<int>(UnitClass::kMemory) & 1) != 0) return true;
  }
  return false;
}

std::string IssueStage::WhatReadyWaitsFor(UnitClass unit) const {
  const Cycle now = sm_.run.now;
  switch (unit) {
    case UnitClass::kMemory:
      if (!MemoryFree(now)) return "wait for the memory stage";
      break;
    case UnitClass::kSp:
      if (now < units_.NextFree(UnitClass::kSp)) return "wait for an SP unit";
      break;
    case UnitClass::kSfu:
      if (now < units_.NextFree(UnitClass::kSfu)) return "wait for an SFU unit";
      break;
    case UnitClass::kTensor:
      if (now < units_.NextFree(UnitClass::kTensor)) return "wait for a tensor unit";
      break;
    case UnitClass::kInteger:
      if (now < units_.NextFree(UnitClass::kInteger)) return "wait for an integer unit";
      break;
    case UnitClass::kDp:
      if (now < units_.NextFree(UnitClass::kDp)) return "wait for a double-precision unit";
      break;
  }
  return "are ready, but are not issued";
}

// --- issue

uint32_t IssueStage::LaneGroupsOf(LaneMask lanes) const {
  const BufferSetup& setup = state_.setup;
  if (!setup.skip_empty_groups) return static_cast<uint32_t>(sm_.context.issue_cycles);
  const LaneMask group = setup.simd_width == kMaxLanes ? ~LaneMask{0} : (LaneMask{1} << setup.simd_width) - 1;
  uint32_t groups = 0;
  for (; lanes != 0; lanes = setup.simd_width == kMaxLanes ? 0 : lanes >> setup.simd_width) {
    groups += (lanes & group) != 0;
  }
  return groups;
}

void IssueStage::Issue(int port, SlotId slot, Cycle now) {
  SmParts& sm = sm_;
  IBufferState& state = state_;
  ResultStage& results = results_;
  NoteIssue(port, slot, now);
  WarpEntry& warp = state.warps[slot];
  const bool inserted = !warp.regular && sm.formation.inserted(slot) != 0;
  const BufferSetup& setup = state.setup;
  const WarpTable& warps = sm.table();
  const Pc pc = warps.position[slot].pc();
  const IssueStep& how = setup.table[pc];
  if (how.meets && !inserted && sm.MustMeet(slot)) [[unlikely]] {
    MeetOthers(port, slot);
    return;
  }
  if (warp.regular && sm.issues.unwatched()) {
    sm.CountIssueOfHwWarp(slot, warp.hw_warp, warp.threads);
  } else {
    sm.issues.CountOne(port, slot, inserted);
  }
  if (inserted) {
    IssueInserted(port, slot, now);
    return;
  }
  // The table's lanes are several lines of the host's cache, which mostly has forgotten them.
  const LaneMask lanes = warp.in_order ? warp.own : warps.lanes[slot].mask;
  LaneMask executing = lanes;
  if (sm.steps[pc].guarded) [[unlikely]]
    executing = sm.IssueGuarded(slot, pc);
  const uint32_t groups = LaneGroups(slot);
  if (!state.one_in_flight) buffers_.TakeHead(slot, warp, pc);
  Cycle late = 0;
  if (state.stalls) [[unlikely]]
    late = TakeControl(port, slot, warp, pc, now);
  // Almost always 1.
  const uint32_t issues = how.uniform_values ? IssuesPerValue(port, slot, warp, lanes, now) : 1;
  Cycle result = 0;
  if (how.unit == UnitClass::kMemory) {
    memory_free_ = now + setup.memory_interval * groups * issues;
  } else {
    const uint32_t hw_warp = warp.hw_warp != kMixedHwWarps ? warp.hw_warp
                                                           : warps.lanes[slot].thread[std::countr_zero(lanes)] /
                                                                 static_cast<uint32_t>(sm.context.warp_size);
    const uint32_t interval = how.interval * groups;
    const Cycle start = units_.Issue(how.unit, interval * issues, hw_warp, setup.table.sources(how), now);
    result = start + late + interval * (issues - 1) + how.before_last * groups + how.latency;
  }
  if (how.hold == Hold::kBarrier) {
    sm.formation.Issue(slot);
    sm.notifier.scheduler(port).Issued(slot);
    resolve_.ArriveAtBarrier(slot);
    sm.formation.WaitAtBarrier(slot);
    status_.TakeChanges();
    return;
  }

  if (how.goes_on_elsewhere) [[unlikely]]
    IssueCollective(slot);
  const bool data_holds = state.data_holds && how.gets_data;
  const bool holds = state.one_in_flight || how.hold == Hold::kControl || data_holds ||
                     (how.hold == Hold::kData && executing != 0);  // no lane's guard may hold: then nothing is awaited
  const bool writes = how.awaited && !state.one_in_flight && !data_holds;
  uint32_t in_flight_id = 0;
  if (holds || writes || how.unit == UnitClass::kMemory)
    in_flight_id = Launch(slot, warp, lanes, holds, writes, executing, result, now);
  if (holds) {
    InFlightReason why = how.unit == UnitClass::kMemory ? InFlightReason::kMemory : InFlightReason::kArithmetic;
    if (how.hold == Hold::kControl) why = InFlightReason::kControl;
    if (how.hold == Hold::kFence || how.hold == Hold::kAsync) why = InFlightReason::kFence;
    HoldSlot(port, slot, why, in_flight_id);
  } else if (how.hold == Hold::kFence && results.StoresPending(slot, warp)) {
    results.WaitForStores(slot);
    HoldSlot(port, slot, InFlightReason::kFence, 0);
  } else if (how.hold == Hold::kAsync && sm.async.Waits(slot)) {
    sm.async.Wait(slot);
    HoldSlot(port, slot, InFlightReason::kFence, 0);
  } else if (how.decides) {
    AskToMoveOn(port, slot);
  } else {
    MoveOn(port, slot, how);
  }
  // This slot has been looked at. It may have left the hardware warp since, so that the only one there is another.
  if (writes) results.UpdateOthers(in_flight_id, slot);
}

Cycle IssueStage::TakeControl(int port, SlotId slot, WarpEntry& warp, Pc pc, Cycle now) {
  const uint8_t stall = state_.setup.table[pc].stall_count;
  if (stall > 1) status_.Stall(slot, warp, now + stall);
  if (!state_.setup.register_reads.any()) return 0;
  const Lanes& lanes = sm_.table().lanes[slot];
  const uint32_t hw_warp = lanes.thread[std::countr_zero(lanes.mask)] / static_cast<uint32_t>(sm_.context.warp_size);
  const Cycle late = register_ports_.Read(port, hw_warp, pc, now);
  if (late == 0) return 0;
  IssuePorts& ports = state_.ports;
  ports.free[port] = std::max(ports.free[port], now + 1 + late);
  ports.held_until = std::max(ports.held_until, ports.free[port]);
  return late;
}

inline uint32_t IssueStage::Launch(SlotId slot, const WarpEntry& warp, LaneMask lanes, bool holds, bool writes,
                                   LaneMask executing, Cycle result, Cycle now) {
  SmParts& sm = sm_;
  IBufferState& state = state_;
  ResultStage& results = results_;
  const Position at = sm.table().position[slot];
  const uint32_t id = results.Launch(slot, warp, at.pc());
  InFlightEntry& entry = state.in_flight[id];
  entry.outstanding = lanes;
  entry.holds = holds;
  entry.writes = writes;
  if (state.scope == ScoreboardScope::kThread) results.NoteOwners(id, sm.table().lanes[slot], executing);
  const bool memory = state.setup.table[at.pc()].unit == UnitClass::kMemory;
  const LaneMask accessing = memory ? sm.LanesThatAccess(sm.steps[at.pc()], slot, lanes) : 0;
  if (accessing != 0) {
    entry.outstanding = accessing;
    SubmitAccess(slot, warp, accessing, id, now);
  } else {
    if (memory) result = now + 1;  // no lane's guard holds
    if (writes) results.ReserveRegisters(id, entry, at, Scoreboard::kArithmetic);
    sm.write_back.Add(result, {id, Completion::kLanes, lanes});
  }
  return id;
}

inline void IssueStage::IssueRegular(int port, SlotId slot, WarpEntry& warp, const IssueStep& how, Cycle now) {
  SmParts& sm = sm_;
  IBufferState& state = state_;
  InstructionBuffers& buffers = buffers_;
  IssueStatusUnit& status = status_;
  const Pc pc = warp.head;
  const uint32_t hw_warp = warp.hw_warp;
  NoteIssue(port, slot, now);
  sm.CountIssueOfHwWarp(slot, hw_warp, warp.threads);
  const uint32_t groups = LaneGroups(slot);
  buffers.TakeHead(slot, warp, pc);
  if (state.stalls && how.stall_count > 1) [[unlikely]]
    status.Stall(slot, warp, now + how.stall_count);
  const Cycle start = units_.Issue(how.unit, how.interval * groups, hw_warp, state.setup.table.sources(how), now);
  if (how.destinations != 0) {  // nothing but registers of one hardware warp waits for the result
    state.scoreboard.ReserveBits(hw_warp, pc, Scoreboard::kArithmetic);
    ++state.hw_warps[hw_warp].results_due;
    sm.write_back.Add(start + how.before_last * groups + how.latency, {hw_warp, Completion::kRegisters, pc});
  }
  const Position next(pc + 1, /*depth=*/0);
  if (AsksAt(slot, pc, next)) {
    AskToMoveOn(port, slot);
  } else {
    sm.notifier.scheduler(port).Issued(slot);
    sm.formation.MoveOn(slot, next);
    status.UpdateRegular(slot, warp);
    buffers.UpdateFetchableOfRegular(slot, warp);
  }
  if (how.destinations != 0 && state.hw_warps[hw_warp].only != slot) status.UpdateOthers(hw_warp, slot);
}

void IssueStage::MeetOthers(int port, SlotId slot) {
  sm_.issues.CountOne(port, slot, /*inserted=*/true);
  if (!state_.one_in_flight) buffers_.TakeHead(slot, state_.warps[slot], sm_.table().position[slot].pc());
  sm_.formation.Issue(slot);
  sm_.notifier.scheduler(port).Issued(slot);
  sm_.ArriveAtRendezvous(slot);
  sm_.formation.WaitAtBarrier(slot);
  status_.TakeChanges();
}

void IssueStage::IssueGroups(Cycle now) {
  for (int port = 0; port < sm_.context.ports; ++port) {
    if (!sm_.rendezvous.AnyReady(port) || now < state_.ports.free[port]) continue;
    const RendezvousUnit::Group& next = sm_.rendezvous.Next(port);
    const IssueStep& how = state_.setup.table[next.at.pc()];
    const LaneMask lanes = next.lanes.mask;
    const uint32_t groups = LaneGroupsOf(lanes);
    const bool memory = how.unit == UnitClass::kMemory;
    Cycle result = 0;
    if (memory) {
      if (!MemoryFree(now)) continue;
      memory_free_ = now + state_.setup.memory_interval * groups;
    } else {
      if ((units_.FreeClasses(now) >> static_cast<int>(how.unit) & 1) == 0) continue;
      const uint32_t hw_warp =
          next.lanes.thread[std::countr_zero(lanes)] / static_cast<uint32_t>(sm_.context.warp_size);
      const Cycle start = units_.Issue(how.unit, how.interval * groups, hw_warp, state_.setup.table.sources(how), now);
      result = start + how.before_last * groups + how.latency;
    }
    NoteIssue(port, sm_.IssueGroup(port, result), now);
    state_.ports.issued_mask |= 1u << port;
    if (memory) sm_.rendezvous.SubmitNext(sm_.locator, now);
  }
}

void IssueStage::IssueCollective(SlotId slot) {
  if (sm_.steps[sm_.table().position[slot].pc()].kind == Step::kAsync) {
    sm_.IssueAsync(slot);
  } else {
    resolve_.ArriveAtBarrier(slot);
  }
}

void IssueStage::IssueInserted(int port, SlotId slot, Cycle now) {
  const IssueStep& how = state_.setup.table.inserted();
  const LaneMask lanes = sm_.table().lanes[slot].mask;
  const Cycle start = units_.Issue(how.unit, how.interval * LaneGroups(slot), 0, {}, now);
  const uint32_t id = results_.Launch(slot, state_.warps[slot], sm_.table().position[slot].pc());
  InFlightEntry& entry = state_.in_flight[id];
  entry.outstanding = lanes;
  entry.holds = true;
  entry.inserted = true;
  sm_.write_back.Add(start + how.latency, {id, Completion::kLanes, lanes});
  HoldSlot(port, slot, InFlightReason::kArithmetic, id);
}

void IssueStage::HoldSlot(int port, SlotId slot, InFlightReason why, uint32_t in_flight_id) {
  SmParts& sm = sm_;
  IBufferState& state = state_;
  state.warps[slot].in_flight = why;
  state.warps[slot].in_flight_id = in_flight_id;
  sm.formation.Issue(slot);
  sm.notifier.scheduler(port).Issued(slot);
  status_.TakeChanges();
}

void IssueStage::MoveOn(int port, SlotId slot, const IssueStep& how) {
  const Position at = sm_.table().position[slot];
  const Position next(how.next, at.depth());
  if (AsksAt(slot, at.pc(), next)) {
    AskToMoveOn(port, slot);
    return;
  }
  sm_.notifier.scheduler(port).Issued(slot);
  sm_.formation.MoveOn(slot, next);
  buffers_.Redirect(slot, state_.warps[slot], how.next);  // a block may fall through to one elsewhere
  status_.Update(slot);
}

void IssueStage::AskToMoveOn(int port, SlotId slot) {
  sm_.formation.Issue(slot);
  sm_.notifier.scheduler(port).Issued(slot);
  results_.FinishAtIssue(slot);
}

uint32_t IssueStage::IssuesPerValue(int port, SlotId slot, const WarpEntry& warp, LaneMask lanes, Cycle now) {
  const Pc pc = sm_.table().position[slot].pc();
  if (sm_.steps[pc].kind == Step::kMemory) {
    const LaneMask accessing = sm_.LanesThatAccess(sm_.steps[pc], slot, lanes);
    if (accessing != 0) took_addresses_ = TakeAddresses(slot, warp, accessing);
  }
  const uint32_t issues = sm_.TakeUniformValues(pc, slot);
  if (issues > 1) {
    IssuePorts& ports = state_.ports;
    ports.free[port] = std::max(ports.free[port], now + 1) + (issues - 1);
    ports.held_until = std::max(ports.held_until, ports.free[port]);
  }
  return issues;
}

bool IssueStage::TakeAddresses(SlotId slot, const WarpEntry& warp, LaneMask mask) {
  const Lanes& lanes = sm_.table().lanes[slot];
  const Position at = sm_.table().position[slot];
  const Step& step = sm_.steps[at.pc()];
  const bool addresses = step.has_address && (step.by_lane() || sm_.memory.memory().needs_addresses());
  if (addresses) {
    const bool whole_hw_warp =
        warp.in_order && mask == WarpCursor::kLanes && sm_.context.warp_size == WarpCursor::kThreads;
    if (!whole_hw_warp || !sm_.cursors.TakeWarpAddresses(warp.hw_warp, at.pc(), sm_.memory.addresses())) {
      sm_.cursors.TakeAddresses(sm_.LanesThatRecord(step, slot), at.pc(), sm_.memory.addresses());
    }
    sm_.LocateShared(at.pc(), mask, lanes.thread);
  } else if (step.has_address) {
    sm_.cursors.SkipAddresses(sm_.LanesThatRecord(step, slot));
  }
  return addresses;
}

void IssueStage::SubmitAccess(SlotId slot, const WarpEntry& warp, LaneMask mask, uint32_t id, Cycle now) {
  const Lanes& lanes = sm_.table().lanes[slot];
  const Position at = sm_.table().position[slot];
  const Step& step = sm_.steps[at.pc()];
  const IssueStep& how = state_.setup.table[at.pc()];
  const bool addresses = how.uniform_values ? took_addresses_ : TakeAddresses(slot, warp, mask);
  InFlightEntry& entry = state_.in_flight[id];
  entry.beyond_shared = sm_.memory.ReachesBeyondShared(step, mask, addresses);
  if (entry.writes) {
    const uint8_t producer = !how.gets_data        ? Scoreboard::kArithmetic
                             : entry.beyond_shared ? Scoreboard::kMemory | Scoreboard::kBeyondShared
                                                   : Scoreboard::kMemory;
    results_.ReserveRegisters(id, entry, at, producer);
  }
  if (step.op == trace::v1::OP_STORE) {
    entry.unacknowledged = true;
    if (state_.setup.table.has_fence()) results_.ListStore(id, entry);
  }
  sm_.memory.Submit(id, slot, at.pc(), mask, lanes.thread, addresses, now);
}

}  // namespace heddle::replay
