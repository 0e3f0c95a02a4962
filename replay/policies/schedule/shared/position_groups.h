// Waiting warps by position: what DWF's priorities look at.
#ifndef HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_POSITION_GROUPS_H_
#define HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_POSITION_GROUPS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// The slots that wait at one position, with running counts; nothing is searched but the list of live groups, which is
// as long as there are different positions in the pool.
class PositionGroups {
 public:
  using GroupId = uint16_t;
  static constexpr GroupId kNoGroup = 0xffff;

  struct Group {
    Position at;
    uint32_t threads = 0;
    uint32_t warps = 0;
    SlotId oldest = kNoSlot;  // a list from the slot that was added first to the latest
    SlotId latest = kNoSlot;
    GroupId next = kNoGroup;  // another group at the same PC, at another call depth
    uint16_t place = 0;       // in live()
  };

  explicit PositionGroups(uint32_t instructions)
      : slots_(kMaxSlots), groups_(kMaxSlots), by_pc_(instructions, kNoGroup) {
    for (int i = kMaxSlots; i-- > 0;) free_.push_back(static_cast<GroupId>(i));
    live_.reserve(kMaxSlots);
  }

  // Groups that hold a slot, in no particular order.
  std::span<const GroupId> live() const { return live_; }
  const Group& group(GroupId id) const { return groups_[id]; }
  // The group that a slot is in, kNoGroup if it is in none.
  GroupId group_of(SlotId slot) const { return slots_[slot].group; }
  // The group at a position, kNoGroup if no slot waits there.
  GroupId Find(Position at) const {
    GroupId id = by_pc_[at.pc()];
    while (id != kNoGroup && groups_[id].at != at) id = groups_[id].next;
    return id;
  }
  // The oldest slot of the group that is in `set`, kNoSlot if there is none.
  SlotId FirstIn(GroupId id, const SlotSet& set) const {
    SlotId slot = groups_[id].oldest;
    while (slot != kNoSlot && !set.Contains(slot)) slot = slots_[slot].next;
    return slot;
  }

  // Adds a slot that is in no group.
  void Add(SlotId slot, Position at, uint32_t threads) {
    GroupId id = Find(at);
    if (id == kNoGroup) id = NewGroup(at);
    Group& group = groups_[id];
    slots_[slot] = {group.latest, kNoSlot, id, threads};
    if (group.latest == kNoSlot) {
      group.oldest = slot;
    } else {
      slots_[group.latest].next = slot;
    }
    group.latest = slot;
    group.threads += threads;
    ++group.warps;
  }

  // The slot holds `threads` threads now.
  void Resize(SlotId slot, uint32_t threads) {
    if (slots_[slot].group == kNoGroup) return;
    Group& group = groups_[slots_[slot].group];
    group.threads = group.threads - slots_[slot].threads + threads;
    slots_[slot].threads = threads;
  }

  // Does nothing to a slot that is in no group.
  void Remove(SlotId slot) {
    const Member member = slots_[slot];
    if (member.group == kNoGroup) return;
    Group& group = groups_[member.group];
    (member.previous == kNoSlot ? group.oldest : slots_[member.previous].next) = member.next;
    (member.next == kNoSlot ? group.latest : slots_[member.next].previous) = member.previous;
    group.threads -= member.threads;
    slots_[slot].group = kNoGroup;
    if (--group.warps == 0) FreeGroup(member.group);
  }

 private:
  struct Member {
    SlotId previous = kNoSlot;
    SlotId next = kNoSlot;
    GroupId group = kNoGroup;
    uint32_t threads = 0;
  };

  GroupId NewGroup(Position at) {
    const GroupId id = free_.back();
    free_.pop_back();
    groups_[id] = {.at = at, .next = by_pc_[at.pc()], .place = static_cast<uint16_t>(live_.size())};
    by_pc_[at.pc()] = id;
    live_.push_back(id);
    return id;
  }

  void FreeGroup(GroupId id) {
    GroupId* link = &by_pc_[groups_[id].at.pc()];
    while (*link != id) link = &groups_[*link].next;
    *link = groups_[id].next;
    const GroupId last = live_.back();
    live_[groups_[id].place] = last;
    groups_[last].place = groups_[id].place;
    live_.pop_back();
    free_.push_back(id);
  }

  std::vector<Member> slots_;
  std::vector<Group> groups_;
  std::vector<GroupId> by_pc_;  // first group at a PC
  std::vector<GroupId> live_;
  std::vector<GroupId> free_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_POSITION_GROUPS_H_
