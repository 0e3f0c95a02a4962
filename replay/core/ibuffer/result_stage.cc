#include "replay/core/ibuffer/result_stage.h"

#include <algorithm>
#include <utility>

namespace heddle::replay {

// --- from issue

uint32_t ResultStage::Launch(SlotId slot, const WarpEntry& warp, Pc pc) {
  const uint32_t id = state_.flights.Add();
  Flight& flight = state_.flights[id];
  flight.slot = slot;
  flight.row = warp.row;
  flight.pc = pc;
  if (warp.row == kMixedRows) state_.flights.rows(id) = state_.rows.mixed(slot);
  ForEachRowOf(id, flight, [&](uint32_t row, LaneMask) { ++state_.rows[row].results_due; });
  return id;
}

void ResultStage::ReserveRegisters(uint32_t id, const Flight& flight, Position at, uint8_t producer) {
  if (ByBits(flight)) {
    state_.scoreboard.ReserveBits(flight.row, at.pc(), producer);
    return;
  }
  ForEachRowOf(id, flight, [&](uint32_t row, LaneMask own) {
    state_.scoreboard.Reserve(row, own, state_.setup.table[at.pc()], at.depth(), id, producer);
  });
}

void ResultStage::ListStore(uint32_t id, Flight& flight) {
  flight.store = true;
  ForEachRowOf(id, flight, [&](uint32_t row, LaneMask own) { state_.scoreboard.AddStore(row, own, id); });
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
  state_.rows.ForEach(slot, warp, [&](uint32_t row, LaneMask own) { pending |= state_.scoreboard.HasStore(row, own); });
  return pending;
}

void ResultStage::UpdateOthers(uint32_t id, SlotId slot) {
  ForEachRowOf(id, state_.flights[id], [&](uint32_t row, LaneMask) { status_.UpdateOthers(row, slot); });
}

// --- write-back

void ResultStage::CompleteWaiting(Cycle now) {
  if (state_.one_in_flight) status_.TakeReformed(now);
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
      CountResult(state_.warps[item.id].row);
      accepted = resolve_.FinishInstruction(static_cast<SlotId>(item.id), /*ask_after_barrier=*/false);
      break;
    case Completion::kFinish:
      accepted = resolve_.FinishInstruction(static_cast<SlotId>(item.id), /*ask_after_barrier=*/false);
      break;
    case Completion::kIssue:  // of the other front end
      break;
  }
  status_.TakeChanges();
  return accepted;
}

void ResultStage::ProcessRegisters(uint32_t row, Pc pc) {
  CountResult(row);
  state_.scoreboard.ReleaseArithmeticBits(row, pc);
  status_.UpdateWaiting(row);
}

void ResultStage::RowDone(uint32_t row) {
  sm_.blocks.FreeRow(row);
  const BlockId block = sm_.blocks.block_of_row(row);
  if (sm_.blocks[block].exited) BlockExited(block);
}

bool ResultStage::ResultsDue(BlockId block) const {
  for (uint32_t row = 0; row < sm_.blocks.rows(); ++row) {
    if (sm_.blocks.block_of_row(row) == block && state_.rows[row].results_due != 0) return true;
  }
  return false;
}

inline void ResultStage::GiveBack(uint32_t id, const Flight& flight) {
  IBufferState& state = state_;
  const auto give_back = [&](uint32_t row) {
    CountResult(row);
    if (!flight.writes) return;
    if (ByBits(flight)) {
      state.scoreboard.ReleaseBits(row, flight.pc);
    } else {
      state.scoreboard.Release(row, id);
    }
  };
  if (flight.row != kMixedRows) {
    give_back(flight.row);
    if (flight.writes) status_.UpdateWaiting(flight.row);
    return;
  }
  released_.clear();
  for (const RowLanes& one : state_.flights.rows(id)) {
    give_back(one.row);
    if (!flight.writes) continue;
    for (const SlotId other : state_.rows[one.row].slots) {
      if (state_.issue_status.of(other).waits_for_data()) released_.push_back(other);
    }
  }
  // Schedulers are told of the ends of long waits by slot.
  std::sort(released_.begin(), released_.end());
  released_.erase(std::unique(released_.begin(), released_.end()), released_.end());
  for (const SlotId other : released_) status_.Update(other);
}

bool ResultStage::ProcessLanes(uint32_t id, LaneMask lanes) {
  Flight& flight = state_.flights[id];
  flight.outstanding &= ~lanes;
  const SlotId slot = flight.slot;
  if (flight.outstanding != 0) {
    if (!flight.holds || !state_.data_holds) return true;
    const bool take = sm_.policy->LanesReturned(slot, lanes, sm_.formation.editor());
    const bool accepted = !take || resolve_.TakeLanes(slot, lanes);
    status_.TakeChanges();
    return accepted;
  }
  const bool holds = flight.holds;
  const bool inserted = flight.inserted;
  const Hold hold = state_.setup.table[flight.pc].hold;
  GiveBack(id, flight);
  if (!flight.unacknowledged) state_.flights.Remove(id);
  if (!holds) return true;
  status_.EndLongWait(slot);  // before the policy moves the slot on
  bool accepted = true;
  if (inserted) {
    sm_.formation.TookInserted(slot);
    sm_.formation.Advance(slot, sm_.table().position[slot]);
  } else if (hold == Hold::kFence && StoresPending(slot, state_.warps[slot])) {  // one in flight
    WaitForStores(slot);
  } else {
    accepted = resolve_.FinishInstruction(slot, /*ask_after_barrier=*/false);
  }
  status_.TakeChanges();
  return accepted;
}

void ResultStage::Acknowledge(uint32_t id) {
  Flight& flight = state_.flights[id];
  if (flight.store) ForEachRowOf(id, flight, [&](uint32_t row, LaneMask) { state_.scoreboard.RemoveStore(row, id); });
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
  Flight& flight = state_.flights[id];
  // Nobody looks at some of the lanes of an instruction, if write-back has nothing else to do in this cycle.
  if (at != sm_.run.now || resolve_.waits() || (flight.outstanding & ~lanes) == 0 ||
      (flight.holds && state_.data_holds)) {
    return false;
  }
  flight.outstanding &= ~lanes;
  sm_.run.last_progress = sm_.run.now;
  return true;
}

void ResultStage::ForgetStore(uint32_t id) {
  Flight& flight = state_.flights[id];
  flight.unacknowledged = false;
  if (flight.outstanding == 0) state_.flights.Remove(id);
}

void ResultStage::MarkOffCore(uint32_t id) {
  Flight& flight = state_.flights[id];
  flight.off_core = true;
  if (flight.writes) {
    ForEachRowOf(id, flight, [&](uint32_t row, LaneMask) {
      if (ByBits(flight)) {
        state_.scoreboard.MarkBitsOffCore(row, flight.pc);
      } else {
        state_.scoreboard.MarkOffCore(row, id);
      }
      status_.UpdateWaiting(row);
    });
  }
  if (flight.holds && sm_.table().state[flight.slot] == SlotState::kInFlight) status_.Update(flight.slot);
}

}  // namespace heddle::replay
