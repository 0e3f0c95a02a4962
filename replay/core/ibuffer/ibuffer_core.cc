#include "replay/core/ibuffer/ibuffer_core.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/core/ibuffer/arithmetic_run.h"

namespace heddle::replay {

BufferSetup::BufferSetup(const trace::Program& program, std::span<const Step> steps,
                         const machine::v1::Machine& machine)
    : table(program, steps, machine.core()),
      units(machine.core().units()),
      entries(static_cast<uint8_t>(machine.core().ibuffer().entries())),
      fetch_instructions(static_cast<uint8_t>(machine.core().ibuffer().fetch_instructions())),
      fetch_when_free_slot(machine.core().ibuffer().fetch_when() == machine::v1::InstructionBuffer::FREE_SLOT),
      reformed_warp_cycles(machine.core().ibuffer().reformed_warp_cycles()),
      memory_interval(std::max(1u, machine.core().units().memory_initiation_interval())),
      simd_width(machine.core().simd_width()),
      skip_empty_groups(machine.core().skip_empty_groups()) {
  const machine::v1::Cache& cache = machine.memory().hierarchy().l1_instruction();
  if (cache.sets() != 0) line_instructions = cache.line_bytes() / kInstructionBytes;
}

IBufferCore::IBufferCore(const LaunchContext& context, const BufferSetup& setup, uint32_t sm,
                         std::unique_ptr<DivergencePolicy> policy, ChunkCache& cache, MemorySystem& memory)
    : SmCore(context, sm, std::move(policy), cache, memory, setup.table.longest()),
      one_in_flight_((interests_ & kEveryInstruction) != 0),
      setup_(setup),
      data_holds_((interests_ & kLaneReturns) != 0),
      plain_(!one_in_flight_ && !context.by_warp && setup.table.flat()),
      buffered_(table().state.size(), 0),
      rows_(live_in_row_.size()),
      standings_(static_cast<int>(table().state.size()), context.ports),
      scoreboard_(static_cast<uint32_t>(context.max_threads / context.warp_size), setup.table),
      units_(setup.units),
      reformed_(setup.reformed_warp_cycles) {
  warps_.reserve(table().state.size());
  formation_.NoteChanges();
  issued_.fill(kNoSlot);
  last_issued_.fill(kNoSlot);
}

IBufferCore::~IBufferCore() = default;

void IBufferCore::SetFetchPolicy(std::unique_ptr<FetchPolicy> policy) {
  fetch_policy_ = std::move(policy);
  constexpr uint32_t kQuestions = kIssue | kEveryCycle | kEveryBlockEnd | kEveryInstruction | kLaneReturns;
  if (plain_ && issues_unwatched() && !context_.observes_states && !context_.force_tick && scoreboard_.one_word() &&
      (interests_ & kQuestions) == 0) {
    arithmetic_ = std::make_unique<ArithmeticRun>(*this);
  }
}

// --- statistics

inline void IBufferCore::CountPorts(uint64_t count, uint64_t idle, uint32_t issued) {
  counters_.resident_cycles += count;
  counters_.scheduler_cycles += count * static_cast<uint64_t>(context_.ports);
  const uint64_t issues = static_cast<uint64_t>(std::popcount(issued));
  const uint64_t waiting = standings_.Credit(count, issued);  // ports
  counters_.issued += issues;
  counters_.stall += (static_cast<uint64_t>(context_.ports) - issues - waiting) * count;
  if (waiting != 0) {
    const uint64_t memory = standings_.memory_threads();
    (memory != 0 && memory == LiveThreads() ? counters_.memory : counters_.idle) += waiting * count;
  }
  if (idle != 0) CountIdle(idle, standings_.offered_data_threads());
}

void IBufferCore::CountIdle(uint64_t idle, uint64_t data_threads) {
  counters_.idle_cycles += idle;
  const auto& states = formation_.thread_states();
  for (int state = 0; state < kThreadStates; ++state) counters_.idle_threads[state] += idle * states[state];
  const uint64_t data = idle * data_threads;
  counters_.idle_threads[static_cast<int>(ThreadState::kReady)] -= data;
  counters_.idle_threads[static_cast<int>(ThreadState::kDependency)] += data;
}

// Cycles before `until` that have not been counted had the state that is there now: nothing changes between two cycles
// that are run.
void IBufferCore::CreditSkipped(Cycle until) {
  if (resident_ > 0) {
    const Cycle idle_from = std::max(credited_, std::min(until, penalty_until_));
    CountPorts(until - credited_, until - idle_from, 0);
    if (context_.profile != nullptr) ProfilePorts(until - credited_, 0);
    if (context_.observes_states) ObserveStates(credited_, until - credited_);
  }
  credited_ = until;
  standings_.SetTime(until);
}

// The present cycle, with the state between selection and what follows it.
inline void IBufferCore::CountCycle(Cycle now) {
  if (resident_ > 0) {
    CountPorts(1, issued_ports_ == 0 && now >= penalty_until_ ? 1 : 0, issued_ports_);
    standings_.EndSelection();
    if (context_.profile != nullptr) ProfilePorts(1, issued_ports_);
    if (context_.observes_states) ObserveStates(now, 1);
  }
  credited_ = now + 1;
  standings_.SetTime(now + 1);
}

// --- the cycle

bool IBufferCore::RunMemoryAlone(Cycle now) {
  BeginCycle(now);
  const bool stage_was_free = memory_->StageFree();
  memory_alone_ = true;
  memory_->RunCycle(now);
  if (memory_alone_ && !stage_was_free && memory_->StageFree()) {
    for (int port = 0; port < context_.ports; ++port) {
      if ((standings_.ready_units(port) >> static_cast<int>(UnitClass::kMemory) & 1) != 0) Disturb();
    }
  }
  return std::exchange(memory_alone_, false);
}

void IBufferCore::Disturb() {
  if (!memory_alone_) return;
  memory_alone_ = false;
  Credit(now_);
}

void IBufferCore::RunCycle(Cycle now) {
  if (now < core_wake_) {
    if (RunMemoryAlone(now)) return;
    core_wake_ = 0;
  } else {
    Credit(now);
    BeginCycle(now);
    Complete(now);
    if (now >= memory_wake_) {
      memory_->RunCycle(now);
      if (memory_wake_ != 0) memory_wake_ = memory_->NextWake(now);
    }
  }
  RunAfterMemory(now);
}

void IBufferCore::RunAfterMemory(Cycle now) {
  if (due_again_) {
    due_again_ = false;
    TakeDue(now);
  }
  if (BarriersOrTimersDue(now)) RunBarriersAndTimers(now);
  TakeChanges();
  if (resident_ > 0) {
    Select(now);
    CountCycle(now);
    if (AnyDeferred()) TellDeferred();
    TakeChanges();
    if (!long_waits_.empty()) TellLongWaits();
    if (fetched_.slot != kNoSlot) Decode();
    if (const SlotId slot = Fetch(now); slot != kNoSlot) Reclass(slot);
    if (!retiring_.empty()) RetireBlocks(now);
    CheckProgress(now);
  } else {
    CountCycle(now);
  }
}

SmCore::Stretch IBufferCore::RunAlone(Cycle next, Cycle limit) {
  memory_wake_ = 1;
  Stretch stretch{next, next, false};
  while (stretch.next < limit) {
    const Cycle now = stretch.next;
    RunCycle(now);
    stretch.until = now + 1;
    if (EndsStretch(stretch)) break;
    stretch.next = NextWake(now);
    if (arithmetic_ == nullptr) continue;
    stretch.next = arithmetic_->Run(stretch.next, std::min(limit, memory_wake_), stretch.until);
    if (EndsStretch(stretch)) break;
  }
  memory_wake_ = 0;
  return stretch;
}

Cycle IBufferCore::NextWake(Cycle now) const {
  if (core_wake_ <= now) core_wake_ = FetchDue() ? now + 1 : CoreWake(now);
  if (core_wake_ == now + 1) return core_wake_;
  return std::min(core_wake_, memory_->NextWake(now));
}

Cycle IBufferCore::CoreWake(Cycle now) const {
  const Cycle next = now + 1;
  if (resolve_waits_ || write_back_.held() != 0 || barrier_opened() || !long_waits_.empty()) return next;
  if (resident_ > 0 && (context_.force_tick || (interests_ & kEveryCycle) != 0)) return next;
  const uint32_t free_classes = next >= penalty_until_ ? units_.FreeClasses(next) : 0;
  Cycle wake = std::max(next, formation_.next_timer());
  for (uint32_t ports = standings_.ready_ports(); ports != 0 && wake != next; ports &= ports - 1) {
    const int port = std::countr_zero(ports);
    const uint32_t units = standings_.ready_units(port);
    if ((units & free_classes) != 0) return next;  // mostly
    const Cycle port_free = std::max(next, port_free_[port]);
    const auto ready_from = [&](UnitClass unit, Cycle free) {
      if ((units >> static_cast<int>(unit) & 1) != 0) wake = std::min(wake, std::max(port_free, free));
    };
    ready_from(UnitClass::kSp, units_.NextFree(UnitClass::kSp));
    ready_from(UnitClass::kSfu, units_.NextFree(UnitClass::kSfu));
    // A memory stage that is not free becomes so in a cycle of the memory.
    if (memory_->StageFree()) ready_from(UnitClass::kMemory, memory_free_);
  }
  if (wake == next) return next;
  if (one_in_flight_) wake = std::min(wake, reformed_.Next());
  return std::min(wake, write_back_.Next());
}

void IBufferCore::TellLongWaits() {
  std::sort(long_waits_.begin(), long_waits_.end());
  for (size_t i = 0; i < long_waits_.size(); ++i) {  // the policy may add some
    const SlotId slot = long_waits_[i];
    if (!standings_.of(slot).off_core() || warps_[slot].told_wait) continue;
    warps_[slot].told_wait = true;
    TellLongWait(slot);
    TakeChanges();
  }
  long_waits_.clear();
}

// --- blocks

void IBufferCore::WarpsAdmitted(uint32_t first_row, uint32_t rows) {
  for (uint32_t row = first_row; row < first_row + rows; ++row) LeaveRow(row);
  core_wake_ = 0;
  TakeChanges();
}

void IBufferCore::RowExited(SlotId slot, uint32_t row) {
  rows_[row].exited_port = table().port[slot];
  standings_.RowExited(rows_[row].exited_port);
  if (rows_[row].results_due == 0) FreeRow(row);
}

void IBufferCore::LeaveRow(uint32_t row) {
  uint8_t& exited_port = rows_[row].exited_port;
  if (exited_port != kNoPort) standings_.RowsLeft(exited_port, 1);
  exited_port = kNoPort;
  scoreboard_.ForgetStores(row);
}

void IBufferCore::SharedReleased() {
  core_wake_ = 0;
  TakeChanges();
  for (size_t i = 0; i < warps_.size(); ++i) {
    const auto slot = static_cast<SlotId>(i);
    if (warps_[slot].threads != 0 && table().state[slot] == SlotState::kOffered) Reclass(slot);
  }
}

void IBufferCore::BlockExited(BlockId block) {
  if (!ResultsDue(block)) retiring_.push_back(block);
}

void IBufferCore::RetireBlocks(Cycle /*now*/) {
  std::sort(retiring_.begin(), retiring_.end());
  for (const BlockId block : retiring_) {
    for (uint32_t row = 0; row < block_of_row_.size(); ++row) {
      if (block_of_row_[row] == block) LeaveRow(row);
    }
    RetireBlock(block);
  }
  retiring_.clear();
  TakeChanges();
}

absl::Status IBufferCore::CheckDrained() const {
  if (!scoreboard_.empty()) {
    return absl::InternalError(absl::StrCat("SM ", sm_, ", cycle ", now_, ": registers have a write pending"));
  }
  const FetchCounters& f = fetch_counters_;
  if (buffered() && f.instructions != counters_.warp_instructions + f.dropped) {
    return absl::InternalError(absl::StrCat("SM ", sm_, ", cycle ", now_, ": ", f.instructions,
                                            " instructions entered a buffer, ", counters_.warp_instructions,
                                            " issued and ", f.dropped, " were dropped"));
  }
  return absl::OkStatus();
}

std::string IBufferCore::WhatSlotWaitsFor(SlotId slot) const {
  switch (standings_.of(slot).state()) {
    case WarpClass::kStructural:
      switch (standings_.of(slot).unit()) {
        case UnitClass::kMemory:
          if (!MemoryFree(now_)) return "wait for the memory stage";
          break;
        case UnitClass::kSp:
          if (now_ < units_.NextFree(UnitClass::kSp)) return "wait for an SP unit";
          break;
        case UnitClass::kSfu:
          if (now_ < units_.NextFree(UnitClass::kSfu)) return "wait for an SFU unit";
          break;
      }
      return "are ready, but are not issued";
    case WarpClass::kMemory:
    case WarpClass::kMemoryWaw:
      return standings_.of(slot).off_core() ? "wait for data from beyond the core" : "wait for data from memory";
    case WarpClass::kArithmetic:
    case WarpClass::kArithmeticWaw:
      return "wait for the result of an instruction";
    case WarpClass::kControl:
      return "wait for a branch to resolve, or for the instructions behind it";
    case WarpClass::kFetch:
      return warps_[slot].waits_for_line ? "wait for a line of the instruction cache" : "wait to be fetched for";
    case WarpClass::kBarrier:
      return "wait at a fence for the acknowledgement of stores";
    default:
      return "wait for an instruction to complete";
  }
}

}  // namespace heddle::replay
