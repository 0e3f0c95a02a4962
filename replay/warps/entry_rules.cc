#include "replay/warps/entry_rules.h"

#include "absl/strings/str_cat.h"

namespace heddle::replay {

std::string PositionText(Position at) {
  return at.is_exit() ? "exit" : absl::StrCat("pc ", at.pc() * 8, " depth ", at.depth());
}

bool EntryRules::HoldForNeighbours(Position at, const Lanes& lanes) const {
  if (lanes.mask == 0 || at.is_exit() || (warp_size_ < kMaxLanes && (lanes.mask >> warp_size_) != 0)) return false;
  if (!ThreadTable::AreNeighbours(lanes)) return false;
  const int low = std::countr_zero(lanes.mask);
  if (!any_lane_ && HomeLane(lanes.thread[low]) != low) return false;
  return threads_.AllUnassignedAt(lanes.thread[low], static_cast<uint32_t>(std::popcount(lanes.mask)), at);
}

std::string EntryRules::Violation(Position at, const Lanes& lanes) const {
  if (lanes.mask == 0) return "no threads are given";
  if (at.is_exit()) return "no thread can be at the exit";
  if (warp_size_ < kMaxLanes && (lanes.mask >> warp_size_) != 0) {
    return absl::StrCat("a lane beyond the warp size ", warp_size_, " is used");
  }
  for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    const ThreadId thread = lanes.thread[lane];
    if (thread >= threads_.size() || !threads_.is_live(thread)) {
      return absl::StrCat("lane ", lane, " holds thread ", thread, ", which is not live");
    }
    if (!threads_.is_unassigned(thread)) {
      return absl::StrCat("lane ", lane, " holds thread ", thread, ", which is in slot ", threads_.slot(thread));
    }
    if (threads_.position(thread) != at) {
      return absl::StrCat("thread ", thread, " is at ", PositionText(threads_.position(thread)), ", not at ",
                          PositionText(at));
    }
    if (!any_lane_ && HomeLane(thread) != lane) {
      return absl::StrCat("thread ", thread, " is in lane ", lane, ", not in its home lane");
    }
  }
  if (!any_lane_) return "";  // home lanes exclude a thread given twice; without them it has to be looked for
  for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    for (LaneMask rest = mask & (mask - 1); rest != 0; rest &= rest - 1) {
      if (lanes.thread[std::countr_zero(rest)] == lanes.thread[lane]) {
        return absl::StrCat("thread ", lanes.thread[lane], " is given twice");
      }
    }
  }
  return "";
}

}  // namespace heddle::replay
