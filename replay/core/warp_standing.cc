#include "replay/core/warp_standing.h"

#include <algorithm>

namespace heddle::replay {

void WarpStandings::Change(SlotId slot, Standing to) {
  Warp& warp = warps_[slot];
  const Standing from = warp.standing;
  const WarpClass old_class = from.state();
  const WarpClass new_class = to.state();
  warp.standing = to;
  if (old_class != new_class) {
    if (old_class == WarpClass::kNone) {
      ++live_;
      issued_and_gone_ -= warp.since > time_;  // it is back in the cycle of its issue
    } else if (time_ > warp.since) {
      counters_.warp_class[Index(old_class)] += time_ - warp.since;
    }
    if (new_class == WarpClass::kNone) {
      --live_;
      issued_and_gone_ += warp.since > time_;
    }
    warp.since = std::max(warp.since, time_);
  }
  if (old_class != new_class || from.port() != to.port()) {
    if (old_class != WarpClass::kNone) Leave(from.port(), old_class);
    if (new_class != WarpClass::kNone) Enter(to.port(), new_class);
  }
  const auto ready_of = [&](Standing one) -> SlotSet& {
    return ready_[static_cast<size_t>(one.port() * kUnitClasses + static_cast<int>(one.unit()))];
  };
  const auto count_data = [&](Standing one, uint64_t threads) {
    if (one.offered()) offered_data_threads_ += threads;
    if (one.beyond_shared()) memory_threads_ += threads;
  };
  if (old_class == WarpClass::kStructural) {
    ready_of(from).Erase(slot);
  } else if (from.waits_for_data()) {
    count_data(from, uint64_t{0} - from.threads());
  }
  if (new_class == WarpClass::kStructural) {
    ready_of(to).Insert(slot);
  } else if (to.waits_for_data()) {
    count_data(to, to.threads());
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
