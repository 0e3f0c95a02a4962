#include "replay/memory/dram/dram_request_queue.h"

namespace heddle::replay {

DramRequestQueue::DramRequestQueue(uint32_t banks, uint32_t expected) : lists_(banks) { pool_.reserve(expected); }

void DramRequestQueue::Push(uint32_t list, const DramRequest& request, uint64_t arrival) {
  uint32_t index = free_;
  if (index == kNone) {
    index = pool_.size();
    pool_.emplace_back();
  } else {
    free_ = pool_[index].next;
  }
  pool_[index] = {.request = request, .arrival = arrival, .passed = 0, .next = kNone};
  List& to = lists_[list];
  if (to.first == kNone) {
    to.first = index;
    waiting_ |= uint64_t{1} << list;
  } else {
    pool_[to.last].next = index;
  }
  to.last = index;
  ++size_;
}

DramQueueEntry DramRequestQueue::Take(uint32_t list, uint32_t before) {
  List& from = lists_[list];
  uint32_t& link = before == kNone ? from.first : pool_[before].next;
  const uint32_t index = link;
  DramQueueEntry& entry = pool_[index];
  link = entry.next;
  if (from.last == index) from.last = before;
  if (from.first == kNone) waiting_ &= ~(uint64_t{1} << list);
  entry.next = free_;
  free_ = index;
  --size_;
  return entry;
}

DramQueueEntry DramRequestQueue::TakeFirstReady(uint32_t list, uint32_t row, uint32_t cap, bool& capped) {
  capped = false;
  uint32_t before = kNone;
  uint32_t index = lists_[list].first;
  while (index != kNone && pool_[index].request.row != row) {
    before = index;
    index = pool_[index].next;
  }
  if (index == kNone) return TakeOldest(list);
  if (before != kNone) {
    // An older request of a bank has been passed at least as often as a younger one: the oldest is first to reach the
    // cap.
    if (cap != 0 && Oldest(list).passed >= cap) {
      capped = true;
      return TakeOldest(list);
    }
    for (uint32_t older = lists_[list].first; older != index; older = pool_[older].next) ++pool_[older].passed;
  }
  return Take(list, before);
}

}  // namespace heddle::replay
