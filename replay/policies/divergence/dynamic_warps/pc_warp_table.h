// The PC-warp table of dynamic warp formation: which warp of the pool takes threads at a PC.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_PC_WARP_TABLE_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_PC_WARP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/policies/divergence/dynamic_warps/formation_lookup.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_table.h"

namespace heddle::replay {

// Per scope and PC the warp that is being filled (Fung, section 4.2.1); one for each call depth, as positions of
// different depth cannot share a warp. A scope is a block, or scope 0 for all blocks of the SM. With the sizes of Table
// 7.1 a warp may lose its entry to another PC: it stays in the pool as it is, left behind.
class PcWarpTable {
 public:
  struct Setup {
    uint32_t scopes = 1;
    uint32_t instructions = 0;  // of the program
    uint32_t entries = 0;       // 0: no limit
    uint32_t ways = 1;          // divides `entries`
  };

  explicit PcWarpTable(const Setup& setup)
      : instructions_(setup.instructions),
        lookup_(setup.entries, setup.ways),
        filling_(static_cast<size_t>(setup.scopes) * setup.instructions, kNoSlot),
        next_filling_(kMaxSlots, kNoSlot),
        place_(kMaxSlots, kNowhere),
        left_behind_(kMaxSlots, 0),
        left_behind_at_(setup.instructions, 0) {}

  // The warp that is being filled at `at`; kNoSlot if there is none.
  SlotId Find(uint32_t scope, Position at, const WarpTable& table) const {
    SlotId slot = filling_[PlaceOf(scope, at.pc())];
    while (slot != kNoSlot && table.position[slot] != at) slot = next_filling_[slot];
    return slot;
  }
  // Whether a warp that has lost its entry waits at the PC.
  bool AnyLeftBehind(Pc pc) const { return left_behind_at_[pc] != 0; }

  // A warp that Find returned is looked at for threads, which makes it the most recently used of its set.
  void Use(SlotId slot, Pc pc) { lookup_.Use(pc, slot); }
  // The warp is filled from now on. True if another one has lost its entry to it.
  bool Insert(uint32_t scope, SlotId slot, Pc pc) {
    const uint32_t place = PlaceOf(scope, pc);
    place_[slot] = place;
    next_filling_[slot] = filling_[place];
    filling_[place] = slot;
    const SlotId victim = lookup_.Insert(pc, slot);
    if (victim == kNoSlot) return false;
    const Pc of_victim = place_[victim] % instructions_;
    left_behind_[victim] = 1;
    ++left_behind_at_[of_victim];
    Close(victim, of_victim);
    return true;
  }
  // The warp, which is being filled, takes no more threads.
  void Close(SlotId slot, Pc pc) {
    lookup_.Erase(pc, slot);
    SlotId* link = &filling_[place_[slot]];
    while (*link != slot) link = &next_filling_[*link];
    *link = next_filling_[slot];
    place_[slot] = kNowhere;
  }
  // The warp leaves the pool, whether it is being filled or not.
  void Remove(SlotId slot, Pc pc) {
    if (left_behind_[slot] != 0) {
      left_behind_[slot] = 0;
      --left_behind_at_[pc];
    }
    if (place_[slot] != kNowhere) Close(slot, pc);
  }

 private:
  static constexpr uint32_t kNowhere = ~uint32_t{0};

  uint32_t PlaceOf(uint32_t scope, Pc pc) const { return scope * instructions_ + pc; }

  const uint32_t instructions_;
  FormationLookup lookup_;
  std::vector<SlotId> filling_;           // by scope and PC: the first of the warps, linked by next_filling_
  std::vector<SlotId> next_filling_;      // by slot
  std::vector<uint32_t> place_;           // by slot: its index in filling_; kNowhere if it is not being filled
  std::vector<uint8_t> left_behind_;      // by slot: in the pool, but its entry has gone to another warp
  std::vector<uint32_t> left_behind_at_;  // by PC: warps left behind
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_PC_WARP_TABLE_H_
