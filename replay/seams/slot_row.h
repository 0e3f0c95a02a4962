// What belongs to one warp slot, kept side by side.
#ifndef HEDDLE_REPLAY_SEAMS_SLOT_ROW_H_
#define HEDDLE_REPLAY_SEAMS_SLOT_ROW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// What every issue reads or changes of its slot, in half a line of the host's cache: that has mostly forgotten the SM
// since its last turn, and every column of a table of its own would be a line more.
struct alignas(32) SlotRow {
  Position position = Position::Exit();
  Position stop = Position::Exit();
  uint64_t formed = 0;
  uint64_t offered_at = 0;
};

// A member of all rows, which reads like a vector by slot. The rows must stay where they are.
template <typename T, T SlotRow::* kMember>
class SlotColumn {
 public:
  explicit SlotColumn(std::vector<SlotRow>& rows) : rows_(rows.data()), size_(rows.size()) {}

  T& operator[](size_t slot) { return rows_[slot].*kMember; }
  const T& operator[](size_t slot) const { return rows_[slot].*kMember; }
  size_t size() const { return size_; }

 private:
  SlotRow* rows_;
  size_t size_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_SLOT_ROW_H_
