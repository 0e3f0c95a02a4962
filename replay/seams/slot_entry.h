// What belongs to one warp slot, kept side by side.
#ifndef HEDDLE_REPLAY_SEAMS_SLOT_ENTRY_H_
#define HEDDLE_REPLAY_SEAMS_SLOT_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// What every issue reads or changes of its slot, in half a line of the host's cache: that has mostly forgotten the SM
// since its last turn, and every column of a table of its own would be a line more.
struct alignas(32) SlotEntry {
  Position position = Position::Exit();
  Position stop = Position::Exit();
  uint64_t formed = 0;
  uint64_t offered_at = 0;
};

// A member of all entries, which reads like a vector by slot. The entries must stay where they are.
template <typename T, T SlotEntry::* kMember>
class SlotColumn {
 public:
  explicit SlotColumn(std::vector<SlotEntry>& entries) : entries_(entries.data()), size_(entries.size()) {}

  T& operator[](size_t slot) { return entries_[slot].*kMember; }
  const T& operator[](size_t slot) const { return entries_[slot].*kMember; }
  size_t size() const { return size_; }

 private:
  SlotEntry* entries_;
  size_t size_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_SLOT_ENTRY_H_
