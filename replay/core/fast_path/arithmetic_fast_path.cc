#include "replay/core/fast_path/arithmetic_fast_path.h"

#include <algorithm>
#include <bit>

namespace heddle::replay {
namespace {

// A phase of fewer cycles costs more than it saves; after one, this many are run without a try.
constexpr Cycle kShort = 48;
constexpr Cycle kPause = 64;

constexpr uint64_t BitOf(SlotId slot) { return uint64_t{1} << slot; }
// By state.
constexpr std::array kClassOf = {WarpClass::kStructural, WarpClass::kStructural,    WarpClass::kStructural,
                                 WarpClass::kArithmetic, WarpClass::kArithmeticWaw, WarpClass::kControl,
                                 WarpClass::kFetch};
constexpr std::array kWaitsForData = {false, false, false, true, true, false, false};

// What the scoreboard would say, where all that is pending are results of arithmetic.
struct ArithmeticHazard {
  uint64_t reads = 0;  // pending registers
  uint64_t writes = 0;
  bool blocked() const { return (reads | writes) != 0; }
  bool source() const { return reads != 0; }
  static constexpr bool memory() { return false; }
};

}  // namespace

std::unique_ptr<FastPath> ArithmeticFastPath::Make(const FastPathParts& parts) {
  constexpr uint32_t kQuestions = kIssue | kEveryCycle | kEveryBlockEnd | kEveryInstruction | kLaneReturns;
  const LaunchContext& context = parts.sm.context;
  const BufferSetup& setup = parts.state.setup;
  const bool usual = setup.fetches_per_cycle == 1 && !setup.ports_in_turn && !setup.branches_at_issue &&
                     !parts.issue.units().has_more();
  const bool suits = usual && parts.state.regular_warps && !parts.state.stalls && parts.sm.issues.unwatched() &&
                     !context.observes_states && !context.force_tick && parts.state.scoreboard.one_word() &&
                     (parts.sm.interests & kQuestions) == 0;
  if (!suits) return nullptr;
  // What is taken over is not where a scheduler's view looks for it.
  for (const auto& scheduler : parts.sm.notifier.schedulers()) {
    if (scheduler->asks_what_slots_lack()) return nullptr;
  }
  return std::make_unique<ArithmeticFastPath>(parts);
}

ArithmeticFastPath::ArithmeticFastPath(const FastPathParts& parts)
    : parts_(parts),
      operations_(parts.state.setup.table.size()),
      slots_in_(static_cast<size_t>(parts.sm.context.ports)),
      results_(parts.state.setup.table.longest() + 64) {  // what is later than usual makes it grow
  const IssueTable& table = parts.state.setup.table;
  for (Pc pc = 0; pc < operations_.size(); ++pc) {
    const IssueStep& how = table[pc];
    const Step& step = parts.sm.steps[pc];
    const trace::v1::Terminator end = parts.sm.context.program.block(step.block).terminator;
    const bool branch =
        step.kind == Step::kPlain && !step.meets() && step.ends_block && how.hold == Hold::kControl &&
        how.unit <= UnitClass::kSfu && how.destinations == 0 && !how.uniform_values &&
        (end == trace::v1::Terminator::FALL_THROUGH || end == trace::v1::Terminator::BRANCH_CONDITIONAL);
    const RegisterWord& registers = table.word(pc);
    Operation& operation = operations_[pc];
    operation.reads = registers.reads;
    operation.writes = registers.writes;
    operation.sources = table.sources(how);
    operation.interval = how.interval;
    operation.before_last = how.before_last;
    operation.latency = how.latency;
    operation.unit = how.unit;
    operation.branch = branch;
    if (how.simple || branch) operation.ready = how.unit == UnitClass::kSp ? kReadySp : kReadySfu;
  }
}

inline void ArithmeticFastPath::Set(SlotId slot, State state, Cycle from) {
  Member& warp = warps_[slot];
  const State before = warp.state;
  if (before == state) return;
  auto& in = slots_in_[warp.port];
  in[before] ^= BitOf(slot);
  in[state] |= BitOf(slot);
  warp_cycles_[before] += from;
  warp_cycles_[state] -= from;
  warp.state = state;
}

inline ArithmeticFastPath::State ArithmeticFastPath::StateOf(SlotId slot) const {
  const WarpEntry& warp = parts_.state.warps[slot];
  const Member& own = warps_[slot];
  const Operation* const operation = &operations_[warp.head];
  const WarpClass at_head = ClassOfHead(
      warp, [&] { return ArithmeticHazard{own.pending & operation->reads, own.pending & operation->writes}; });
  switch (at_head) {
    case WarpClass::kControl:
      return kControl;
    case WarpClass::kFetch:
      return kFetch;
    case WarpClass::kArithmetic:
      return kArithmetic;
    case WarpClass::kArithmeticWaw:
      return kArithmeticWaw;
    default:
      return warp.head + 1 == own.stop ? kReadyOther : operation->ready;
  }
}

inline void ArithmeticFastPath::UpdateStatus(SlotId slot, Cycle from) { Set(slot, StateOf(slot), from); }

inline uint64_t ArithmeticFastPath::other_ready() const {
  uint64_t slots = 0;
  for (const auto& in : slots_in_) slots |= in[kReadyOther];
  return slots;
}

// --- taking over and giving back

bool ArithmeticFastPath::Enter(Cycle next) {
  if (next < not_before_) return false;
  not_before_ = next + kPause;  // unless it pays
  if (!NothingWaits() || !TakeWarps() || !TakeResults()) return false;
  IssueStatusTable& issue_status = parts_.state.issue_status;
  other_data_threads_ = issue_status.offered_data_threads() - DataThreads();
  counted_ = first_ = parts_.accounting.credited();
  waiting_ = 0;
  warp_cycles_ = {};
  for (uint64_t left = members_; left != 0; left &= left - 1) {
    const SlotId slot = static_cast<SlotId>(std::countr_zero(left));
    warp_cycles_[warps_[slot].state] -= issue_status.Detach(slot);
  }
  parts_.sm.BeginCycle(next);
  return true;
}

bool ArithmeticFastPath::NothingWaits() const {
  const SmParts& sm = parts_.sm;
  return sm.blocks.resident() != 0 && !sm.run.failed && !parts_.resolve.waits() && sm.write_back.held() == 0 &&
         !sm.barriers.opened() && !sm.notifier.any_deferred() && !parts_.results.reported() &&
         sm.formation.next_timer() == kNever && !sm.formation.prioritised() && !sm.formation.AnyChange() &&
         !parts_.status.any_long_wait() && !parts_.status.any_end_due() && parts_.results.retiring().empty();
}

bool ArithmeticFastPath::TakeWarps() {
  const IBufferState& core = parts_.state;
  const WarpTable& table = parts_.sm.table();
  members_ = 0;
  for (auto& slots : slots_in_) slots.fill(0);
  int live = 0;
  for (SlotId slot = 0; slot < std::min<size_t>(kSlots, core.warps.size()); ++slot) {
    if (table.state[slot] == SlotState::kFree) continue;
    ++live;
    const WarpEntry& from = core.warps[slot];
    const bool branches = table.state[slot] == SlotState::kInFlight && from.hw_warp != kMixedHwWarps &&
                          from.threads != 0 && from.in_flight == InFlightReason::kControl &&
                          operations_[table.position[slot].pc()].ready != kReadyOther;
    if (!from.regular && !branches) {
      if (table.state[slot] == SlotState::kOffered) return false;
      continue;
    }
    if (core.hw_warps[from.hw_warp].only == kNoSlot || !core.scoreboard.OnlyArithmetic(from.hw_warp)) return false;
    const IssueStatus status = core.issue_status.of(slot);
    Member& to = warps_[slot];
    to.pending = core.scoreboard.pending(from.hw_warp);
    to.groups = parts_.issue.LaneGroups(slot);
    to.stop = table.stop[slot].is_exit() ? ~Pc{0} : table.stop[slot].pc();
    to.port = status.port();
    to.threads = from.threads;
    to.issues = 0;
    to.state = from.regular ? StateOf(slot) : kControl;
    if (kClassOf[to.state] != status.state()) return false;
    members_ |= BitOf(slot);
    slots_in_[to.port][to.state] |= BitOf(slot);
  }
  return live == table.live && members_ != 0;
}

inline SlotId ArithmeticFastPath::SlotOf(const Completion& item) const {
  const IBufferState& core = parts_.state;
  SlotId slot = kNoSlot;
  if (item.kind == Completion::kRegisters) {
    slot = core.hw_warps[item.id].only;
  } else if (item.kind == Completion::kBranch) {
    slot = static_cast<SlotId>(item.id);
  } else if (item.kind == Completion::kLanes) {
    const InFlightEntry& entry = core.in_flight[item.id];
    if (entry.holds && !entry.inserted && !entry.writes && entry.outstanding == item.lanes) slot = entry.slot;
    if (slot != kNoSlot && parts_.sm.table().state[slot] != SlotState::kInFlight) slot = kNoSlot;
  }
  return IsMember(slot) ? slot : kNoSlot;
}

bool ArithmeticFastPath::TakeResults() {
  IBufferState& core = parts_.state;
  WriteBackQueue& write_back = parts_.sm.write_back;
  const Cycle now = parts_.sm.run.now;
  const bool all = write_back.All(
      [&](Cycle at, const Completion& item) { return at <= results_.Horizon(now) && SlotOf(item) != kNoSlot; });
  if (!all) return false;
  write_back.TakeAll([&](Cycle at, const Completion& item) {
    const SlotId slot = SlotOf(item);
    --core.hw_warps[core.warps[slot].hw_warp].results_due;
    const bool registers = item.kind == Completion::kRegisters;
    if (item.kind == Completion::kLanes) core.in_flight.Remove(item.id);
    results_.Add(now, at, {registers ? static_cast<Pc>(item.lanes) : 0, slot, !registers});
  });
  return true;
}

void ArithmeticFastPath::Leave(Cycle now) {
  SmParts& sm = parts_.sm;
  IBufferState& core = parts_.state;
  core.issue_status.SetTime(counted_);
  uint64_t issues = 0;
  for (uint64_t left = members_; left != 0; left &= left - 1) {
    const SlotId slot = static_cast<SlotId>(std::countr_zero(left));
    const Member& warp = warps_[slot];
    const WarpEntry& to = core.warps[slot];
    IssueStatus status(WarpClass::kControl, warp.port, to.threads);  // in flight
    if (to.regular) {
      const WarpClass state = kClassOf[warp.state];
      status =
          state == WarpClass::kStructural ? to.offered.Needs(core.setup.table[to.head].unit) : to.offered.In(state);
    }
    warp_cycles_[warp.state] += counted_;
    issues += warp.issues;
    sm.issues.AddIssuesOfHwWarp(to.hw_warp, warp.threads, warp.issues);
    core.issue_status.Reattach(slot, status);
    core.scoreboard.SetPending(to.hw_warp, warp.pending);
  }
  // Every issue was counted as a cycle of the ready warp that it was.
  warp_cycles_[kReadySp] -= issues;
  for (size_t state = 0; state < kStates; ++state) {
    core.issue_status.AddDetachedCycles(kClassOf[state], warp_cycles_[state]);
  }
  core.issue_status.AddDetachedIssues(issues);
  results_.TakeAll(now, [&](Cycle at, const ResultRing::Result& result) {
    const uint32_t hw_warp = core.warps[result.slot].hw_warp;
    ++core.hw_warps[hw_warp].results_due;
    sm.write_back.Add(at, result.branch ? Completion{result.slot, Completion::kBranch, 0}
                                        : Completion{hw_warp, Completion::kRegisters, result.pc});
  });
  parts_.accounting.AddCounted(counted_, counted_ - first_, issues, waiting_);
}

// --- the cycles

FastPath::Outcome ArithmeticFastPath::Run(Cycle next, Cycle limit) {
  Outcome outcome;
  if (next >= limit || !Enter(next)) return outcome;
  outcome.ran = true;
  SmParts& sm = parts_.sm;
  const IssuePorts& ports = parts_.state.ports;
  Cycle now = next;
  while (now < limit) {
    if (now != counted_) Count(now, 0);
    sm.run.now = now;
    sm.formation.SetNow(now);
    outcome.until = now + 1;
    if (!TakeDue(now) || other_ready() != 0) {
      Leave(now);
      if (now - next >= kShort) not_before_ = 0;
      outcome.unfinished = true;
      return outcome;
    }
    Select(now);
    Count(now + 1, ports.issued_mask);
    if (parts_.buffers.arriving() != kNoSlot) Decode();
    Fetch(now);
    now = parts_.fetch.due() ? now + 1 : NextWake(now);
    // A fetch that misses wakes the memory.
    if (sm.memory.wake() <= outcome.until || sm.run.failed) {
      now = outcome.until;
      break;
    }
  }
  if (now - next >= kShort) not_before_ = 0;
  Leave(outcome.until);
  // The memory may be due before the next result is: a store on its way through the memory stage.
  outcome.next = std::min(now, std::max(outcome.until, sm.memory.wake()));
  return outcome;
}

inline void ArithmeticFastPath::Count(Cycle until, uint32_t issued) {
  IBufferState& core = parts_.state;
  const uint64_t count = until - counted_;
  const uint32_t waiting = core.issue_status.CreditPorts(count, issued, [this](int port) { return Closest(port); });
  waiting_ += waiting * count;
  if (issued == 0) {
    const Cycle idle_from = std::max(counted_, std::min(until, core.ports.held_until));
    if (until != idle_from) parts_.accounting.CountIdle(until - idle_from, other_data_threads_ + DataThreads());
  }
  counted_ = until;
  core.issue_status.SetTime(until);  // for warps that are not taken over
}

inline WarpClassMask ArithmeticFastPath::Closest(int port) const {
  const auto& in = slots_in_[static_cast<size_t>(port)];
  if ((in[kReadySp] | in[kReadySfu] | in[kReadyOther]) != 0) return MaskOf(WarpClass::kStructural);
  WarpClassMask classes = 0;
  for (const State state : {kArithmetic, kArithmeticWaw, kControl, kFetch}) {
    if (in[state] != 0) classes |= MaskOf(kClassOf[state]);
  }
  return classes;
}

uint64_t ArithmeticFastPath::DataThreads() const {
  uint64_t threads = 0;
  for (const auto& in : slots_in_) {
    for (uint64_t left = in[kArithmetic] | in[kArithmeticWaw]; left != 0; left &= left - 1) {
      threads += warps_[static_cast<size_t>(std::countr_zero(left))].threads;
    }
  }
  return threads;
}

inline bool ArithmeticFastPath::TakeDue(Cycle now) {
  if (!results_.HasDue(now)) return true;
  parts_.sm.run.last_progress = now;
  return results_.TakeDue(now, [&](const ResultRing::Result result) {
    if (result.branch) return Branch(result.slot, now);
    Member& warp = warps_[result.slot];
    warp.pending &= ~operations_[result.pc].writes;
    if (kWaitsForData[warp.state]) UpdateStatus(result.slot, now);
    return true;
  });
}

bool ArithmeticFastPath::Branch(SlotId slot, Cycle now) {
  SmParts& sm = parts_.sm;
  const WarpTable& table = sm.table();
  const Position at = table.position[slot];
  const trace::Block& block = sm.context.program.block(sm.steps[at.pc()].block);
  Position next;
  if (!sm.control_flow.NextTogether(table.lanes[slot], at, block, table.stop[slot], next)) return false;
  sm.formation.Advance(slot, next);
  ForgetChanges();
  WarpEntry& warp = parts_.state.warps[slot];
  warp.regular = true;
  warp.offered = IssueStatus(WarpClass::kStructural, warps_[slot].port, warp.threads).Offered();
  parts_.buffers.Redirect(slot, warp, next.pc());
  UpdateStatus(slot, now);
  parts_.buffers.UpdateFetchableOfRegular(slot, warp);
  return true;
}

void ArithmeticFastPath::Select(Cycle now) {
  SmParts& sm = parts_.sm;
  IssuePorts& ports = parts_.state.ports;
  const ExecutionUnits& units = parts_.issue.units();
  const int count = sm.context.ports;
  ports.issued_mask = 0;
  for (int port = 0; port < count; ++port) {
    ports.issued[port] = kNoSlot;
    if (now < ports.free[port]) continue;
    const auto& in = slots_in_[port];
    uint64_t eligible = 0;
    if (now >= units.NextFree(UnitClass::kSp)) eligible = in[kReadySp];
    if (now >= units.NextFree(UnitClass::kSfu)) eligible |= in[kReadySfu];
    if (eligible == 0) continue;
    eligible_.AssignFirstWord(eligible);
    const SlotId slot = sm.notifier.scheduler(port).Pick(eligible_);
    if (slot == kNoSlot) continue;
    if (slot >= kSlots || !eligible_.Contains(slot)) {
      parts_.issue.FailPick(port, slot, now);
      continue;
    }
    parts_.issue.TakePenalty(port, slot, now);
    Issue(port, slot, now);
    ports.issued_mask |= 1u << port;
  }
}

inline void ArithmeticFastPath::Issue(int port, SlotId slot, Cycle now) {
  SmParts& sm = parts_.sm;
  IBufferState& core = parts_.state;
  InstructionBuffers& buffers = parts_.buffers;
  WarpEntry& warp = core.warps[slot];
  Member& own = warps_[slot];
  const Pc pc = warp.head;
  const Operation& operation = operations_[pc];
  core.ports.issued[port] = core.ports.last_issued[port] = slot;
  sm.NotifyIssue(slot);
  ++own.issues;
  buffers.TakeHead(slot, warp, pc);
  const Cycle start =
      parts_.issue.units().Issue(operation.unit, operation.interval * own.groups, warp.hw_warp, operation.sources, now);
  const Cycle result = start + operation.before_last * own.groups + operation.latency;
  if (operation.branch) {
    results_.Add(now, result, {pc, slot, /*branch=*/true});
    sm.formation.Issue(slot);
    sm.notifier.scheduler(port).Issued(slot);
    ForgetChanges();
    warp.regular = false;
    warp.in_flight = InFlightReason::kControl;
    Set(slot, kControl, now + 1);
    if (warp.fetchable != Fetchable::kNo) buffers.SetFetchable(slot, warp, /*room=*/false);
    return;
  }
  if (operation.writes != 0) {
    own.pending |= operation.writes;
    results_.Add(now, result, {pc, slot, /*branch=*/false});
  }
  sm.notifier.scheduler(port).Issued(slot);
  sm.formation.MoveOn(slot, Position(pc + 1, /*depth=*/0));
  UpdateStatus(slot, now + 1);
  buffers.UpdateFetchableOfRegular(slot, warp);
}

void ArithmeticFastPath::Decode() {
  const SlotId slot = parts_.buffers.arriving();
  if (!IsMember(slot)) {
    parts_.fetch.Decode();
    return;
  }
  WarpEntry& warp = parts_.state.warps[slot];
  parts_.buffers.EndFill(slot, warp);
  if (!warp.regular) return;  // it waits for its branch
  UpdateStatus(slot, counted_);
  parts_.buffers.UpdateFetchableOfRegular(slot, warp);
}

void ArithmeticFastPath::Fetch(Cycle now) {
  const SlotId slot = parts_.fetch.Fetch(now);
  if (slot == kNoSlot) return;
  if (IsMember(slot)) {
    UpdateStatus(slot, counted_);
  } else {
    parts_.status.Update(slot);
  }
}

Cycle ArithmeticFastPath::NextWake(Cycle now) const {
  const Cycle next = now + 1;
  const ExecutionUnits& units = parts_.issue.units();
  Cycle wake = kNever;
  for (int port = 0; port < parts_.sm.context.ports; ++port) {
    const Cycle port_free = std::max(next, parts_.state.ports.free[port]);
    if (slots_in_[port][kReadySp] != 0) wake = std::min(wake, std::max(port_free, units.NextFree(UnitClass::kSp)));
    if (slots_in_[port][kReadySfu] != 0) wake = std::min(wake, std::max(port_free, units.NextFree(UnitClass::kSfu)));
  }
  if (other_ready() != 0) wake = next;
  return results_.Next(next, wake);
}

void ArithmeticFastPath::ForgetChanges() {
  SlotId slot = kNoSlot;
  bool threads = false;
  while (parts_.sm.formation.TakeChange(slot, threads)) {
  }
}

}  // namespace heddle::replay
