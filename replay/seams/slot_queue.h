// A first-in-first-out list of slots.
#ifndef HEDDLE_REPLAY_SEAMS_SLOT_QUEUE_H_
#define HEDDLE_REPLAY_SEAMS_SLOT_QUEUE_H_

#include <cstdint>
#include <vector>

#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Slots in the order in which they were added, or of a key. Operations take constant time, but for the search and for
// insertion out of order.
class SlotQueue {
 public:
  SlotQueue() : links_(kMaxSlots + 1) { links_[kEnd] = {kEnd, kEnd, true}; }

  bool Contains(SlotId slot) const { return links_[slot].member; }
  bool empty() const { return links_[kEnd].next == kEnd; }
  // The slot that was added first, kNoSlot if there is none.
  SlotId front() const { return empty() ? kNoSlot : links_[kEnd].next; }

  // The member behind `slot`, which is a member; kNoSlot if it is the last.
  SlotId After(SlotId slot) const { return links_[slot].next == kEnd ? kNoSlot : links_[slot].next; }

  // Adds at the end; a member moves to the end.
  void PushBack(SlotId slot) {
    Erase(slot);
    const SlotId last = links_[kEnd].previous;
    links_[slot] = {last, kEnd, true};
    links_[last].next = slot;
    links_[kEnd].previous = slot;
  }

  // Adds behind the last member whose key[slot] is not larger; a member moves there. Cheap where keys normally grow.
  template <typename Keys>
  void InsertByKey(SlotId slot, const Keys& key) {
    Erase(slot);
    SlotId before = links_[kEnd].previous;
    while (before != kEnd && key[before] > key[slot]) before = links_[before].previous;
    const SlotId after = links_[before].next;
    links_[slot] = {before, after, true};
    links_[before].next = slot;
    links_[after].previous = slot;
  }

  // Does nothing to a slot that is no member.
  void Erase(SlotId slot) {
    if (!links_[slot].member) return;
    links_[links_[slot].previous].next = links_[slot].next;
    links_[links_[slot].next].previous = links_[slot].previous;
    links_[slot].member = false;
  }

  // The first member that is in `set`; kNoSlot if there is none.
  SlotId FirstIn(const SlotSet& set) const {
    for (SlotId slot = links_[kEnd].next; slot != kEnd; slot = links_[slot].next) {
      if (set.Contains(slot)) return slot;
    }
    return kNoSlot;
  }

 private:
  static constexpr SlotId kEnd = kMaxSlots;
  struct Link {
    SlotId previous = kEnd;
    SlotId next = kEnd;
    bool member = false;
  };
  std::vector<Link> links_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_SLOT_QUEUE_H_
