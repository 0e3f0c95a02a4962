#include "replay/core/ibuffer/issue_status.h"

#include <algorithm>

namespace heddle::replay {

void IssueStatusTable::Change(SlotId slot, IssueStatus to) {
  Tracked& warp = warps_[slot];
  const IssueStatus from = warp.status;
  const WarpClass old_class = from.state();
  const WarpClass new_class = to.state();
  warp.status = to;
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
  if (from.is_warp()) ports_[from.port()].Leave(old_class);
  if (to.is_warp()) ports_[to.port()].Enter(new_class);
  Recount(slot, from, to);
}

StallCounters IssueStatusTable::counters() const {
  StallCounters counters = counters_;
  counters.port_cycles += counters.issued;
  for (size_t closest = 0; closest < lost_.size(); ++closest) {
    counters.AddPortCycles(static_cast<WarpClass>(closest), lost_[closest]);
  }
  return counters;
}

SlotId IssueStatusTable::Oldest(int port, WarpClassMask classes, std::span<const SlotEntry> entries) const {
  SlotId oldest = kNoSlot;
  uint64_t left = classes == 0 ? 0 : live_;
  for (size_t slot = 0; left != 0; ++slot) {
    const IssueStatus status = warps_[slot].status;
    if (status.state() == WarpClass::kNone) continue;
    --left;
    if (status.port() != port || (classes & MaskOf(status.state())) == 0) continue;
    if (oldest == kNoSlot || entries[slot].formed < entries[oldest].formed) oldest = static_cast<SlotId>(slot);
  }
  return oldest;
}

void IssueStatusTable::HwWarpsLeft(int port, uint64_t hw_warps) {
  for (uint64_t hw_warp = 0; hw_warp < hw_warps; ++hw_warp) ports_[static_cast<size_t>(port)].Leave(WarpClass::kExit);
  exited_ -= hw_warps;
}

}  // namespace heddle::replay
