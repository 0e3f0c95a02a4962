#include "replay/policies/schedule/shared/majority_heap.h"

#include <algorithm>

namespace heddle::replay {

MajorityHeap::MajorityHeap(const Setup& setup)
    : setup_(setup),
      lookup_sets_(setup.lut_entries / setup.lut_ways),
      lookup_(static_cast<size_t>(lookup_sets_) * setup.lut_ways),
      groups_(kMaxSlots + 1),
      members_(kMaxSlots) {
  for (int i = kMaxSlots + 1; i-- > 0;) free_.push_back(static_cast<GroupId>(i));
  heap_.reserve(std::min<size_t>(setup.heap_entries, kMaxSlots));
}

MajorityHeap::GroupId MajorityHeap::Find(Position at) {
  LookupEntry* const set = SetOf(at);
  for (LookupEntry* entry = set; entry != set + setup_.lut_ways; ++entry) {
    if (entry->group == kNone || groups_[entry->group].at != at) continue;
    entry->used = ++uses_;
    return entry->group;
  }
  return kNone;
}

uint32_t MajorityHeap::Insert(Position at, SlotId slot, uint32_t weight, uint64_t age) {
  const bool again = std::any_of(heap_.begin(), heap_.end(), [&](GroupId group) { return groups_[group].at == at; });
  doubles_ += again ? 1 : 0;
  const GroupId group = free_.back();
  free_.pop_back();
  groups_[group] = {.at = at, .age = age, .place = heap_.size()};
  heap_.push_back(group);
  EnterLookup(group);
  Link(group, slot, weight);
  return SiftUp(heap_.size() - 1);
}

uint32_t MajorityHeap::Add(GroupId group, SlotId slot, uint32_t weight) {
  Link(group, slot, weight);
  return groups_[group].place == kPopped ? 0 : SiftUp(groups_[group].place);
}

uint32_t MajorityHeap::Resize(SlotId slot, uint32_t weight) {
  const GroupId id = members_[slot].group;
  if (id == kNone) return 0;
  Group& group = groups_[id];
  group.weight = group.weight - members_[slot].weight + weight;
  members_[slot].weight = weight;
  if (group.place == kPopped) return 0;
  const uint32_t up = SiftUp(group.place);
  return up != 0 ? up : SiftDown(group.place);
}

uint32_t MajorityHeap::Remove(SlotId slot) {
  const Member member = members_[slot];
  if (member.group == kNone) return 0;
  Group& group = groups_[member.group];
  (member.previous == kNoSlot ? group.first : members_[member.previous].next) = member.next;
  (member.next == kNoSlot ? group.last : members_[member.next].previous) = member.previous;
  group.weight -= member.weight;
  members_[slot] = Member();
  if (group.place == kPopped) return 0;
  if (group.first != kNoSlot) return SiftDown(group.place);
  LeaveLookup(member.group);
  const uint32_t swaps = TakeOut(group.place);
  free_.push_back(member.group);
  return swaps;
}

uint32_t MajorityHeap::Pop(GroupId group) {
  LeaveLookup(group);
  const uint32_t swaps = TakeOut(groups_[group].place);
  groups_[group].place = kPopped;
  return swaps;
}

uint32_t MajorityHeap::Return(GroupId group) {
  groups_[group].place = heap_.size();
  heap_.push_back(group);
  EnterLookup(group);
  return SiftUp(heap_.size() - 1);
}

bool MajorityHeap::Above(GroupId a, GroupId b) const {
  const Group& x = groups_[a];
  const Group& y = groups_[b];
  if (x.weight != y.weight) return x.weight > y.weight;
  if (!setup_.ties_to_oldest && x.at != y.at) return x.at < y.at;
  return x.age < y.age;
}

uint32_t MajorityHeap::SiftUp(size_t place) {
  uint32_t swaps = 0;
  while (place != 0 && Above(heap_[place], heap_[(place - 1) / 2])) {
    Swap(place, (place - 1) / 2);
    place = (place - 1) / 2;
    ++swaps;
  }
  return swaps;
}

uint32_t MajorityHeap::SiftDown(size_t place) {
  uint32_t swaps = 0;
  while (true) {
    size_t best = place;
    for (const size_t child : {2 * place + 1, 2 * place + 2}) {
      if (child < heap_.size() && Above(heap_[child], heap_[best])) best = child;
    }
    if (best == place) return swaps;
    Swap(place, best);
    place = best;
    ++swaps;
  }
}

// The last entry takes the place, and is brought to where it belongs.
uint32_t MajorityHeap::TakeOut(size_t place) {
  const size_t last = heap_.size() - 1;
  if (place != last) Swap(place, last);
  heap_.pop_back();
  if (place >= heap_.size()) return 0;
  const uint32_t up = SiftUp(place);
  return up != 0 ? up : SiftDown(place);
}

void MajorityHeap::Swap(size_t a, size_t b) {
  std::swap(heap_[a], heap_[b]);
  groups_[heap_[a]].place = a;
  groups_[heap_[b]].place = b;
}

void MajorityHeap::Link(GroupId id, SlotId slot, uint32_t weight) {
  Group& group = groups_[id];
  members_[slot] = {group.last, kNoSlot, id, weight};
  (group.last == kNoSlot ? group.first : members_[group.last].next) = slot;
  group.last = slot;
  group.weight += weight;
}

void MajorityHeap::EnterLookup(GroupId group) {
  LookupEntry* const set = SetOf(groups_[group].at);
  LookupEntry* victim = set;
  for (LookupEntry* entry = set; entry != set + setup_.lut_ways; ++entry) {
    if (entry->group == kNone) {
      victim = entry;
      break;
    }
    if (entry->used < victim->used) victim = entry;
  }
  if (victim->group != kNone) ++forgotten_;
  *victim = {group, ++uses_};
}

void MajorityHeap::LeaveLookup(GroupId group) {
  LookupEntry* const set = SetOf(groups_[group].at);
  for (LookupEntry* entry = set; entry != set + setup_.lut_ways; ++entry) {
    if (entry->group == group) entry->group = kNone;
  }
}

}  // namespace heddle::replay
