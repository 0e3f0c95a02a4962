#include "replay/core/warp_standing.h"

#include <algorithm>

namespace heddle::replay {

void WarpStandings::Change(SlotId slot, Standing to) {
  Warp& warp = warps_[slot];
  const Standing from = warp.standing;
  warp.standing = to;
  if (from.state() != to.state()) {
    if (from.state() == WarpClass::kNone) {
      ++live_;
      issued_and_gone_ -= warp.since > time_;  // it is back in the cycle of its issue
    } else if (time_ > warp.since) {
      counters_.warp_class[Index(from.state())] += time_ - warp.since;
    }
    if (to.state() == WarpClass::kNone) {
      --live_;
      issued_and_gone_ += warp.since > time_;
    }
    warp.since = std::max(warp.since, time_);
  }
  if (from.state() != to.state() || from.port() != to.port()) {
    if (from.state() != WarpClass::kNone) Leave(from.port(), from.state());
    if (to.state() != WarpClass::kNone) Enter(to.port(), to.state());
  }
  const auto ready_of = [&](Standing one) -> SlotSet& {
    return ready_[static_cast<size_t>(one.port() * kUnitClasses + static_cast<int>(one.unit()))];
  };
  if (from.state() == WarpClass::kStructural) ready_of(from).Erase(slot);
  if (to.state() == WarpClass::kStructural) ready_of(to).Insert(slot);
  if (from.waits_for_data()) {
    if (from.offered()) offered_data_threads_ -= from.threads();
    if (from.beyond_shared()) memory_threads_ -= from.threads();
  }
  if (to.waits_for_data()) {
    if (to.offered()) offered_data_threads_ += to.threads();
    if (to.beyond_shared()) memory_threads_ += to.threads();
  }
}

SlotId WarpStandings::Oldest(int port, WarpClassMask classes, std::span<const uint64_t> formed) const {
  SlotId oldest = kNoSlot;
  uint64_t left = classes == 0 ? 0 : live_;
  for (size_t slot = 0; left != 0; ++slot) {
    const Standing standing = warps_[slot].standing;
    if (standing.state() == WarpClass::kNone) continue;
    --left;
    if (standing.port() != port || (classes & MaskOf(standing.state())) == 0) continue;
    if (oldest == kNoSlot || formed[slot] < formed[oldest]) oldest = static_cast<SlotId>(slot);
  }
  return oldest;
}

void WarpStandings::RowsLeft(int port, uint64_t rows) {
  for (uint64_t row = 0; row < rows; ++row) Leave(port, WarpClass::kExit);
  exited_ -= rows;
}

void WarpStandings::CreditIssues(uint32_t issued) {
  for (size_t port = 0; port < present_.size(); ++port) {
    if ((issued >> port & 1) != 0) {
      ++counters_.port_cycles;
      ++counters_.issued;
    } else {
      counters_.AddPortCycles(present_[port], 1);
    }
  }
  CreditWarps(1);
  counters_.warp_cycles += issued_and_gone_;
  issued_and_gone_ = 0;
}

}  // namespace heddle::replay
