// The Majority scheduler's max-heap and its look-up table, with their real sizes (Fung, section 4.4, Figure 4.5).
#ifndef HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_MAJORITY_HEAP_H_
#define HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_MAJORITY_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Groups of warps at one PC, the largest group on top. A group knows its warps in the order in which they came; which
// group a PC has is in a set-associative table that may forget it, so that a PC may have several groups.
class MajorityHeap {
 public:
  using GroupId = uint16_t;
  static constexpr GroupId kNone = 0xffff;

  struct Setup {
    uint32_t heap_entries = 64;
    uint32_t lut_entries = 128;
    uint32_t lut_ways = 8;
    bool ties_to_oldest = false;  // else the lower PC is on top
  };

  explicit MajorityHeap(const Setup& setup);

  // --- what there is
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  bool full() const { return heap_.size() >= setup_.heap_entries; }
  GroupId root() const { return heap_.front(); }
  Position at(GroupId group) const { return groups_[group].at; }
  bool has_warps(GroupId group) const { return groups_[group].first != kNoSlot; }
  GroupId group_of(SlotId slot) const { return members_[slot].group; }
  // The warp of the group that came first and is in `set`; kNoSlot if there is none.
  SlotId FirstIn(GroupId group, const SlotSet& set) const {
    SlotId slot = groups_[group].first;
    while (slot != kNoSlot && !set.Contains(slot)) slot = members_[slot].next;
    return slot;
  }

  // --- changes; those of the heap return the number of swaps that they took
  // The group that a warp at this place joins; kNone if it needs a new one.
  GroupId Find(Position at);
  // A new group, which must not find the heap full, with one warp. `age` orders groups of equal weight.
  uint32_t Insert(Position at, SlotId slot, uint32_t weight, uint64_t age);
  // A warp joins the group, in the heap or popped.
  uint32_t Add(GroupId group, SlotId slot, uint32_t weight);
  // The warp weighs so much from now on.
  uint32_t Resize(SlotId slot, uint32_t weight);
  // The warp leaves its group. A group in the heap that has no warps left leaves the heap.
  uint32_t Remove(SlotId slot);
  // Takes a group out of the heap; it is the majority from now on, until Release or Return.
  uint32_t Pop(GroupId group);
  // A popped group comes back into the heap.
  uint32_t Return(GroupId group);
  // A popped group without warps ends.
  void Release(GroupId group) { free_.push_back(group); }

  // Groups that the table has forgotten, and groups begun while an older one of the same place had warps.
  uint64_t forgotten() const { return forgotten_; }
  uint64_t doubles() const { return doubles_; }

 private:
  struct Group {
    Position at;
    uint32_t weight = 0;
    uint64_t age = 0;
    size_t place = 0;  // in heap_; kPopped if it is not there
    SlotId first = kNoSlot;
    SlotId last = kNoSlot;
  };
  struct Member {
    SlotId previous = kNoSlot;
    SlotId next = kNoSlot;
    GroupId group = kNone;
    uint32_t weight = 0;
  };
  struct LookupEntry {
    GroupId group = kNone;
    uint64_t used = 0;
  };
  static constexpr size_t kPopped = ~size_t{0};

  bool Above(GroupId a, GroupId b) const;
  uint32_t SiftUp(size_t place);
  uint32_t SiftDown(size_t place);
  uint32_t TakeOut(size_t place);
  void Swap(size_t a, size_t b);
  void Link(GroupId group, SlotId slot, uint32_t weight);
  LookupEntry* SetOf(Position at) { return &lookup_[(at.pc() % lookup_sets_) * setup_.lut_ways]; }
  void EnterLookup(GroupId group);
  void LeaveLookup(GroupId group);

  const Setup setup_;
  const uint32_t lookup_sets_;
  std::vector<LookupEntry> lookup_;
  uint64_t uses_ = 0;
  std::vector<Group> groups_;
  std::vector<GroupId> free_;
  std::vector<GroupId> heap_;
  std::vector<Member> members_;  // by slot
  uint64_t forgotten_ = 0;
  uint64_t doubles_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_MAJORITY_HEAP_H_
