#include "replay/core/arithmetic_run.h"

#include <algorithm>
#include <bit>

#include "replay/core/ibuffer_plain.h"

namespace heddle::replay {
namespace {

// A stretch of fewer cycles costs more than it saves; after one, this many are run without a try.
constexpr Cycle kShort = 48;
constexpr Cycle kPause = 256;

constexpr uint64_t BitOf(SlotId slot) { return uint64_t{1} << slot; }
constexpr bool WaitsForData(WarpClass state) { return (MaskOf(state) & kDataClasses) != 0; }

}  // namespace

ArithmeticRun::ArithmeticRun(IBufferCore& core)
    : core_(core), needs_(core.setup_.table.size(), kOther), ready_(static_cast<size_t>(core.context_.ports)) {
  for (Pc pc = 0; pc < needs_.size(); ++pc) {
    const IssueStep& how = core.setup_.table[pc];
    const Step& step = core.steps_[pc];
    const trace::v1::Terminator end = core.context_.program.block(step.block).terminator;
    const bool branch =
        step.ends_block && how.hold == Hold::kControl && how.unit != UnitClass::kMemory && how.destinations == 0 &&
        (end == trace::v1::Terminator::FALL_THROUGH || end == trace::v1::Terminator::BRANCH_CONDITIONAL);
    if (how.simple || branch) needs_[pc] = how.unit == UnitClass::kSp ? kSp : kSfu;
  }
  due_.resize(std::bit_ceil(core.setup_.table.longest() + 64));  // what is later than usual makes it grow
  mask_ = static_cast<uint32_t>(due_.size()) - 1;
}

// --- taking over and giving back

bool ArithmeticRun::Enter(Cycle next) {
  IBufferCore& core = core_;
  if (next < not_before_) return false;
  not_before_ = next + kPause;  // unless it pays
  if (core.resident_ == 0 || !core.ok() || core.pending_.active || core.write_back_.held() != 0 ||
      core.barrier_opened() || core.AnyDeferred() || core.due_again_ || core.formation_.next_timer() != kNever ||
      core.formation_.prioritised() || core.formation_.AnyChange() || !core.long_waits_.empty() ||
      !core.retiring_.empty()) {
    return false;
  }
  if (!TakeWarps() || !TakeResults()) return false;
  data_threads_ = core.standings_.offered_data_threads();
  counted_ = core.credited_;
  cycles_ = issues_ = waiting_ = 0;
  core.BeginCycle(next);
  return true;
}

bool ArithmeticRun::TakeWarps() {
  IBufferCore& core = core_;
  const WarpTable& table = core.table();
  members_ = other_ready_ = 0;
  for (auto& needs : ready_) {
    for (SlotSet& slots : needs) slots.Clear();
  }
  int live = 0;
  for (SlotId slot = 0; slot < std::min<size_t>(kSlots, core.warps_.size()); ++slot) {
    if (table.state[slot] == SlotState::kFree) continue;
    ++live;
    const IBufferCore::Warp& from = core.warps_[slot];
    const bool branches = table.state[slot] == SlotState::kInFlight && from.row != kMixedRows && from.threads != 0 &&
                          from.in_flight == IBufferCore::InFlight::kControl &&
                          needs_[table.position[slot].pc()] != kOther;
    if (!from.plain && !branches) {
      if (table.state[slot] == SlotState::kOffered) return false;
      continue;
    }
    if (core.slots_of_[from.row].size() != 1 || !core.scoreboard_.OnlyArithmetic(from.row)) return false;
    const Standing standing = core.standings_.of(slot);
    Warp& to = warps_[slot];
    to.pending = core.scoreboard_.pending(from.row);
    to.since = core.standings_.since(slot);
    to.groups = core.Groups(table.lanes[slot].mask);
    to.stop = table.stop[slot].is_exit() ? ~Pc{0} : table.stop[slot].pc();
    to.state = static_cast<uint8_t>(standing.state());
    to.port = standing.port();
    to.need = kOther;
    members_ |= BitOf(slot);
    if (standing.state() != WarpClass::kStructural) continue;
    if (from.head + 1 != to.stop) to.need = needs_[from.head];
    ready_[to.port][to.need].Insert(slot);
    if (to.need == kOther) other_ready_ |= BitOf(slot);
  }
  return live == table.live && members_ != 0;
}

bool ArithmeticRun::TakeResults() {
  IBufferCore& core = core_;
  // The slot that a result is of; kNoSlot if the result is not for here.
  const auto slot_of = [&](const Completion& item) {
    SlotId slot = kNoSlot;
    if (item.kind == Completion::kRegisters) {
      if (core.slots_of_[item.id].size() == 1) slot = core.slots_of_[item.id].front();
    } else if (item.kind == Completion::kBranch) {
      slot = static_cast<SlotId>(item.id);
    } else if (item.kind == Completion::kLanes) {
      const Flight& flight = core.flights_[item.id];
      if (flight.holds && !flight.inserted && !flight.writes && flight.outstanding == item.lanes) slot = flight.slot;
      if (slot != kNoSlot && core.table().state[slot] != SlotState::kInFlight) slot = kNoSlot;
    }
    return IsMember(slot) ? slot : kNoSlot;
  };
  const bool all = core.write_back_.All(
      [&](Cycle at, const Completion& item) { return at <= core.now_ + mask_ && slot_of(item) != kNoSlot; });
  if (!all) return false;
  core.write_back_.TakeAll([&](Cycle at, const Completion& item) {
    const SlotId slot = slot_of(item);
    --core.row_results_due_[core.warps_[slot].row];
    if (item.kind == Completion::kRegisters) {
      AddResult(at, slot, static_cast<Pc>(item.lanes), /*branch=*/false);
      return;
    }
    if (item.kind == Completion::kLanes) core.flights_.Remove(item.id);
    AddResult(at, slot, 0, /*branch=*/true);
  });
  return true;
}

void ArithmeticRun::Leave(Cycle now) {
  IBufferCore& core = core_;
  for (uint64_t left = members_; left != 0; left &= left - 1) {
    const SlotId slot = static_cast<SlotId>(std::countr_zero(left));
    const Warp& warp = warps_[slot];
    const IBufferCore::Warp& to = core.warps_[slot];
    const WarpClass state = static_cast<WarpClass>(warp.state);
    Standing standing(WarpClass::kControl, warp.port, to.threads);  // in flight
    if (to.plain) {
      standing =
          state == WarpClass::kStructural ? to.offered.Needs(core.setup_.table[to.head].unit) : to.offered.In(state);
    }
    core.standings_.Restore(slot, standing, warp.since);
    core.scoreboard_.SetPending(to.row, warp.pending);
  }
  for (Cycle at = now; results_left_ != 0; ++at) {
    List& list = due_[at & mask_];
    for (uint32_t node = list.head; node != kNone; node = results_[node].next) {
      const Result& result = results_[node];
      const uint32_t row = core.warps_[result.slot].row;
      ++core.row_results_due_[row];
      core.write_back_.Add(at, result.branch ? Completion{result.slot, Completion::kBranch, 0}
                                             : Completion{row, Completion::kRegisters, result.pc});
      --results_left_;
    }
    list.head = kNone;
  }
  results_.clear();
  free_ = kNone;

  SmCounters& counters = core.counters_;
  const uint64_t ports = static_cast<uint64_t>(core.context_.ports) * cycles_;
  counters.resident_cycles += cycles_;
  counters.scheduler_cycles += ports;
  counters.issued += issues_;
  counters.stall += ports - issues_ - waiting_;
  const uint64_t memory = core.standings_.memory_threads();
  (memory != 0 && memory == core.LiveThreads() ? counters.memory : counters.idle) += waiting_;
  core.standings_.CreditWarps(cycles_);
  core.standings_.SetTime(counted_);
  core.credited_ = core.offer_cycle_ = counted_;
  core.core_wake_ = 0;
}

// --- the cycles

Cycle ArithmeticRun::Run(Cycle next, Cycle limit, Cycle& until) {
  if (next >= limit || !Enter(next)) return next;
  IBufferCore& core = core_;
  Cycle now = next;
  while (now < limit) {
    if (now != counted_) Count(now, 0);
    core.now_ = now;
    core.formation_.SetNow(now);
    until = now + 1;
    if (!TakeDue(now) || other_ready_ != 0) {
      Leave(now);
      core.RunFromResults(now);
      if (now - next >= kShort) not_before_ = 0;
      return core.NextWake(now);
    }
    Select(now);
    Count(now + 1, core.issued_ports_);
    if (core.fetched_.slot != kNoSlot) Decode();
    Fetch(now);
    now = core.FetchDue() ? now + 1 : NextWake(now);
    // A fetch that misses wakes the memory.
    if (core.memory_wake_ <= until || !core.ok()) {
      now = until;
      break;
    }
  }
  if (now - next >= kShort) not_before_ = 0;
  Leave(until);
  // The memory may be due before the next result is: a store on its way through the memory stage.
  return std::min(now, std::max(until, core.memory_wake_));
}

void ArithmeticRun::Count(Cycle until, uint32_t issued) {
  const uint64_t count = until - counted_;
  cycles_ += count;
  issues_ += static_cast<uint64_t>(std::popcount(issued));
  waiting_ += core_.standings_.CreditPorts(count, issued) * count;
  if (issued == 0) {
    const Cycle idle_from = std::max(counted_, std::min(until, core_.penalty_until_));
    if (until != idle_from) core_.CountIdle(until - idle_from, data_threads_);
  }
  counted_ = until;
  core_.standings_.SetTime(until);
}

bool ArithmeticRun::TakeDue(Cycle now) {
  List& list = due_[now & mask_];
  while (list.head != kNone) {
    const uint32_t node = list.head;
    Result& result = results_[node];
    const SlotId slot = result.slot;
    if (result.branch) {
      if (!Branch(slot)) return false;
    } else {
      Warp& warp = warps_[slot];
      warp.pending &= ~core_.setup_.table.word(result.pc).writes;
      if (WaitsForData(static_cast<WarpClass>(warp.state))) Reclass(slot);
    }
    core_.last_progress_ = now;
    list.head = result.next;
    result.next = free_;
    free_ = node;
    --results_left_;
  }
  return true;
}

bool ArithmeticRun::Branch(SlotId slot) {
  IBufferCore& core = core_;
  const WarpTable& table = core.table();
  const trace::Program& program = core.context_.program;
  const trace::Block& block = program.block(core.steps_[table.position[slot].pc()].block);
  uint32_t target = block.successor;
  if (block.terminator == trace::v1::Terminator::BRANCH_CONDITIONAL) {
    const Lanes& lanes = table.lanes[slot];
    const LaneMask taken = core.cursors_.PeekDecisions(lanes);
    if (taken != 0 && taken != lanes.mask) return false;
    if (taken != 0) target = block.taken;
    if (program.block(target).first == warps_[slot].stop) return false;
    core.cursors_.TakeDecisions(lanes);
  } else if (program.block(target).first == warps_[slot].stop) {
    return false;
  }
  const Pc next = program.block(target).first;
  core.formation_.Advance(slot, Position(next, /*depth=*/0));
  ForgetChanges();
  IBufferCore::Warp& warp = core.warps_[slot];
  warp.plain = true;
  warp.offered = Standing(WarpClass::kStructural, warps_[slot].port, warp.threads).Offered();
  if (warp.head != next) {
    core.DropBuffer(slot, warp);
    warp.head = next;
    warp.flushed = true;
  }
  Reclass(slot);
  core.UpdatePlainFetchable(slot, warp);
  return true;
}

void ArithmeticRun::Select(Cycle now) {
  IBufferCore& core = core_;
  core.issued_ports_ = 0;
  for (int port = 0; port < core.context_.ports; ++port) {
    core.issued_[port] = kNoSlot;
    if (now < core.port_free_[port]) continue;
    const auto& ready = ready_[port];
    const bool sp = !ready[kSp].empty() && now >= core.units_.NextFree(UnitClass::kSp);
    const bool sfu = !ready[kSfu].empty() && now >= core.units_.NextFree(UnitClass::kSfu);
    if (!sp && !sfu) continue;
    if (sp && sfu) eligible_.AssignUnion(ready[kSp], ready[kSfu]);
    const SlotSet& eligible = !sfu ? ready[kSp] : !sp ? ready[kSfu] : eligible_;
    const SlotId slot = core.schedulers_[port]->Pick(eligible);
    if (slot == kNoSlot) continue;
    if (slot >= kSlots || !eligible.Contains(slot)) {
      core.FailPick(port, slot, now);
      continue;
    }
    core.TakePenalty(port, slot, now);
    Issue(port, slot, now);
    core.issued_ports_ |= 1u << port;
  }
}

void ArithmeticRun::Issue(int port, SlotId slot, Cycle now) {
  IBufferCore& core = core_;
  IBufferCore::Warp& warp = core.warps_[slot];
  Warp& own = warps_[slot];
  const Pc pc = warp.head;
  const IssueStep& how = core.setup_.table[pc];
  core.standings_.CountIssue(WarpClass::kStructural, own.since, now);
  core.issued_[port] = core.last_issued_[port] = slot;
  core.CountRowIssue(now, slot, warp.row, warp.threads);
  core.buffered_[slot] = --warp.valid;
  warp.head = pc + 1;
  const Cycle start =
      core.units_.Issue(how.unit, how.interval * own.groups, warp.row, core.setup_.table.sources(how), now);
  const Cycle result = start + how.before_last * own.groups + how.latency;
  if (how.hold == Hold::kControl) {
    AddResult(result, slot, pc, /*branch=*/true);
    core.formation_.Issue(slot);
    core.schedulers_[port]->Issued(slot);
    ForgetChanges();
    warp.plain = false;
    warp.in_flight = IBufferCore::InFlight::kControl;
    Set(slot, WarpClass::kControl, kOther);
    if (warp.fetchable != IBufferCore::Fetchable::kNo) core.SetFetchable(slot, warp, /*room=*/false);
    return;
  }
  if (how.destinations != 0) {
    own.pending |= core.setup_.table.word(pc).writes;
    AddResult(result, slot, pc, /*branch=*/false);
  }
  core.schedulers_[port]->Issued(slot);
  core.formation_.MoveOn(slot, Position(pc + 1, /*depth=*/0));
  Reclass(slot);
  core.UpdatePlainFetchable(slot, warp);
}

void ArithmeticRun::Decode() {
  IBufferCore& core = core_;
  const SlotId slot = core.fetched_.slot;
  if (!IsMember(slot)) {
    core.Decode();
    return;
  }
  IBufferCore::Warp& warp = core.warps_[slot];
  core.TakeFetched(slot, warp);
  if (!warp.plain) return;  // it waits for its branch
  Reclass(slot);
  core.UpdatePlainFetchable(slot, warp);
}

void ArithmeticRun::Fetch(Cycle now) {
  const SlotId slot = core_.Fetch(now);
  if (slot == kNoSlot) return;
  if (IsMember(slot)) {
    Reclass(slot);
  } else {
    core_.Reclass(slot);
  }
}

Cycle ArithmeticRun::NextWake(Cycle now) const {
  const Cycle next = now + 1;
  Cycle wake = kNever;
  for (int port = 0; port < core_.context_.ports; ++port) {
    const Cycle port_free = std::max(next, core_.port_free_[port]);
    if (!ready_[port][kSp].empty()) wake = std::min(wake, std::max(port_free, core_.units_.NextFree(UnitClass::kSp)));
    if (!ready_[port][kSfu].empty()) wake = std::min(wake, std::max(port_free, core_.units_.NextFree(UnitClass::kSfu)));
  }
  if (other_ready_ != 0) wake = next;
  if (results_left_ == 0) return wake;
  Cycle due = next;
  while (due < wake && due_[due & mask_].head == kNone) ++due;
  return due;
}

void ArithmeticRun::Reclass(SlotId slot) {
  const IBufferCore::Warp& warp = core_.warps_[slot];
  if (warp.valid == 0) {
    Set(slot, warp.flushed ? WarpClass::kControl : WarpClass::kFetch, kOther);
    return;
  }
  const Warp& own = warps_[slot];
  const RegisterWord& registers = core_.setup_.table.word(warp.head);
  if ((own.pending & registers.reads) != 0) {
    Set(slot, WarpClass::kArithmetic, kOther);
  } else if ((own.pending & registers.writes) != 0) {
    Set(slot, WarpClass::kArithmeticWaw, kOther);
  } else {
    Set(slot, WarpClass::kStructural, warp.head + 1 == own.stop ? kOther : needs_[warp.head]);
  }
}

void ArithmeticRun::Set(SlotId slot, WarpClass state, Need need) {
  Warp& warp = warps_[slot];
  const WarpClass from = static_cast<WarpClass>(warp.state);
  if (from == state && warp.need == need) return;
  const uint64_t bit = BitOf(slot);
  if (from == WarpClass::kStructural) {
    ready_[warp.port][warp.need].Erase(slot);
    if (warp.need == kOther) other_ready_ &= ~bit;
  }
  if (state == WarpClass::kStructural) {
    ready_[warp.port][need].Insert(slot);
    if (need == kOther) other_ready_ |= bit;
  }
  if (from != state) {
    const uint8_t threads = core_.warps_[slot].threads;
    if (WaitsForData(from)) data_threads_ -= threads;
    if (WaitsForData(state)) data_threads_ += threads;
    core_.standings_.CountChange(warp.port, from, state, warp.since);
  }
  warp.state = static_cast<uint8_t>(state);
  warp.need = need;
}

void ArithmeticRun::ForgetChanges() {
  SlotId slot = kNoSlot;
  bool threads = false;
  while (core_.formation_.TakeChange(slot, threads)) {
  }
}

void ArithmeticRun::Grow(Cycle now) {
  const std::vector<List> old = due_;
  const uint32_t mask = mask_;
  due_.assign(2 * old.size(), List());
  mask_ = static_cast<uint32_t>(due_.size()) - 1;
  for (Cycle at = now; at <= now + mask; ++at) due_[at & mask_] = old[at & mask];
}

void ArithmeticRun::AddResult(Cycle at, SlotId slot, Pc pc, bool branch) {
  while (at - core_.now_ > mask_) [[unlikely]]
    Grow(core_.now_);
  uint32_t node = free_;
  if (node == kNone) {
    node = static_cast<uint32_t>(results_.size());
    results_.emplace_back();
  } else {
    free_ = results_[node].next;
  }
  Result& result = results_[node];
  result.next = kNone;
  result.pc = pc;
  result.slot = static_cast<uint8_t>(slot);
  result.branch = branch;
  List& list = due_[at & mask_];
  (list.head == kNone ? list.head : results_[list.tail].next) = node;
  list.tail = node;
  ++results_left_;
}

}  // namespace heddle::replay
