// Which warp slots have changed, for an engine that keeps what follows from them.
#ifndef HEDDLE_REPLAY_WARPS_SLOT_CHANGES_H_
#define HEDDLE_REPLAY_WARPS_SLOT_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// Each changed slot once. Notes nothing until it is asked to.
class SlotChanges {
 public:
  enum Change : uint8_t { kState = 1, kThreads = 2 };

  explicit SlotChanges(size_t slots) : noted_(slots, 0) {}

  void Enable() { enabled_ = true; }
  void Note(SlotId slot, Change change) {
    if (!enabled_) return;
    if (noted_[slot] == 0) changed_.push_back(slot);
    noted_[slot] |= change;
  }
  void NoteStates(std::span<const SlotId> slots) {
    if (!enabled_) return;
    for (const SlotId slot : slots) Note(slot, kState);
  }
  bool any() const { return !changed_.empty(); }
  bool noted(SlotId slot) const { return noted_[slot] != 0; }
  // Hands out one slot after the other until it returns false, with whether its threads are others.
  bool Take(SlotId& slot, bool& threads) {
    if (changed_.empty()) return false;
    slot = changed_.back();
    changed_.pop_back();
    threads = (noted_[slot] & kThreads) != 0;
    noted_[slot] = 0;
    return true;
  }

 private:
  std::vector<SlotId> changed_;
  bool enabled_ = false;
  std::vector<uint8_t> noted_;  // by slot: Change
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_WARPS_SLOT_CHANGES_H_
