// The slots of one SM that may be issued, by port and priority.
#ifndef HEDDLE_REPLAY_WARPS_OFFERED_SLOTS_H_
#define HEDDLE_REPLAY_WARPS_OFFERED_SLOTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_table.h"

namespace heddle::replay {

// Keeps the warp table's `offered`, `offered_at` and `priority`, and the sets by port.
class OfferedSlots {
 public:
  OfferedSlots(WarpTable& table, int ports) : table_(table), by_port_(ports > 1 ? static_cast<size_t>(ports) : 0) {}

  void Insert(SlotId slot) {
    table_.offered.Insert(slot);
    if (!by_port_.empty()) by_port_[table_.port[slot]].Insert(slot);
    prioritised_ += table_.priority[slot] != 0;
    Renew(slot);
  }
  void Erase(SlotId slot) {
    table_.offered.Erase(slot);
    if (!by_port_.empty()) by_port_[table_.port[slot]].Erase(slot);
    prioritised_ -= table_.priority[slot] != 0;
  }
  // The slot is offered anew.
  void Renew(SlotId slot) { table_.offered_at[slot] = ++sequence_; }

  // Insert or Erase for `count` slots of one port: slot(i) for i from 0 to count - 1, and does what else has to be done
  // for it. Priorities are counted apart.
  template <typename Slot>
  [[gnu::always_inline]] void InsertTogether(uint8_t port, size_t count, Slot slot) {
    SlotSet* const of_port = by_port_.empty() ? nullptr : &by_port_[port];
    SlotEntry* const entries = table_.entries.data();
    const uint64_t first = sequence_ + 1;
    ForEachWord(
        count,
        [&](size_t i) {
          const SlotId one = slot(i);
          entries[one].offered_at = first + i;
          return one;
        },
        [&](uint32_t word, uint64_t bits) {
          table_.offered.InsertBits(word, bits);
          if (of_port != nullptr) of_port->InsertBits(word, bits);
        });
    sequence_ += count;
  }
  template <typename Slot>
  [[gnu::always_inline]] void EraseTogether(uint8_t port, size_t count, Slot slot) {
    SlotSet* const of_port = by_port_.empty() ? nullptr : &by_port_[port];
    ForEachWord(count, slot, [&](uint32_t word, uint64_t bits) {
      table_.offered.EraseBits(word, bits);
      if (of_port != nullptr) of_port->EraseBits(word, bits);
    });
  }
  // The slots have been inserted (1) or erased (-1) together.
  void CountPriorities(std::span<const SlotId> slots, int sign) {
    if (!priorities_) return;
    for (const SlotId slot : slots) prioritised_ += table_.priority[slot] != 0 ? sign : 0;
  }
  void SetPriority(SlotId slot, uint8_t priority) {
    if (table_.state[slot] == SlotState::kOffered) prioritised_ += (priority != 0) - (table_.priority[slot] != 0);
    table_.priority[slot] = priority;
    priorities_ |= priority != 0;
  }

  // The offered slots of the port.
  const SlotSet& of(int port) const { return by_port_.empty() ? table_.offered : by_port_[static_cast<size_t>(port)]; }
  // Whether some offered slot has a priority above 0.
  bool prioritised() const { return prioritised_ != 0; }
  // The members of `slots` with the highest priority among them. The reference is good until the next call.
  const SlotSet& HighestPriority(const SlotSet& slots) {
    uint8_t highest = 0;
    slots.ForEach([&](SlotId slot) { highest = std::max(highest, table_.priority[slot]); });
    highest_.Clear();
    slots.ForEach([&](SlotId slot) {
      if (table_.priority[slot] == highest) highest_.Insert(slot);
    });
    return highest_;
  }

 private:
  // Calls slot(i) for i from 0 to count - 1, and apply(word, bits) for the slots that it returns: neighbours mostly
  // share a word of a SlotSet.
  template <typename Slot, typename Apply>
  [[gnu::always_inline]] static void ForEachWord(size_t count, Slot slot, Apply apply) {
    uint32_t word = 0;
    uint64_t bits = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t number = slot(i);
      if (number >> 6 != word) {
        if (bits != 0) apply(word, bits);
        word = number >> 6;
        bits = 0;
      }
      bits |= uint64_t{1} << (number & 63);
    }
    if (bits != 0) apply(word, bits);
  }

  int prioritised_ = 0;      // offered slots with a priority above 0
  bool priorities_ = false;  // some slot has ever had a priority above 0
  uint64_t sequence_ = 0;    // of offers
  WarpTable& table_;
  std::vector<SlotSet> by_port_;  // only with several ports
  SlotSet highest_;               // what HighestPriority returns
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_WARPS_OFFERED_SLOTS_H_
