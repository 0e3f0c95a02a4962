// Which warp slots have threads of which row of warp-size hardware threads.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_WARP_ROWS_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_WARP_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "replay/core/ibuffer/warp_entry.h"
#include "replay/seams/types.h"

namespace heddle::replay {

class WarpRows {
 public:
  static constexpr uint8_t kNoPort = 0xff;
  // Half a line of the host's cache.
  struct alignas(32) Row {
    uint32_t results_due = 0;              // instructions with a result to come, once for each of their rows
    SlotId only = kNoSlot;                 // the slot, if there is exactly one in `slots`
    uint8_t exited_port = kNoPort;         // that its exited warp counts for
    absl::InlinedVector<SlotId, 8> slots;  // with threads of the row, ascending, if they are listed; mostly one
  };

  // `listed`: rows list their slots. It is needed where there is a scoreboard.
  WarpRows(uint32_t rows, size_t slots, uint32_t warp_size, bool listed)
      : rows_(rows), slots_(slots), warp_size_(warp_size), listed_(listed) {}

  Row& operator[](uint32_t row) { return rows_[row]; }
  const Row& operator[](uint32_t row) const { return rows_[row]; }

  // The slot has other threads: works out the entry's row and lanes, and lists it anew.
  void Locate(SlotId slot, const Lanes& lanes, WarpEntry& warp);
  // Calls function(row, lanes) for every row that the slot has threads of.
  template <typename Function>
  void ForEach(SlotId slot, const WarpEntry& warp, Function function) const {
    if (warp.row != kMixedRows) {
      function(warp.row, warp.own);
    } else {
      for (const RowLanes& one : mixed_[slot]) function(one.row, one.lanes);
    }
  }
  // The rows of a slot whose threads are of several.
  const std::vector<RowLanes>& mixed(SlotId slot) const { return mixed_[slot]; }

 private:
  // The slot is in no row's list any more.
  void Leave(SlotId slot, const WarpEntry& warp);
  // After a change of `slots`.
  static void NoteOnly(Row& row) { row.only = row.slots.size() == 1 ? row.slots.front() : kNoSlot; }

  std::vector<Row> rows_;
  std::vector<std::vector<RowLanes>> mixed_;  // by slot, if of several rows; none as long as no slot is
  const size_t slots_;
  const uint32_t warp_size_;
  const bool listed_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_WARP_ROWS_H_
