#include "replay/core/ibuffer/ibuffer_core.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::replay {

IBufferCore::IBufferCore(const LaunchContext& context, const BufferSetup& setup, uint32_t sm,
                         std::unique_ptr<DivergencePolicy> policy, ChunkCache& cache, MemorySystem& memory)
    : SmCore(context, sm, std::move(policy), cache, memory, setup.table.longest()),
      accounting_(sm_, state_),
      state_(sm_, setup),
      buffers_(table(), setup),
      status_(sm_, state_, buffers_),
      fetch_(sm_, state_, buffers_, status_),
      results_(sm_, resolve_, state_, status_),
      issue_(sm_, resolve_, state_, buffers_, status_, results_),
      view_(sm_, state_, issue_) {
  sm_.formation.NoteChanges();
  sm_.policy->SetIssueView(view_);
}

// --- the cycle

bool IBufferCore::RunMemoryOnly(Cycle now) {
  sm_.BeginCycle(now);
  SmMemory& memory = sm_.memory.memory();
  const bool stage_was_free = memory.StageFree();
  memory_only_ = true;
  memory.RunCycle(now);
  if (memory_only_ && !stage_was_free && memory.StageFree() && issue_.AnyReadyForMemory()) WakeCore();
  return std::exchange(memory_only_, false);
}

void IBufferCore::WakeCore() {
  if (!memory_only_) return;
  memory_only_ = false;
  Credit(sm_.run.now);
}

void IBufferCore::RunCycle(Cycle now) {
  if (now < core_wake_) {
    if (RunMemoryOnly(now)) return;
    core_wake_ = 0;
  } else {
    accounting_.Credit(now);
    sm_.BeginCycle(now);
    results_.Complete(now);
    sm_.memory.RunCycle(now);
  }
  RunAfterMemory(now);
}

void IBufferCore::DeliverEndsOfWaits() {
  status_.TakeChanges();
  status_.DeliverEnds(view_);
}

void IBufferCore::RunCollectives(Cycle now) {
  if (sm_.async.used()) RunAsync(now);
  if (sm_.rendezvous.used()) RunRendezvous(now);
}

void IBufferCore::RunAsync(Cycle now) {
  sm_.async.RunCycle(now);
  if (sm_.async.any_ended() || !sm_.async.released().empty()) sm_.run.last_progress = now;
  // Before the slots go on: their blocks may exit with them, and tell that themselves.
  for (const BlockId block : sm_.async.idle_blocks()) {
    if (sm_.blocks[block].exited) results_.BlockExited(block);
  }
  for (const SlotId slot : sm_.async.released()) results_.FinishAtIssue(slot);
}

void IBufferCore::RunRendezvous(Cycle now) {
  sm_.rendezvous.RunCycle(sm_.locator, now);
  for (const SlotId slot : sm_.rendezvous.released()) {
    sm_.run.last_progress = now;
    if (resolve_.waits()) {
      sm_.write_back.Hold({slot, Completion::kResume, 0});
    } else {
      resolve_.ResumeFromBarrier(slot);
    }
  }
}

void IBufferCore::RunAfterMemory(Cycle now) {
  results_.CompleteReported(now);
  if (sm_.has_collectives) [[unlikely]]
    RunCollectives(now);
  if (status_.any_end_due()) DeliverEndsOfWaits();
  if (BarriersOrTimersDue(now)) RunBarriersAndTimers(now);
  status_.TakeChanges();
  if (resident() == 0) {
    accounting_.CountCycle(now);
    return;
  }
  issue_.Select(now);
  accounting_.CountCycle(now);
  if (sm_.notifier.any_deferred()) sm_.notifier.DeliverDeferred();
  status_.TakeChanges();
  if (status_.any_long_wait()) status_.DeliverLongWaits();
  if (buffers_.arriving() != kNoSlot) fetch_.Decode();
  if (const SlotId slot = fetch_.Fetch(now); slot != kNoSlot) status_.Update(slot);
  if (fetch_.again()) [[unlikely]]
    FetchAgain(now);
  if (!results_.retiring().empty()) RetireBlocks();
  CheckProgress(now);
}

void IBufferCore::FetchAgain(Cycle now) {
  for (uint32_t left = state_.setup.fetches_per_cycle - 1; left != 0; --left) {
    if (buffers_.arriving() != kNoSlot) fetch_.Decode();
    if (const SlotId slot = fetch_.Fetch(now); slot != kNoSlot) status_.Update(slot);
  }
}

// Here, where what it calls can be inlined: the launch's loop would call it in pieces.
Cycle IBufferCore::RunTurn(Cycle now) { return RunTurnOf(*this, now); }

SmCore::RunAhead IBufferCore::RunAlone(Cycle next, Cycle limit) {
  sm_.memory.BeginAlone();
  RunAhead ahead{next, next, false};
  while (ahead.next < limit) {
    const Cycle now = ahead.next;
    RunCycle(now);
    ahead.until = now + 1;
    if (MustRejoin(ahead)) break;
    ahead.next = NextWake(now);
    if (fast_path_ == nullptr || (sm_.has_collectives && sm_.AnyCollectiveUnderWay(now))) continue;
    const FastPath::Outcome outcome = fast_path_->Run(ahead.next, std::min(limit, sm_.memory.wake()));
    if (!outcome.ran) continue;
    core_wake_ = 0;
    ahead.until = outcome.until;
    ahead.next = outcome.next;
    if (outcome.unfinished) {
      RunFromResults(outcome.until - 1);
      ahead.next = NextWake(outcome.until - 1);
    }
    if (MustRejoin(ahead)) break;
  }
  sm_.memory.EndAlone();
  return ahead;
}

Cycle IBufferCore::NextWake(Cycle now) const {
  if (core_wake_ <= now) core_wake_ = fetch_.due() ? now + 1 : CoreWake(now);
  if (core_wake_ == now + 1) return core_wake_;
  return std::min(core_wake_, sm_.memory.memory().NextWake(now));
}

Cycle IBufferCore::CoreWake(Cycle now) const {
  const Cycle next = now + 1;
  if (resolve_.waits() || sm_.write_back.held() != 0 || sm_.barriers.opened() || status_.any_long_wait()) return next;
  if (status_.any_end_due()) return next;
  if (sm_.AnyGroupReady()) return next;
  if (resident() > 0 && (sm_.context.force_tick || (sm_.interests & kEveryCycle) != 0)) return next;
  Cycle wake = std::max(next, std::min(sm_.formation.next_timer(), issue_.NextIssue(now)));
  if (wake == next) return next;
  if (state_.one_in_flight || state_.stalls) wake = std::min(wake, status_.next_later());
  if (sm_.has_collectives) wake = std::min(wake, sm_.NextCollective(now));
  return std::min(wake, sm_.write_back.Next());
}

// --- the memory's replies

void IBufferCore::LanesDone(AccessId access, LaneMask lanes, Cycle at, bool /*returned*/) {
  if (SmParts::IsCollective(access)) [[unlikely]] {
    sm_.CollectiveLanesDone(access, lanes, at);
    WakeCoreAt(at);
    return;
  }
  if (results_.TakeUnnoticed(access, lanes, at)) return;
  ReportResult(at, {access, Completion::kLanes, lanes});
}

void IBufferCore::WakeCoreAt(Cycle at) {
  if (at <= sm_.run.now) {
    WakeCore();
  } else {
    core_wake_ = std::min(core_wake_, at);
  }
}

void IBufferCore::ReportResult(Cycle at, const Completion& result) {
  WakeCoreAt(at);
  results_.Report(at, result);
}

void IBufferCore::StoreAcknowledged(AccessId access, Cycle at) {
  if (SmParts::IsCollective(access)) [[unlikely]] {
    if (sm_.CollectiveAcknowledged(access, at)) WakeCoreAt(at);
    return;
  }
  if (state_.in_flight[access].store) {
    ReportResult(at, {access, Completion::kAcknowledged, 0});
  } else {
    results_.ForgetStore(access);  // nobody waits for it: only the number is given back
  }
}

void IBufferCore::WaitsOffCore(AccessId access) {
  if (SmParts::IsCollective(access)) return;
  WakeCore();
  results_.MarkOffCore(access);
}

void IBufferCore::FetchArrived(uint32_t fetcher) {
  WakeCore();
  fetch_.LineArrived(static_cast<SlotId>(fetcher));
}

// --- blocks

void IBufferCore::WarpsAdmitted(uint32_t first_hw_warp, uint32_t hw_warps) {
  for (uint32_t hw_warp = first_hw_warp; hw_warp < first_hw_warp + hw_warps; ++hw_warp) {
    LeaveHwWarp(hw_warp);
    if (state_.pauses_travel) state_.pauses.Forget(hw_warp);
  }
  const auto warp_size = static_cast<uint32_t>(sm_.context.warp_size);
  sm_.async.Admit(first_hw_warp * warp_size, hw_warps * warp_size);
  core_wake_ = 0;
  status_.TakeChanges();
}

SmWarps IBufferCore::CountWarps() const {
  SmWarps warps;
  for (size_t slot = 0; slot < state_.warps.size(); ++slot) {
    const IssueStatus status = state_.issue_status.of(static_cast<SlotId>(slot));
    switch (status.state()) {
      case WarpClass::kStructural:
        ++warps.ready;
        break;
      case WarpClass::kPolicy:
        ++warps.held;
        break;
      case WarpClass::kPaused:
        ++warps.paused;
        break;
      case WarpClass::kBarrier:
        ++warps.barrier;
        break;
      case WarpClass::kNone:
      case WarpClass::kExit:
        break;
      default:
        ++(status.waits_for_data() && status.beyond_shared() ? warps.memory : warps.other);
    }
  }
  return warps;
}

void IBufferCore::HwWarpExited(SlotId slot, uint32_t hw_warp) {
  HwWarpTable::HwWarp& exited = state_.hw_warps[hw_warp];
  exited.exited_port = table().port[slot];
  state_.issue_status.HwWarpExited(exited.exited_port);
  if (exited.results_due == 0) sm_.blocks.FreeHwWarp(hw_warp);
}

void IBufferCore::LeaveHwWarp(uint32_t hw_warp) {
  uint8_t& exited_port = state_.hw_warps[hw_warp].exited_port;
  if (exited_port != HwWarpTable::kNoPort) state_.issue_status.HwWarpsLeft(exited_port, 1);
  exited_port = HwWarpTable::kNoPort;
  state_.scoreboard.ForgetStores(hw_warp);
}

void IBufferCore::SharedReleased() {
  core_wake_ = 0;
  status_.TakeChanges();
  for (size_t i = 0; i < state_.warps.size(); ++i) {
    const auto slot = static_cast<SlotId>(i);
    if (state_.warps[slot].threads != 0 && table().state[slot] == SlotState::kOffered) status_.Update(slot);
  }
}

void IBufferCore::RetireBlocks() {
  std::vector<BlockId>& retiring = results_.retiring();
  std::sort(retiring.begin(), retiring.end());
  for (const BlockId block : retiring) {
    for (uint32_t hw_warp = 0; hw_warp < sm_.blocks.hw_warps(); ++hw_warp) {
      if (sm_.blocks.block_of_hw_warp(hw_warp) == block) LeaveHwWarp(hw_warp);
    }
    RetireBlock(block);
  }
  retiring.clear();
  status_.TakeChanges();
}

absl::Status IBufferCore::CheckDrained() const {
  if (!state_.scoreboard.empty()) {
    return absl::InternalError(
        absl::StrCat("SM ", sm_.number, ", cycle ", sm_.run.now, ": registers have a write pending"));
  }
  const FetchCounters f = fetch_counters();
  // Threads that had to meet took an instruction each time a slot of theirs arrived, and issued once.
  const uint64_t issued = counters().warp_instructions + static_cast<uint64_t>(sm_.rendezvous.surplus());
  if (buffered() && f.instructions != issued + f.dropped) {
    return absl::InternalError(absl::StrCat("SM ", sm_.number, ", cycle ", sm_.run.now, ": ", f.instructions,
                                            " instructions entered a buffer, ", issued, " issued and ", f.dropped,
                                            " were dropped"));
  }
  return absl::OkStatus();
}

std::string IBufferCore::WhatSlotWaitsFor(SlotId slot) const {
  const IssueStatus status = state_.issue_status.of(slot);
  switch (status.state()) {
    case WarpClass::kStructural:
      return issue_.WhatReadyWaitsFor(status.unit());
    case WarpClass::kMemory:
    case WarpClass::kMemoryWaw:
      return status.off_core() ? "wait for data from beyond the core" : "wait for data from memory";
    case WarpClass::kArithmetic:
    case WarpClass::kArithmeticWaw:
      return "wait for the result of an instruction";
    case WarpClass::kControl:
      return "wait for a branch to resolve, or for the instructions behind it";
    case WarpClass::kFetch:
      return state_.warps[slot].waits_for_line ? "wait for a line of the instruction cache" : "wait to be fetched for";
    case WarpClass::kBarrier:
      return sm_.steps[table().position[slot].pc()].kind == Step::kAsync
                 ? "wait for asynchronous copies or a transaction barrier"
                 : "wait at a fence for the acknowledgement of stores";
    default:
      return "wait for an instruction to complete";
  }
}

}  // namespace heddle::replay
