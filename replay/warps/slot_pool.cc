#include "replay/warps/slot_pool.h"

namespace heddle::replay {

SlotId SlotPool::Take() {
  const SlotId slot = free_.First();
  if (slot == kNoSlot) return kNoSlot;
  free_.Erase(slot);
  ++table_.live;
  table_.stop[slot] = Position::Exit();
  table_.formed[slot] = ++formed_sequence_;
  table_.ages.Add(slot);
  table_.port[slot] = static_cast<uint8_t>(slot % ports_);
  if (continued_.is) {
    table_.formed[slot] = continued_.age;
    table_.ages.Move(slot, table_.entries);
    table_.port[slot] = continued_.port;
    continued_.is = false;
  }
  table_.priority[slot] = 0;
  table_.group[slot] = 0;
  if (slot >= table_.lanes.size()) table_.lanes.resize(size_t{slot} + 1);
  table_.lanes[slot].mask = 0;
  return slot;
}

void SlotPool::Return(SlotId slot) {
  table_.state[slot] = SlotState::kFree;
  table_.lanes[slot].mask = 0;
  --table_.live;
  table_.ages.Remove(slot);
  free_.Insert(slot);
}

}  // namespace heddle::replay
