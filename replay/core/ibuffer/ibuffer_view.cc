#include "replay/core/ibuffer/ibuffer_view.h"

#include <algorithm>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

IBufferView::HwWarps IBufferView::Locate(SlotId slot) const {
  HwWarps found;
  if (!sm_.formation.HasChanged(slot)) {
    state_.hw_warps.ForEach(slot, state_.warps[slot], [&](uint32_t hw_warp, LaneMask own) {
      found.push_back({static_cast<uint16_t>(hw_warp), own});
    });
    return found;
  }
  const Lanes& lanes = sm_.table().lanes[slot];
  const auto warp_size = static_cast<uint32_t>(sm_.context.warp_size);
  ForEachLane(lanes.mask, [&](int lane) {
    const auto hw_warp = static_cast<uint16_t>(lanes.thread[lane] / warp_size);
    auto at = std::find_if(found.begin(), found.end(), [=](const HwWarpLanes& one) { return one.hw_warp == hw_warp; });
    if (at == found.end()) at = found.insert(found.end(), {hw_warp, 0});
    at->lanes |= LaneMask{1} << lanes.thread[lane] % warp_size;
  });
  return found;
}

Lack IBufferView::LackOf(SlotId slot) const {
  const WarpTable& warps = sm_.table();
  const SlotState state = warps.state[slot];
  if (state == SlotState::kFree || warps.lanes[slot].mask == 0) return Lack::kWarp;
  switch (state) {
    case SlotState::kBarrier:
      return Lack::kBarrier;
    case SlotState::kInFlight:
      return InFlight(state_.warps[slot]);
    case SlotState::kOffered:
    case SlotState::kParked:
      return Resting(slot);
    default:
      return Lack::kDecision;
  }
}

Lack IBufferView::InFlight(const WarpEntry& warp) const {
  switch (warp.in_flight) {
    case InFlightReason::kControl:
      return Lack::kBranch;
    case InFlightReason::kWaitAtEnd:
    case InFlightReason::kFence:
      return Lack::kBarrier;
    case InFlightReason::kMemory:
      return state_.in_flight[warp.in_flight_id].off_core ? Lack::kFarMemory : Lack::kMemory;
    case InFlightReason::kArithmetic:
      return Lack::kResult;
    case InFlightReason::kResolve:
      break;
  }
  return Lack::kDecision;
}

bool IBufferView::Pauses(SlotId slot, const WarpEntry& warp, const HwWarps& hw_warps) const {
  const Cycle now = sm_.run.now;
  if (!state_.stalls) return false;
  if (!state_.pauses_travel) return warp.formed == sm_.table().formed[slot] && warp.ready_at > now;
  return std::any_of(hw_warps.begin(), hw_warps.end(),
                     [&](const HwWarpLanes& one) { return state_.pauses.Of(one.hw_warp, one.lanes) > now; });
}

Lack IBufferView::Resting(SlotId slot) const {
  const WarpTable& warps = sm_.table();
  const Pc pc = warps.position[slot].pc();
  static const WarpEntry new_slot;
  const WarpEntry& warp = slot < state_.warps.size() ? state_.warps[slot] : new_slot;
  if (state_.one_in_flight && warps.state[slot] == SlotState::kOffered) {
    const bool counted = !sm_.formation.HasChanged(slot) || warp.offered_at == warps.offered_at[slot];
    const Cycle ready_at = counted ? warp.ready_at : state_.offer_cycle + state_.setup.reformed_warp_cycles;
    if (ready_at > sm_.run.now) return Lack::kInstruction;
  }
  if (sm_.formation.inserted(slot) != 0) return OfUnit(state_.setup.table.inserted().unit);
  if (sm_.context.by_warp && sm_.SharedHeld(slot, sm_.steps[pc])) return Lack::kBarrier;
  if (state_.one_in_flight) return OfUnit(state_.setup.table[pc].unit);
  const HwWarps hw_warps = Locate(slot);
  if (Pauses(slot, warp, hw_warps)) return Lack::kResult;
  // A buffer for another warp or place is dropped as soon as the core looks at it.
  if (warp.valid == 0 || warp.formed != warps.formed[slot] || warp.head != pc) return Lack::kInstruction;
  const Scoreboard::Hazard hazard = HazardOf(slot, hw_warps);
  if (!hazard.blocked()) return OfUnit(state_.setup.table[pc].unit);
  if (hazard.off_core()) return Lack::kFarMemory;
  return hazard.memory() ? Lack::kMemory : Lack::kResult;
}

Scoreboard::Hazard IBufferView::HazardOf(SlotId slot, const HwWarps& hw_warps) const {
  const Position at = sm_.table().position[slot];
  Scoreboard::Hazard hazard;
  for (const HwWarpLanes& one : hw_warps) {
    hazard.Add(state_.scoreboard.Check(one.hw_warp, one.lanes, state_.setup.table[at.pc()], at.pc(), at.depth()));
  }
  return hazard;
}

bool IBufferView::WaitsLong(SlotId slot) const {
  switch (sm_.table().state[slot]) {
    case SlotState::kInFlight:
      return InFlight(state_.warps[slot]) == Lack::kFarMemory;
    case SlotState::kOffered:
    case SlotState::kParked:
      return sm_.table().lanes[slot].mask != 0 && HasBuffers(slot) && HazardOf(slot, Locate(slot)).off_core();
    default:
      return false;
  }
}

std::optional<uint32_t> IBufferView::AwaitedRegister(SlotId slot) const {
  const SlotState state = sm_.table().state[slot];
  if (state != SlotState::kOffered && state != SlotState::kParked) return std::nullopt;
  if (sm_.table().lanes[slot].mask == 0 || !HasBuffers(slot) || state_.setup.table.by_control_bits()) {
    return std::nullopt;
  }
  const Position at = sm_.table().position[slot];
  const IssueStep& step = state_.setup.table[at.pc()];
  const HwWarps hw_warps = Locate(slot);
  for (const auto numbers : {state_.setup.table.sources(step), state_.setup.table.destinations(step)}) {
    for (const uint32_t number : numbers) {
      for (const HwWarpLanes& one : hw_warps) {
        if (state_.scoreboard.IsPending(one.hw_warp, one.lanes, number, at.depth())) return number;
      }
    }
  }
  return std::nullopt;
}

}  // namespace heddle::replay
