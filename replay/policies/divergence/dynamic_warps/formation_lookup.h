// The PC-warp look-up table of dynamic warp formation, with its real size.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_FORMATION_LOOKUP_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_FORMATION_LOOKUP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// Which warps can still be filled (Fung, section 4.2.1 and Table 7.1): set-associative, the set by the PC, least
// recently used out first (the thesis does not say; GPGPU-Sim 2.x). Entries stand for warps; that a warp is the one for
// a PC its owner knows.
class FormationLookup {
 public:
  // No entries: a table without limits; else `ways` divides them.
  FormationLookup(uint32_t entries, uint32_t ways)
      : ways_(entries == 0 ? 0 : ways), sets_(entries == 0 ? 0 : entries / ways), entries_(sets_ * ways_) {}

  // Enters a warp at `pc`. Returns the warp that had to leave for it, kNoSlot if none.
  SlotId Insert(Pc pc, SlotId slot) {
    if (ways_ == 0) return kNoSlot;
    Entry* victim = Set(pc);
    for (Entry* entry = victim; entry != Set(pc) + ways_; ++entry) {
      if (entry->slot == kNoSlot) {
        victim = entry;
        break;
      }
      if (entry->used < victim->used) victim = entry;
    }
    const SlotId evicted = victim->slot;
    *victim = {slot, ++uses_};
    return evicted;
  }
  // The warp at `pc` was found and gets threads.
  void Use(Pc pc, SlotId slot) {
    if (Entry* entry = Find(pc, slot); entry != nullptr) entry->used = ++uses_;
  }
  // Does nothing if the warp has no entry.
  void Erase(Pc pc, SlotId slot) {
    if (Entry* entry = Find(pc, slot); entry != nullptr) entry->slot = kNoSlot;
  }

 private:
  struct Entry {
    SlotId slot = kNoSlot;
    uint64_t used = 0;
  };
  Entry* Set(Pc pc) { return &entries_[static_cast<size_t>(pc % sets_) * ways_]; }
  Entry* Find(Pc pc, SlotId slot) {
    if (ways_ == 0) return nullptr;
    for (Entry* entry = Set(pc); entry != Set(pc) + ways_; ++entry) {
      if (entry->slot == slot) return entry;
    }
    return nullptr;
  }

  const uint32_t ways_;
  const uint32_t sets_;
  std::vector<Entry> entries_;
  uint64_t uses_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_FORMATION_LOOKUP_H_
