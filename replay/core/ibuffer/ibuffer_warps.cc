// What follows from the state of a slot: its buffer, its rows, its class, whether it can be fetched for.
#include <algorithm>
#include <bit>

#include "replay/core/ibuffer/ibuffer_core.h"
#include "replay/core/ibuffer/ibuffer_plain.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {

void IBufferCore::TakeAllChanges() {
  SlotId slot = kNoSlot;
  bool threads = false;
  while (formation_.TakeChange(slot, threads)) Changed(slot, threads);
}

void IBufferCore::Changed(SlotId slot, bool threads) {
  if (slot >= warps_.size()) warps_.resize(size_t{slot} + 1);
  Warp& warp = warps_[slot];
  const WarpTable& warps = table();
  const SlotState state = warps.state[slot];
  if (state == SlotState::kFree || warp.formed != warps.formed[slot]) {
    // Another warp, or none. Its wait for a line of the instruction cache stays: the cache knows the slot only.
    const uint8_t port = standings_.of(slot).port();
    standings_.Renew(slot);
    DropBuffer(slot, warp);
    warp.flushed = false;
    if (warp.told_wait) {
      warp.told_wait = false;
      schedulers_[port]->LongLatencyEnded(slot);
    }
    warp.formed = warps.formed[slot];
    warp.head = warps.position[slot].is_exit() ? 0 : warps.position[slot].pc();
  }
  if (threads) FindRows(slot, warp);
  warp.plain = plain_ && state == SlotState::kOffered && warp.threads != 0 && warp.row != kMixedRows &&
               formation_.inserted(slot) == 0;
  if (warp.plain) warp.offered = Standing(WarpClass::kStructural, warps.port[slot], warp.threads).Offered();
  if (state == SlotState::kOffered || state == SlotState::kParked) {
    const Pc pc = warps.position[slot].pc();
    if (warp.head != pc) {  // GPGPU-Sim 3.2.2 compares PCs, too
      DropBuffer(slot, warp);
      warp.head = pc;
      warp.flushed = true;
    }
    if (one_in_flight_ && state == SlotState::kOffered && warp.offered_at != warps.offered_at[slot]) {
      warp.offered_at = warps.offered_at[slot];
      warp.ready_at = offer_cycle_ + setup_.reformed_warp_cycles;
      if (warp.ready_at > now_) reformed_.Add(warp.ready_at, {slot, Completion::kLanes, 0});
    }
  }
  Reclass(slot);
}

void IBufferCore::DropBuffer(SlotId slot, Warp& warp) {
  if (warp.fetching) {
    warp.fetching = false;
    fetched_.slot = kNoSlot;
  }
  fetch_counters_.dropped += warp.valid;
  warp.valid = 0;
  buffered_[slot] = 0;
}

void IBufferCore::ReclassSeveralWaiting(uint32_t row) {
  for (const SlotId slot : rows_[row].slots) ReclassIfWaiting(slot);
}

void IBufferCore::LeaveRows(SlotId slot, const Warp& warp) {
  if (warp.threads == 0 || one_in_flight_) return;
  ForEachRow(slot, warp, [&](uint32_t row, LaneMask) {
    auto& slots = rows_[row].slots;
    slots.erase(std::remove(slots.begin(), slots.end(), slot), slots.end());
    rows_[row].NoteSlots();
  });
}

void IBufferCore::FindRows(SlotId slot, Warp& warp) {
  const Lanes& lanes = table().lanes[slot];
  const uint32_t warp_size = static_cast<uint32_t>(context_.warp_size);
  const uint32_t threads = static_cast<uint32_t>(std::popcount(lanes.mask));
  // Static warps stay in their row: the common case.
  const uint32_t first = lanes.mask == 0 ? 0 : lanes.thread[std::countr_zero(lanes.mask)] / warp_size;
  LaneMask own = 0;
  bool single = true;
  // Mostly every thread is in its own lane, so that lanes from the first on need not be looked at one by one.
  warp.in_order = lanes.mask != 0 && (lanes.mask & (lanes.mask + 1)) == 0 && lanes.thread[0] == first * warp_size &&
                  FollowOneAnother(lanes.thread.data(), threads);
  if (warp.in_order) {
    own = lanes.mask;
  } else {
    ForEachLane(lanes.mask, [&](int lane) {
      const uint32_t place = lanes.thread[lane] - first * warp_size;  // wraps below the row
      if (place < warp_size) {
        own |= LaneMask{1} << place;
      } else {
        single = false;
      }
    });
  }
  if (!single || threads == 0 || warp.threads == 0 || warp.row != first) {
    LeaveRows(slot, warp);
    warp.row = single ? static_cast<uint16_t>(first) : kMixedRows;
    if (!single) {
      if (rows_of_.empty()) rows_of_.resize(table().state.size());
      std::vector<RowLanes>& rows = rows_of_[slot];
      rows.clear();
      ForEachLane(lanes.mask, [&](int lane) {
        const uint16_t row = static_cast<uint16_t>(lanes.thread[lane] / warp_size);
        auto at = std::find_if(rows.begin(), rows.end(), [&](const RowLanes& one) { return one.row == row; });
        if (at == rows.end()) at = rows.insert(rows.end(), {row, 0});
        at->lanes |= LaneMask{1} << (lanes.thread[lane] % warp_size);
      });
    }
    warp.own = own;
    warp.threads = static_cast<uint8_t>(threads);
    if (threads != 0 && !one_in_flight_) {
      ForEachRow(slot, warp, [&](uint32_t row, LaneMask) {
        auto& slots = rows_[row].slots;
        slots.insert(std::lower_bound(slots.begin(), slots.end(), slot), slot);
        rows_[row].NoteSlots();
      });
    }
    return;
  }
  warp.own = own;
  warp.threads = static_cast<uint8_t>(threads);
}

Scoreboard::Hazard IBufferCore::HazardOf(SlotId slot, const Warp& warp, const IssueStep& step, Pc pc) const {
  const uint32_t depth = table().position[slot].depth();
  if (warp.row != kMixedRows) return scoreboard_.Check(warp.row, warp.own, step, pc, depth);
  Scoreboard::Hazard hazard;
  for (const RowLanes& one : rows_of_[slot]) {
    hazard.Add(scoreboard_.Check(one.row, one.lanes, step, pc, depth));
  }
  return hazard;
}

Standing IBufferCore::StandingOf(SlotId slot, const Warp& warp) const {
  if (warp.threads == 0) return Standing();
  const WarpTable& warps = table();
  const auto standing = [&](WarpClass state) { return Standing(state, warps.port[slot], warp.threads); };
  const auto from_flight = [&](WarpClass state) {
    return standing(state).From(flights_[warp.flight].beyond_shared, flights_[warp.flight].off_core);
  };
  switch (warps.state[slot]) {
    case SlotState::kFree:
      return Standing();
    case SlotState::kParked:
    case SlotState::kResolving:
      return standing(WarpClass::kPolicy);
    case SlotState::kBarrier:
      return standing(WarpClass::kBarrier);
    case SlotState::kInFlight:
      switch (warp.in_flight) {
        case InFlight::kControl:
          return standing(WarpClass::kControl);
        case InFlight::kFence:
          return standing(WarpClass::kBarrier);
        case InFlight::kMemory:
          return from_flight(WarpClass::kMemory);
        case InFlight::kArithmetic:
          return from_flight(WarpClass::kArithmetic);
        case InFlight::kResolve:
          break;
      }
      return standing(WarpClass::kPolicy);
    case SlotState::kOffered:
      break;
  }
  const auto offered = [&](WarpClass state) { return standing(state).Offered(); };
  const bool not_ready_yet = one_in_flight_ && now_ < warp.ready_at;
  if (formation_.inserted(slot) != 0) return offered(not_ready_yet ? WarpClass::kFetch : WarpClass::kStructural);
  const Pc pc = warps.position[slot].pc();
  const IssueStep& step = setup_.table[pc];
  // Waits for the warps of another block, as at a barrier.
  if (context_.by_warp && SharedHeld(slot, steps_[pc])) return offered(WarpClass::kBarrier);
  if (one_in_flight_) return offered(not_ready_yet ? WarpClass::kFetch : WarpClass::kStructural).Needs(step.unit);
  if (warp.valid == 0) return offered(warp.flushed ? WarpClass::kControl : WarpClass::kFetch);
  const Scoreboard::Hazard hazard = HazardOf(slot, warp, step, pc);
  if (!hazard.blocked()) return offered(WarpClass::kStructural).Needs(step.unit);
  return offered(DataClassOf(hazard)).From(hazard.beyond_shared(), hazard.off_core());
}

void IBufferCore::Reclass(SlotId slot) {
  Warp& warp = warps_[slot];
  const Standing standing = warp.plain ? PlainStanding(warp) : StandingOf(slot, warp);
  if (standing.off_core() != warp.told_wait) ChangeLongWait(slot, warp);
  standings_.Set(slot, standing);
  if (!one_in_flight_) UpdateFetchable(slot, warp);
}

void IBufferCore::ChangeLongWait(SlotId slot, Warp& warp) {
  if (!warp.told_wait) {
    long_waits_.push_back(slot);
    return;
  }
  warp.told_wait = false;
  schedulers_[standings_.of(slot).port()]->LongLatencyEnded(slot);  // that it has waited on
}

void IBufferCore::SetFetchable(SlotId slot, Warp& warp, bool room) {
  Fetchable fetchable = Fetchable::kNo;
  if (room && warp.threads != 0 && !warp.fetching && !warp.waits_for_line &&
      warp.head + warp.valid < setup_.table.size()) {
    switch (table().state[slot]) {
      case SlotState::kOffered:
      case SlotState::kParked:
        fetchable = Fetchable::kEligible;
        break;
      case SlotState::kInFlight:
        if (warp.in_flight != InFlight::kControl) fetchable = Fetchable::kEligible;
        break;
      case SlotState::kBarrier:
        fetchable = Fetchable::kAtBarrier;
        break;
      case SlotState::kResolving:
      case SlotState::kFree:
        break;
    }
  }
  if (fetchable == warp.fetchable) return;
  if (warp.fetchable == Fetchable::kEligible) fetchable_.Erase(slot);
  if (warp.fetchable == Fetchable::kAtBarrier) fetchable_at_barrier_.Erase(slot);
  if (fetchable == Fetchable::kEligible) fetchable_.Insert(slot);
  if (fetchable == Fetchable::kAtBarrier) fetchable_at_barrier_.Insert(slot);
  warp.fetchable = fetchable;
}

}  // namespace heddle::replay
