#include "replay/core/ibuffer/hw_warp_table.h"

#include <algorithm>
#include <bit>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

void HwWarpTable::Leave(SlotId slot, const WarpEntry& warp) {
  if (warp.threads == 0 || !listed_) return;
  ForEach(slot, warp, [&](uint32_t hw_warp, LaneMask) {
    auto& slots = hw_warps_[hw_warp].slots;
    slots.erase(std::remove(slots.begin(), slots.end(), slot), slots.end());
    NoteOnly(hw_warps_[hw_warp]);
  });
}

void HwWarpTable::Locate(SlotId slot, const Lanes& lanes, WarpEntry& warp) {
  const uint32_t threads = static_cast<uint32_t>(std::popcount(lanes.mask));
  // Static warps stay in their hardware warp: the common case.
  const uint32_t first = lanes.mask == 0 ? 0 : lanes.thread[std::countr_zero(lanes.mask)] / warp_size_;
  LaneMask own = 0;
  bool single = true;
  // Mostly every thread is in its own lane, so that lanes from the first on need not be looked at one by one.
  warp.in_order = lanes.mask != 0 && (lanes.mask & (lanes.mask + 1)) == 0 && lanes.thread[0] == first * warp_size_ &&
                  FollowOneAnother(lanes.thread.data(), threads);
  if (warp.in_order) {
    own = lanes.mask;
  } else {
    ForEachLane(lanes.mask, [&](int lane) {
      const uint32_t place = lanes.thread[lane] - first * warp_size_;  // wraps below the hardware warp
      if (place < warp_size_) {
        own |= LaneMask{1} << place;
      } else {
        single = false;
      }
    });
  }
  if (single && threads != 0 && warp.threads != 0 && warp.hw_warp == first) {  // it stays in its hardware warp
    warp.own = own;
    warp.threads = static_cast<uint8_t>(threads);
    return;
  }
  Leave(slot, warp);
  warp.hw_warp = single ? static_cast<uint16_t>(first) : kMixedHwWarps;
  if (!single) {
    if (mixed_.empty()) mixed_.resize(slots_);
    std::vector<HwWarpLanes>& hw_warps = mixed_[slot];
    hw_warps.clear();
    ForEachLane(lanes.mask, [&](int lane) {
      const uint16_t hw_warp = static_cast<uint16_t>(lanes.thread[lane] / warp_size_);
      auto at = std::find_if(hw_warps.begin(), hw_warps.end(),
                             [&](const HwWarpLanes& one) { return one.hw_warp == hw_warp; });
      if (at == hw_warps.end()) at = hw_warps.insert(hw_warps.end(), {hw_warp, 0});
      at->lanes |= LaneMask{1} << (lanes.thread[lane] % warp_size_);
    });
  }
  warp.own = own;
  warp.threads = static_cast<uint8_t>(threads);
  if (threads == 0 || !listed_) return;
  ForEach(slot, warp, [&](uint32_t hw_warp, LaneMask) {
    auto& slots = hw_warps_[hw_warp].slots;
    slots.insert(std::lower_bound(slots.begin(), slots.end(), slot), slot);
    NoteOnly(hw_warps_[hw_warp]);
  });
}

}  // namespace heddle::replay
