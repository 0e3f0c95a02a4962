// Results: registers are given back, branches resolve, warps go on.
#include <algorithm>

#include "replay/core/ibuffer/ibuffer_core.h"
#include "replay/core/ibuffer/ibuffer_plain.h"

namespace heddle::replay {

void IBufferCore::CompleteWaiting(Cycle now) {
  if (one_in_flight_) {
    reformed_.Take(now, [this](const Completion& item) { Reclass(static_cast<SlotId>(item.id)); });
  }
  if (resolve_waits_) {
    const bool accepted = AskPolicy();
    TakeChanges();
    if (accepted) write_back_.TakeHeld([this](const Completion& item) { return Process(item); });
  }
}

void IBufferCore::TakeDue(Cycle now) {
  write_back_.TakeDue(now, resolve_waits_, [this](const Completion& item) {
    if (item.kind != Completion::kRegisters) return Process(item);
    last_progress_ = now_;
    ProcessRegisters(item.id, static_cast<Pc>(item.lanes));
    return true;
  });
}

bool IBufferCore::Process(const Completion& item) {
  last_progress_ = now_;
  bool accepted = true;
  switch (item.kind) {
    case Completion::kRegisters:
      ProcessRegisters(item.id, static_cast<Pc>(item.lanes));
      return true;
    case Completion::kLanes:
      return ProcessLanes(item.id, item.lanes);
    case Completion::kAcknowledged:
      Acknowledge(item.id);
      return !resolve_waits_;
    case Completion::kResume:
      accepted = ResumeFromBarrier(static_cast<SlotId>(item.id));
      break;
    case Completion::kBranch:
      CountResult(warps_[item.id].row);
      accepted = FinishInstruction(static_cast<SlotId>(item.id), /*ask_after_barrier=*/false);
      break;
    case Completion::kFinish:
      accepted = FinishInstruction(static_cast<SlotId>(item.id), /*ask_after_barrier=*/false);
      break;
    case Completion::kIssue:  // of the other front end
      break;
  }
  TakeChanges();
  return accepted;
}

void IBufferCore::ProcessRegisters(uint32_t row, Pc pc) {
  CountResult(row);
  scoreboard_.ReleaseArithmeticBits(row, pc);
  ReclassWaiting(row);
}

void IBufferCore::RowDone(uint32_t row) {
  FreeRow(row);
  const BlockId block = block_of_row_[row];
  if (blocks_[block].exited && !ResultsDue(block)) retiring_.push_back(block);
}

bool IBufferCore::ResultsDue(BlockId block) const {
  for (uint32_t row = 0; row < block_of_row_.size(); ++row) {
    if (block_of_row_[row] == block && rows_[row].results_due != 0) return true;
  }
  return false;
}

bool IBufferCore::ProcessLanes(uint32_t id, LaneMask lanes) {
  Flight& flight = flights_[id];
  flight.outstanding &= ~lanes;
  const SlotId slot = flight.slot;
  if (flight.outstanding != 0) {
    if (!flight.holds || !data_holds_) return true;
    const bool take = policy_->LanesReturned(slot, lanes, formation_.editor());
    const bool accepted = !take || TakeLanes(slot, lanes);
    TakeChanges();
    return accepted;
  }
  const bool holds = flight.holds;
  const bool inserted = flight.inserted;
  const Hold hold = setup_.table[flight.pc].hold;
  const auto give_back = [&](uint32_t row) {
    CountResult(row);
    if (flight.writes) ReleaseRegisters(row, id, flight);
  };
  const auto waits_for_data = [&](SlotId other) { return standings_.of(other).waits_for_data(); };
  if (flight.row != kMixedRows) {
    give_back(flight.row);
    if (flight.writes) ReclassWaiting(flight.row);
  } else {
    released_.clear();
    for (const RowLanes& one : flights_.rows(id)) {
      give_back(one.row);
      if (!flight.writes) continue;
      for (const SlotId other : rows_[one.row].slots) {
        if (waits_for_data(other)) released_.push_back(other);
      }
    }
    // Schedulers are told of the ends of long waits by slot.
    std::sort(released_.begin(), released_.end());
    released_.erase(std::unique(released_.begin(), released_.end()), released_.end());
    for (const SlotId other : released_) Reclass(other);
  }
  if (!flight.unacknowledged) flights_.Remove(id);
  if (!holds) return true;
  if (warps_[slot].told_wait) {  // before the policy moves the slot on
    warps_[slot].told_wait = false;
    schedulers_[table().port[slot]]->LongLatencyEnded(slot);
  }
  bool accepted = true;
  if (inserted) {
    formation_.TookInserted(slot);
    formation_.Advance(slot, table().position[slot]);
  } else if (hold == Hold::kFence && StoresPending(slot, warps_[slot])) {  // one in flight
    fence_waits_.push_back(slot);
  } else {
    accepted = FinishInstruction(slot, /*ask_after_barrier=*/false);
  }
  TakeChanges();
  return accepted;
}

void IBufferCore::Acknowledge(uint32_t id) {
  Flight& flight = flights_[id];
  flight.unacknowledged = false;
  if (flight.store) ForEachRowOf(id, flight, [&](uint32_t row, LaneMask) { scoreboard_.RemoveStore(row, id); });
  if (flight.outstanding == 0) flights_.Remove(id);
  if (fence_waits_.empty()) return;
  std::sort(fence_waits_.begin(), fence_waits_.end());
  std::vector<SlotId> still_waiting;
  for (const SlotId slot : fence_waits_) {
    if (StoresPending(slot, warps_[slot])) {
      still_waiting.push_back(slot);
    } else {
      FinishAtIssue(slot);
    }
  }
  fence_waits_ = std::move(still_waiting);
}

// --- the memory's calls

void IBufferCore::LanesDone(AccessId access, LaneMask lanes, Cycle at, bool /*returned*/) {
  Flight& flight = flights_[access];
  if (at == now_ && !resolve_waits_ && (flight.outstanding & ~lanes) != 0 && !(flight.holds && data_holds_)) {
    // Nobody looks at some of the lanes of an instruction: write-back has nothing else to do in this cycle.
    flight.outstanding &= ~lanes;
    last_progress_ = now_;
    return;
  }
  AddResult(at, {access, Completion::kLanes, lanes});
}

void IBufferCore::AddResult(Cycle at, const Completion& result) {
  if (at <= now_) {
    due_again_ = true;
    Disturb();
  } else {
    core_wake_ = std::min(core_wake_, at);
  }
  write_back_.Add(at, result);
}

void IBufferCore::StoreAcknowledged(AccessId access, Cycle at) {
  if (flights_[access].store) {
    AddResult(at, {access, Completion::kAcknowledged, 0});
    return;
  }
  // Nobody waits for it: only the number is given back.
  flights_[access].unacknowledged = false;
  if (flights_[access].outstanding == 0) flights_.Remove(access);
}

void IBufferCore::WaitsOffCore(AccessId access) {
  Disturb();
  Flight& flight = flights_[access];
  flight.off_core = true;
  if (flight.writes) {
    ForEachRowOf(access, flight, [&](uint32_t row, LaneMask) {
      if (ByBits(flight)) {
        scoreboard_.MarkBitsOffCore(row, flight.pc);
      } else {
        scoreboard_.MarkOffCore(row, access);
      }
      ReclassWaiting(row);
    });
  }
  if (flight.holds && table().state[flight.slot] == SlotState::kInFlight) Reclass(flight.slot);
}

void IBufferCore::FetchArrived(uint32_t fetcher) {
  Disturb();
  const SlotId slot = static_cast<SlotId>(fetcher);
  warps_[slot].waits_for_line = false;
  UpdateFetchable(slot, warps_[slot]);
}

}  // namespace heddle::replay
