#include "replay/core/ibuffer/result_stage.h"

#include <algorithm>
#include <utility>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {
namespace {

// Numbers of readings of operands begin here: no instruction in flight has such a number.
constexpr uint32_t kReadings = 1u << 31;

}  // namespace

// --- from issue

uint32_t ResultStage::Launch(SlotId slot, const WarpEntry& warp, Pc pc) {
  const uint32_t id = state_.in_flight.Add();
  InFlightEntry& entry = state_.in_flight[id];
  entry.slot = slot;
  entry.hw_warp = warp.hw_warp;
  entry.pc = pc;
  if (state_.scope != ScoreboardScope::kWarp) entry.owners = warp.own;
  if (warp.hw_warp == kMixedHwWarps) state_.in_flight.hw_warps(id) = state_.hw_warps.mixed(slot);
  ForEachHwWarpOf(id, entry, [&](uint32_t hw_warp, LaneMask) { ++state_.hw_warps[hw_warp].results_due; });
  return id;
}

void ResultStage::NoteOwners(uint32_t id, const Lanes& lanes, LaneMask executing) {
  state_.in_flight.KeepThreads(id, lanes);
  InFlightEntry& entry = state_.in_flight[id];
  const auto warp_size = static_cast<uint32_t>(sm_.context.warp_size);
  const auto own = [&](uint32_t hw_warp) {
    LaneMask found = 0;
    ForEachLane(executing, [&](int lane) {
      if (lanes.thread[lane] / warp_size == hw_warp) found |= LaneMask{1} << lanes.thread[lane] % warp_size;
    });
    return found;
  };
  if (entry.hw_warp != kMixedHwWarps) {
    entry.owners = own(entry.hw_warp);
    return;
  }
  for (HwWarpLanes& one : state_.in_flight.hw_warps(id)) one.lanes = own(one.hw_warp);
}

void ResultStage::ReleaseThreads(uint32_t id, const InFlightEntry& entry, LaneMask lanes) {
  const auto warp_size = static_cast<uint32_t>(sm_.context.warp_size);
  const Lanes& threads = state_.in_flight.threads(id);
  released_.clear();
  ForEachLane(lanes, [&](int lane) {
    const uint32_t hw_warp = threads.thread[lane] / warp_size;
    state_.scoreboard.ReleaseLanes(hw_warp, id, LaneMask{1} << threads.thread[lane] % warp_size);
    for (const SlotId other : state_.hw_warps[hw_warp].slots) {
      if (state_.issue_status.of(other).waits_for_data()) released_.push_back(other);
    }
  });
  UpdateReleased();
  if (entry.off_core) status_.LookForEnds();
}

void ResultStage::ReserveRegisters(uint32_t id, const InFlightEntry& entry, Position at, uint8_t producer) {
  if (ByBits(entry)) {
    state_.scoreboard.ReserveBits(entry.hw_warp, at.pc(), producer);
    return;
  }
  const IssueStep& step = state_.setup.table[at.pc()];
  ForEachHwWarpOf(id, entry, [&](uint32_t hw_warp, LaneMask own) {
    state_.scoreboard.Reserve(hw_warp, own, step, at.depth(), id, producer);
  });
  if (step.read_barrier == trace::ControlBits::kNoBarrier) return;
  const uint32_t reading = kReadings + readings_++ % kReadings;
  ForEachHwWarpOf(id, entry, [&](uint32_t hw_warp, LaneMask own) {
    state_.scoreboard.RaiseForOperands(hw_warp, own, step.read_barrier, reading);
    ++state_.hw_warps[hw_warp].results_due;
    sm_.write_back.Add(sm_.run.now + step.operands_read, {hw_warp, Completion::kOperands, reading});
  });
}

void ResultStage::ListStore(uint32_t id, InFlightEntry& entry) {
  entry.store = true;
  ForEachHwWarpOf(id, entry, [&](uint32_t hw_warp, LaneMask own) { state_.scoreboard.AddStore(hw_warp, own, id); });
}

void ResultStage::FinishAtIssue(SlotId slot) {
  if (resolve_.waits()) {
    state_.warps[slot].in_flight = InFlightReason::kResolve;
    sm_.write_back.Hold({slot, Completion::kFinish, 0});
  } else {
    resolve_.FinishInstruction(slot, /*ask_after_barrier=*/false);
  }
  status_.TakeChanges();
}

bool ResultStage::StoresPending(SlotId slot, const WarpEntry& warp) const {
  bool pending = false;
  state_.hw_warps.ForEach(slot, warp,
                          [&](uint32_t hw_warp, LaneMask own) { pending |= state_.scoreboard.HasStore(hw_warp, own); });
  return pending;
}

void ResultStage::UpdateOthers(uint32_t id, SlotId slot) {
  ForEachHwWarpOf(id, state_.in_flight[id], [&](uint32_t hw_warp, LaneMask) { status_.UpdateOthers(hw_warp, slot); });
}

// --- write-back

void ResultStage::CompleteWaiting(Cycle now) {
  if (state_.one_in_flight || state_.stalls) status_.TakeLater(now);
  if (resolve_.waits()) {
    const bool accepted = resolve_.AskAgain();
    status_.TakeChanges();
    if (accepted) sm_.write_back.TakeHeld([this](const Completion& item) { return Process(item); });
  }
}

void ResultStage::TakeDue(Cycle now) {
  SmParts& sm = sm_;
  sm.write_back.TakeDue(now, resolve_.waits(), [this, &sm, now](const Completion& item) {
    if (item.kind != Completion::kRegisters) return Process(item);
    sm.run.last_progress = now;
    ProcessRegisters(item.id, static_cast<Pc>(item.lanes));
    return true;
  });
}

bool ResultStage::Process(const Completion& item) {
  sm_.run.last_progress = sm_.run.now;
  bool accepted = true;
  switch (item.kind) {
    case Completion::kRegisters:
      ProcessRegisters(item.id, static_cast<Pc>(item.lanes));
      return true;
    case Completion::kLanes:
      return ProcessLanes(item.id, item.lanes);
    case Completion::kAcknowledged:
      Acknowledge(item.id);
      return !resolve_.waits();
    case Completion::kResume:
      accepted = resolve_.ResumeFromBarrier(static_cast<SlotId>(item.id));
      break;
    case Completion::kBranch:
      CountResult(state_.warps[item.id].hw_warp);
      accepted = resolve_.FinishInstruction(static_cast<SlotId>(item.id), /*ask_after_barrier=*/false);
      break;
    case Completion::kFinish:
      accepted = resolve_.FinishInstruction(static_cast<SlotId>(item.id), /*ask_after_barrier=*/false);
      break;
    case Completion::kOperands:
      ProcessOperands(item.id, static_cast<uint32_t>(item.lanes));
      return true;
    case Completion::kIssue:  // of the other front end
      break;
  }
  status_.TakeChanges();
  return accepted;
}

void ResultStage::ProcessRegisters(uint32_t hw_warp, Pc pc) {
  CountResult(hw_warp);
  state_.scoreboard.ReleaseArithmeticBits(hw_warp, pc);
  status_.UpdateWaiting(hw_warp);
}

void ResultStage::ProcessOperands(uint32_t hw_warp, uint32_t reading) {
  CountResult(hw_warp);
  state_.scoreboard.Release(hw_warp, reading);
  status_.UpdateWaiting(hw_warp);
}

void ResultStage::HwWarpDone(uint32_t hw_warp) {
  sm_.blocks.FreeHwWarp(hw_warp);
  const BlockId block = sm_.blocks.block_of_hw_warp(hw_warp);
  if (sm_.blocks[block].exited) BlockExited(block);
}

bool ResultStage::ResultsDue(BlockId block) const {
  for (uint32_t hw_warp = 0; hw_warp < sm_.blocks.hw_warps(); ++hw_warp) {
    if (sm_.blocks.block_of_hw_warp(hw_warp) == block && state_.hw_warps[hw_warp].results_due != 0) return true;
  }
  return false;
}

inline void ResultStage::Release(uint32_t id, const InFlightEntry& entry) {
  IBufferState& state = state_;
  const auto release = [&](uint32_t hw_warp) {
    CountResult(hw_warp);
    if (!entry.writes) return;
    if (ByBits(entry)) {
      state.scoreboard.ReleaseBits(hw_warp, entry.pc);
    } else {
      state.scoreboard.Release(hw_warp, id);
    }
  };
  if (entry.hw_warp != kMixedHwWarps) {
    release(entry.hw_warp);
    if (entry.writes) status_.UpdateWaiting(entry.hw_warp);
    return;
  }
  released_.clear();
  for (const HwWarpLanes& one : state_.in_flight.hw_warps(id)) {
    release(one.hw_warp);
    if (!entry.writes) continue;
    for (const SlotId other : state_.hw_warps[one.hw_warp].slots) {
      if (state_.issue_status.of(other).waits_for_data()) released_.push_back(other);
    }
  }
  UpdateReleased();
}

// Schedulers are told of the ends of long waits by slot.
void ResultStage::UpdateReleased() {
  std::sort(released_.begin(), released_.end());
  released_.erase(std::unique(released_.begin(), released_.end()), released_.end());
  for (const SlotId other : released_) status_.Update(other);
}

bool ResultStage::ProcessLanes(uint32_t id, LaneMask lanes) {
  InFlightEntry& entry = state_.in_flight[id];
  entry.outstanding &= ~lanes;
  const SlotId slot = entry.slot;
  if (entry.outstanding != 0) {
    if (by_thread() && entry.writes) ReleaseThreads(id, entry, lanes);
    if (!entry.holds || !state_.data_holds) return true;
    const bool take = sm_.policy->LanesReturned(slot, lanes, sm_.formation.editor());
    const bool accepted = !take || resolve_.TakeLanes(slot, lanes);
    status_.TakeChanges();
    return accepted;
  }
  const bool holds = entry.holds;
  const bool inserted = entry.inserted;
  const Hold hold = state_.setup.table[entry.pc].hold;
  const bool awaits = state_.setup.table[entry.pc].awaits;
  Release(id, entry);
  if (entry.off_core) status_.LookForEnds();
  if (!entry.unacknowledged) state_.in_flight.Remove(id);
  if (!holds) return true;
  status_.EndLongWait(slot);  // before the policy moves the slot on
  bool accepted = true;
  if (inserted) {
    sm_.formation.TookInserted(slot);
    sm_.formation.Advance(slot, sm_.table().position[slot]);
  } else if (hold == Hold::kFence && StoresPending(slot, state_.warps[slot])) {  // one in flight
    WaitForStores(slot);
  } else if (awaits && sm_.async.Waits(slot)) {
    sm_.async.Wait(slot);
    if (hold == Hold::kControl) {
      state_.warps[slot].in_flight = InFlightReason::kWaitAtEnd;
      status_.Update(slot);
    }
  } else {
    accepted = resolve_.FinishInstruction(slot, /*ask_after_barrier=*/false);
  }
  status_.TakeChanges();
  return accepted;
}

void ResultStage::Acknowledge(uint32_t id) {
  InFlightEntry& entry = state_.in_flight[id];
  if (entry.store)
    ForEachHwWarpOf(id, entry, [&](uint32_t hw_warp, LaneMask) { state_.scoreboard.RemoveStore(hw_warp, id); });
  ForgetStore(id);
  if (fence_waits_.empty()) return;
  std::sort(fence_waits_.begin(), fence_waits_.end());
  std::vector<SlotId> still_waiting;
  for (const SlotId slot : fence_waits_) {
    if (StoresPending(slot, state_.warps[slot])) {
      still_waiting.push_back(slot);
    } else {
      FinishAtIssue(slot);
    }
  }
  fence_waits_ = std::move(still_waiting);
}

// --- the memory's replies

bool ResultStage::TakeUnnoticed(uint32_t id, LaneMask lanes, Cycle at) {
  InFlightEntry& entry = state_.in_flight[id];
  // Nobody looks at some of the lanes of an instruction, if write-back has nothing else to do in this cycle.
  if (at != sm_.run.now || resolve_.waits() || (entry.outstanding & ~lanes) == 0 ||
      (entry.holds && state_.data_holds) || (by_thread() && entry.writes)) {
    return false;
  }
  entry.outstanding &= ~lanes;
  sm_.run.last_progress = sm_.run.now;
  return true;
}

void ResultStage::ForgetStore(uint32_t id) {
  InFlightEntry& entry = state_.in_flight[id];
  entry.unacknowledged = false;
  if (entry.outstanding == 0) state_.in_flight.Remove(id);
}

void ResultStage::MarkOffCore(uint32_t id) {
  InFlightEntry& entry = state_.in_flight[id];
  entry.off_core = true;
  if (entry.writes) {
    ForEachHwWarpOf(id, entry, [&](uint32_t hw_warp, LaneMask) {
      if (ByBits(entry)) {
        state_.scoreboard.MarkBitsOffCore(hw_warp, entry.pc);
      } else {
        state_.scoreboard.MarkOffCore(hw_warp, id);
      }
      status_.UpdateWaiting(hw_warp);
    });
  }
  if (entry.holds && sm_.table().state[entry.slot] == SlotState::kInFlight) status_.Update(entry.slot);
}

}  // namespace heddle::replay
