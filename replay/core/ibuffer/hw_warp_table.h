// Which warp slots have threads of which hardware warp.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_HW_WARP_TABLE_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_HW_WARP_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "replay/core/ibuffer/warp_entry.h"
#include "replay/seams/types.h"

namespace heddle::replay {

class HwWarpTable {
 public:
  static constexpr uint8_t kNoPort = 0xff;
  // Half a line of the host's cache.
  struct alignas(32) HwWarp {
    uint32_t results_due = 0;              // instructions with a result to come, once for each of their hardware warps
    SlotId only = kNoSlot;                 // the slot, if there is exactly one in `slots`
    uint8_t exited_port = kNoPort;         // that its exited warp counts for
    absl::InlinedVector<SlotId, 8> slots;  // with threads of it, ascending, if listed
  };

  // `listed`: hardware warps list their slots. It is needed where there is a scoreboard.
  HwWarpTable(uint32_t hw_warps, size_t slots, uint32_t warp_size, bool listed)
      : hw_warps_(hw_warps), slots_(slots), warp_size_(warp_size), listed_(listed) {}

  HwWarp& operator[](uint32_t hw_warp) { return hw_warps_[hw_warp]; }
  const HwWarp& operator[](uint32_t hw_warp) const { return hw_warps_[hw_warp]; }

  // The slot has other threads: works out the entry's hardware warp and lanes, and lists it anew.
  void Locate(SlotId slot, const Lanes& lanes, WarpEntry& warp);
  // Calls function(hw_warp, lanes) for every hardware warp that the slot has threads of.
  template <typename Function>
  void ForEach(SlotId slot, const WarpEntry& warp, Function function) const {
    if (warp.hw_warp != kMixedHwWarps) {
      function(warp.hw_warp, warp.own);
    } else {
      for (const HwWarpLanes& one : mixed_[slot]) function(one.hw_warp, one.lanes);
    }
  }
  // The hardware warps of a slot whose threads are of several.
  const std::vector<HwWarpLanes>& mixed(SlotId slot) const { return mixed_[slot]; }

 private:
  // The slot is in no hardware warp's list any more.
  void Leave(SlotId slot, const WarpEntry& warp);
  // After a change of `slots`.
  static void NoteOnly(HwWarp& hw_warp) { hw_warp.only = hw_warp.slots.size() == 1 ? hw_warp.slots.front() : kNoSlot; }

  std::vector<HwWarp> hw_warps_;
  std::vector<std::vector<HwWarpLanes>> mixed_;  // by slot, if of several hardware warps; none as long as no slot is
  const size_t slots_;
  const uint32_t warp_size_;
  const bool listed_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_HW_WARP_TABLE_H_
