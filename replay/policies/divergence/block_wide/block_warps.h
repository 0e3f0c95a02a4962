// The warps of block-wide stacks in their slots.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_WARPS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_WARPS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "replay/policies/divergence/block_wide/stack_entry.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_editor.h"

namespace heddle::replay {

// Knows which entry a slot's warp belongs to. The slot of a warp that is no more is kept for the next one that starts:
// so a compacted warp takes the place of one that it is made of.
class BlockWarps {
 public:
  struct RunningWarp {
    StackEntryId entry = 0;
    uint32_t index = 0;
    int64_t blocks_left = 0;  // that it may run ahead
  };

  BlockWarps() : warps_(kMaxSlots) {}

  RunningWarp& operator[](SlotId slot) { return warps_[slot]; }
  const RunningWarp& operator[](SlotId slot) const { return warps_[slot]; }

  // The warp gets a slot. False if there is none: the editor has reported why.
  bool Start(StackEntryId entry, const KeptWarp& warp, WarpEditor& editor) {
    SlotId slot = std::exchange(spare_, kNoSlot);
    const int port = std::exchange(port_, kAnyPort);
    if (slot != kNoSlot) {
      editor.Place(slot, warp.at, warp.lanes);
    } else {
      slot = editor.Spawn(warp.at, warp.lanes);
      if (slot == kNoSlot) return false;
      if (port != kAnyPort) editor.SetPort(slot, static_cast<uint8_t>(port));
    }
    warps_[slot] = {entry, warp.index, 0};
    return true;
  }
  // If the next warp that starts gets a new slot, that is of this port.
  void UsePort(uint8_t port) { port_ = port; }
  void UseAnyPort() { port_ = kAnyPort; }

  // The slot's warp is no more; the next warp that starts takes it.
  void Spare(SlotId slot, WarpEditor& editor) {
    DissolveSpare(editor);
    spare_ = slot;
  }
  // No warp has started in it.
  void DissolveSpare(WarpEditor& editor) {
    if (spare_ != kNoSlot) editor.Dissolve(std::exchange(spare_, kNoSlot));
  }

 private:
  static constexpr int kAnyPort = -1;

  std::vector<RunningWarp> warps_;  // by slot
  SlotId spare_ = kNoSlot;
  int port_ = kAnyPort;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_WARPS_H_
