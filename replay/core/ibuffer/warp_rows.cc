#include "replay/core/ibuffer/warp_rows.h"

#include <algorithm>
#include <bit>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

void WarpRows::Leave(SlotId slot, const WarpEntry& warp) {
  if (warp.threads == 0 || !listed_) return;
  ForEach(slot, warp, [&](uint32_t row, LaneMask) {
    auto& slots = rows_[row].slots;
    slots.erase(std::remove(slots.begin(), slots.end(), slot), slots.end());
    NoteOnly(rows_[row]);
  });
}

void WarpRows::Locate(SlotId slot, const Lanes& lanes, WarpEntry& warp) {
  const uint32_t threads = static_cast<uint32_t>(std::popcount(lanes.mask));
  // Static warps stay in their row: the common case.
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
      const uint32_t place = lanes.thread[lane] - first * warp_size_;  // wraps below the row
      if (place < warp_size_) {
        own |= LaneMask{1} << place;
      } else {
        single = false;
      }
    });
  }
  if (single && threads != 0 && warp.threads != 0 && warp.row == first) {  // it stays in its row
    warp.own = own;
    warp.threads = static_cast<uint8_t>(threads);
    return;
  }
  Leave(slot, warp);
  warp.row = single ? static_cast<uint16_t>(first) : kMixedRows;
  if (!single) {
    if (mixed_.empty()) mixed_.resize(slots_);
    std::vector<RowLanes>& rows = mixed_[slot];
    rows.clear();
    ForEachLane(lanes.mask, [&](int lane) {
      const uint16_t row = static_cast<uint16_t>(lanes.thread[lane] / warp_size_);
      auto at = std::find_if(rows.begin(), rows.end(), [&](const RowLanes& one) { return one.row == row; });
      if (at == rows.end()) at = rows.insert(rows.end(), {row, 0});
      at->lanes |= LaneMask{1} << (lanes.thread[lane] % warp_size_);
    });
  }
  warp.own = own;
  warp.threads = static_cast<uint8_t>(threads);
  if (threads == 0 || !listed_) return;
  ForEach(slot, warp, [&](uint32_t row, LaneMask) {
    auto& slots = rows_[row].slots;
    slots.insert(std::lower_bound(slots.begin(), slots.end(), slot), slot);
    NoteOnly(rows_[row]);
  });
}

}  // namespace heddle::replay
