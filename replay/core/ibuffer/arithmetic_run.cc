#include "replay/core/ibuffer/arithmetic_run.h"

#include <algorithm>
#include <bit>

#include "replay/core/ibuffer/ibuffer_plain.h"

namespace heddle::replay {
namespace {

// A stretch of fewer cycles costs more than it saves; after one, this many are run without a try.
constexpr Cycle kShort = 48;
constexpr Cycle kPause = 64;

constexpr uint64_t BitOf(SlotId slot) { return uint64_t{1} << slot; }
// By state.
constexpr std::array kClassOf = {WarpClass::kStructural, WarpClass::kStructural,    WarpClass::kStructural,
                                 WarpClass::kArithmetic, WarpClass::kArithmeticWaw, WarpClass::kControl,
                                 WarpClass::kFetch};
constexpr std::array kWaitsForData = {false, false, false, true, true, false, false};

}  // namespace

ArithmeticRun::ArithmeticRun(IBufferCore& core)
    : core_(core), operations_(core.setup_.table.size()), slots_in_(static_cast<size_t>(core.context_.ports)) {
  for (Pc pc = 0; pc < operations_.size(); ++pc) {
    const IssueStep& how = core.setup_.table[pc];
    const Step& step = core.steps_[pc];
    const trace::v1::Terminator end = core.context_.program.block(step.block).terminator;
    const bool branch =
        step.ends_block && how.hold == Hold::kControl && how.unit != UnitClass::kMemory && how.destinations == 0 &&
        (end == trace::v1::Terminator::FALL_THROUGH || end == trace::v1::Terminator::BRANCH_CONDITIONAL);
    const RegisterWord& registers = core.setup_.table.word(pc);
    Operation& operation = operations_[pc];
    operation.reads = registers.reads;
    operation.writes = registers.writes;
    operation.sources = core.setup_.table.sources(how);
    operation.interval = how.interval;
    operation.before_last = how.before_last;
    operation.latency = how.latency;
    operation.unit = how.unit;
    operation.branch = branch;
    if (how.simple || branch) operation.ready = how.unit == UnitClass::kSp ? kReadySp : kReadySfu;
  }
  Grow(/*now=*/0, std::bit_ceil(core.setup_.table.longest() + 64), room_);  // what is later than usual makes it grow
}

inline void ArithmeticRun::Set(SlotId slot, State state, Cycle from) {
  Warp& warp = warps_[slot];
  const State before = warp.state;
  if (before == state) return;
  auto& in = slots_in_[warp.port];
  in[before] ^= BitOf(slot);
  in[state] |= BitOf(slot);
  warp_cycles_[before] += from;
  warp_cycles_[state] -= from;
  warp.state = state;
}

inline ArithmeticRun::State ArithmeticRun::StateOf(SlotId slot) const {
  const IBufferCore::Warp& warp = core_.warps_[slot];
  if (warp.valid == 0) return warp.flushed ? kControl : kFetch;
  const Warp& own = warps_[slot];
  const Operation& operation = operations_[warp.head];
  if ((own.pending & operation.reads) != 0) return kArithmetic;
  if ((own.pending & operation.writes) != 0) return kArithmeticWaw;
  return warp.head + 1 == own.stop ? kReadyOther : operation.ready;
}

inline uint64_t ArithmeticRun::other_ready() const {
  uint64_t slots = 0;
  for (const auto& in : slots_in_) slots |= in[kReadyOther];
  return slots;
}

// --- taking over and giving back

bool ArithmeticRun::Enter(Cycle next) {
  IBufferCore& core = core_;
  if (next < not_before_) return false;
  not_before_ = next + kPause;  // unless it pays
  if (core.resident_ == 0 || !core.ok() || core.resolve_waits_ || core.write_back_.held() != 0 ||
      core.barrier_opened() || core.AnyDeferred() || core.due_again_ || core.formation_.next_timer() != kNever ||
      core.formation_.prioritised() || core.formation_.AnyChange() || !core.long_waits_.empty() ||
      !core.retiring_.empty()) {
    return false;
  }
  if (!TakeWarps() || !TakeResults()) return false;
  other_data_threads_ = core.standings_.offered_data_threads() - DataThreads();
  counted_ = first_ = core.credited_;
  waiting_ = 0;
  warp_cycles_ = {};
  for (uint64_t left = members_; left != 0; left &= left - 1) {
    const SlotId slot = static_cast<SlotId>(std::countr_zero(left));
    warp_cycles_[warps_[slot].state] -= core.standings_.Lend(slot);
  }
  core.BeginCycle(next);
  return true;
}

bool ArithmeticRun::TakeWarps() {
  IBufferCore& core = core_;
  const WarpTable& table = core.table();
  members_ = 0;
  for (auto& slots : slots_in_) slots.fill(0);
  int live = 0;
  for (SlotId slot = 0; slot < std::min<size_t>(kSlots, core.warps_.size()); ++slot) {
    if (table.state[slot] == SlotState::kFree) continue;
    ++live;
    const IBufferCore::Warp& from = core.warps_[slot];
    const bool branches = table.state[slot] == SlotState::kInFlight && from.row != kMixedRows && from.threads != 0 &&
                          from.in_flight == IBufferCore::InFlight::kControl &&
                          operations_[table.position[slot].pc()].ready != kReadyOther;
    if (!from.plain && !branches) {
      if (table.state[slot] == SlotState::kOffered) return false;
      continue;
    }
    if (core.rows_[from.row].only == kNoSlot || !core.scoreboard_.OnlyArithmetic(from.row)) return false;
    const Standing standing = core.standings_.of(slot);
    Warp& to = warps_[slot];
    to.pending = core.scoreboard_.pending(from.row);
    to.groups = core.Groups(slot);
    to.stop = table.stop[slot].is_exit() ? ~Pc{0} : table.stop[slot].pc();
    to.port = standing.port();
    to.threads = from.threads;
    to.issues = 0;
    to.state = from.plain ? StateOf(slot) : kControl;
    if (kClassOf[to.state] != standing.state()) return false;
    members_ |= BitOf(slot);
    slots_in_[to.port][to.state] |= BitOf(slot);
  }
  return live == table.live && members_ != 0;
}

bool ArithmeticRun::TakeResults() {
  IBufferCore& core = core_;
  // The slot that a result is of; kNoSlot if the result is not for here.
  const auto slot_of = [&](const Completion& item) {
    SlotId slot = kNoSlot;
    if (item.kind == Completion::kRegisters) {
      slot = core.rows_[item.id].only;
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
    --core.rows_[core.warps_[slot].row].results_due;
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
  core.standings_.SetTime(counted_);
  uint64_t issues = 0;
  for (uint64_t left = members_; left != 0; left &= left - 1) {
    const SlotId slot = static_cast<SlotId>(std::countr_zero(left));
    const Warp& warp = warps_[slot];
    const IBufferCore::Warp& to = core.warps_[slot];
    Standing standing(WarpClass::kControl, warp.port, to.threads);  // in flight
    if (to.plain) {
      const WarpClass state = kClassOf[warp.state];
      standing =
          state == WarpClass::kStructural ? to.offered.Needs(core.setup_.table[to.head].unit) : to.offered.In(state);
    }
    warp_cycles_[warp.state] += counted_;
    issues += warp.issues;
    core.CountRowIssues(to.row, warp.threads, warp.issues);
    core.standings_.Restore(slot, standing);
    core.scoreboard_.SetPending(to.row, warp.pending);
  }
  // Every issue was counted as a cycle of the ready warp that it was.
  warp_cycles_[kReadySp] -= issues;
  for (size_t state = 0; state < kStates; ++state) core.standings_.CountLent(kClassOf[state], warp_cycles_[state]);
  core.standings_.CountLent(issues);
  for (Cycle at = now; results_left_ != 0; ++at) {
    const uint32_t list = at & mask_;
    for (uint32_t place = at == now ? taken_ : 0; place < result_count_[list]; ++place) {
      const Result& result = results_[list * room_ + place];
      const uint32_t row = core.warps_[result.slot].row;
      ++core.rows_[row].results_due;
      core.write_back_.Add(at, result.branch ? Completion{result.slot, Completion::kBranch, 0}
                                             : Completion{row, Completion::kRegisters, result.pc});
      --results_left_;
    }
    result_count_[list] = 0;
  }
  taken_ = 0;

  SmCounters& counters = core.counters_;
  const uint64_t cycles = counted_ - first_;
  const uint64_t ports = static_cast<uint64_t>(core.context_.ports) * cycles;
  counters.resident_cycles += cycles;
  counters.scheduler_cycles += ports;
  counters.issued += issues;
  counters.stall += ports - issues - waiting_;
  const uint64_t memory = core.standings_.memory_threads();
  (memory != 0 && memory == core.LiveThreads() ? counters.memory : counters.idle) += waiting_;
  core.standings_.CreditWarps(cycles);
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
    if (!TakeDue(now) || other_ready() != 0) {
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

inline void ArithmeticRun::Count(Cycle until, uint32_t issued) {
  const uint64_t count = until - counted_;
  const uint32_t waiting = core_.standings_.CreditPorts(count, issued, [this](int port) { return Closest(port); });
  waiting_ += waiting * count;
  if (issued == 0) {
    const Cycle idle_from = std::max(counted_, std::min(until, core_.penalty_until_));
    if (until != idle_from) core_.CountIdle(until - idle_from, other_data_threads_ + DataThreads());
  }
  counted_ = until;
  core_.standings_.SetTime(until);  // for warps that are not taken over
}

inline WarpClassMask ArithmeticRun::Closest(int port) const {
  const auto& in = slots_in_[static_cast<size_t>(port)];
  if ((in[kReadySp] | in[kReadySfu] | in[kReadyOther]) != 0) return MaskOf(WarpClass::kStructural);
  WarpClassMask classes = 0;
  for (const State state : {kArithmetic, kArithmeticWaw, kControl, kFetch}) {
    if (in[state] != 0) classes |= MaskOf(kClassOf[state]);
  }
  return classes;
}

uint64_t ArithmeticRun::DataThreads() const {
  uint64_t threads = 0;
  for (const auto& in : slots_in_) {
    for (uint64_t left = in[kArithmetic] | in[kArithmeticWaw]; left != 0; left &= left - 1) {
      threads += warps_[static_cast<size_t>(std::countr_zero(left))].threads;
    }
  }
  return threads;
}

inline void ArithmeticRun::AddResult(Cycle at, SlotId slot, Pc pc, bool branch) {
  while (at - core_.now_ > mask_) [[unlikely]]
    Grow(core_.now_, 2 * (mask_ + 1), room_);
  if (result_count_[at & mask_] == room_) [[unlikely]]
    Grow(core_.now_, mask_ + 1, 2 * room_);
  const uint32_t list = at & mask_;
  results_[list * room_ + result_count_[list]++] = {pc, slot, branch};
  ++results_left_;
}

bool ArithmeticRun::TakeDue(Cycle now) {
  const uint32_t list = now & mask_;
  const uint32_t count = result_count_[list];
  if (count == 0) return true;
  const Result* const results = results_.data() + size_t{list} * room_;
  core_.last_progress_ = now;
  for (uint32_t place = 0; place < count; ++place) {
    const Result result = results[place];
    if (result.branch) {
      if (!Branch(result.slot, now)) {
        taken_ = place;
        results_left_ -= place;
        return false;
      }
    } else {
      Warp& warp = warps_[result.slot];
      warp.pending &= ~operations_[result.pc].writes;
      if (kWaitsForData[warp.state]) Reclass(result.slot, now);
    }
  }
  results_left_ -= count;
  result_count_[list] = 0;
  return true;
}

bool ArithmeticRun::Branch(SlotId slot, Cycle now) {
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
  Reclass(slot, now);
  core.UpdatePlainFetchable(slot, warp);
  return true;
}

void ArithmeticRun::Select(Cycle now) {
  IBufferCore& core = core_;
  core.issued_ports_ = 0;
  for (int port = 0; port < core.context_.ports; ++port) {
    core.issued_[port] = kNoSlot;
    if (now < core.port_free_[port]) continue;
    const auto& in = slots_in_[port];
    uint64_t eligible = 0;
    if (now >= core.units_.NextFree(UnitClass::kSp)) eligible = in[kReadySp];
    if (now >= core.units_.NextFree(UnitClass::kSfu)) eligible |= in[kReadySfu];
    if (eligible == 0) continue;
    eligible_.AssignFirstWord(eligible);
    const SlotId slot = core.schedulers_[port]->Pick(eligible_);
    if (slot == kNoSlot) continue;
    if (slot >= kSlots || !eligible_.Contains(slot)) {
      core.FailPick(port, slot, now);
      continue;
    }
    core.TakePenalty(port, slot, now);
    Issue(port, slot, now);
    core.issued_ports_ |= 1u << port;
  }
}

inline void ArithmeticRun::Issue(int port, SlotId slot, Cycle now) {
  IBufferCore& core = core_;
  IBufferCore::Warp& warp = core.warps_[slot];
  Warp& own = warps_[slot];
  const Pc pc = warp.head;
  const Operation& operation = operations_[pc];
  core.issued_[port] = core.last_issued_[port] = slot;
  core.TellIssue(now, slot);
  ++own.issues;
  core.buffered_[slot] = --warp.valid;
  warp.head = pc + 1;
  const Cycle start =
      core.units_.Issue(operation.unit, operation.interval * own.groups, warp.row, operation.sources, now);
  const Cycle result = start + operation.before_last * own.groups + operation.latency;
  if (operation.branch) {
    AddResult(result, slot, pc, /*branch=*/true);
    core.formation_.Issue(slot);
    core.schedulers_[port]->Issued(slot);
    ForgetChanges();
    warp.plain = false;
    warp.in_flight = IBufferCore::InFlight::kControl;
    Set(slot, kControl, now + 1);
    if (warp.fetchable != IBufferCore::Fetchable::kNo) core.SetFetchable(slot, warp, /*room=*/false);
    return;
  }
  if (operation.writes != 0) {
    own.pending |= operation.writes;
    AddResult(result, slot, pc, /*branch=*/false);
  }
  core.schedulers_[port]->Issued(slot);
  core.formation_.MoveOn(slot, Position(pc + 1, /*depth=*/0));
  Reclass(slot, now + 1);
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
  Reclass(slot, counted_);
  core.UpdatePlainFetchable(slot, warp);
}

void ArithmeticRun::Fetch(Cycle now) {
  const SlotId slot = core_.Fetch(now);
  if (slot == kNoSlot) return;
  if (IsMember(slot)) {
    Reclass(slot, counted_);
  } else {
    core_.Reclass(slot);
  }
}

Cycle ArithmeticRun::NextWake(Cycle now) const {
  const Cycle next = now + 1;
  Cycle wake = kNever;
  for (int port = 0; port < core_.context_.ports; ++port) {
    const Cycle port_free = std::max(next, core_.port_free_[port]);
    if (slots_in_[port][kReadySp] != 0)
      wake = std::min(wake, std::max(port_free, core_.units_.NextFree(UnitClass::kSp)));
    if (slots_in_[port][kReadySfu] != 0)
      wake = std::min(wake, std::max(port_free, core_.units_.NextFree(UnitClass::kSfu)));
  }
  if (other_ready() != 0) wake = next;
  if (results_left_ == 0) return wake;
  Cycle due = next;
  while (due < wake && result_count_[due & mask_] == 0) ++due;
  return due;
}

void ArithmeticRun::ForgetChanges() {
  SlotId slot = kNoSlot;
  bool threads = false;
  while (core_.formation_.TakeChange(slot, threads)) {
  }
}

void ArithmeticRun::Grow(Cycle now, uint32_t cycles, uint32_t room) {
  std::vector<Result> results(size_t{cycles} * room);
  std::vector<uint32_t> counts(cycles, 0);
  for (Cycle at = now; at < now + result_count_.size(); ++at) {
    const uint32_t from = at & mask_;
    const uint32_t to = at & (cycles - 1);
    std::copy_n(results_.begin() + from * room_, result_count_[from], results.begin() + to * room);
    counts[to] = result_count_[from];
  }
  results_ = std::move(results);
  result_count_ = std::move(counts);
  mask_ = cycles - 1;
  room_ = room;
}

}  // namespace heddle::replay
