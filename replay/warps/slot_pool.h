// Which warp slots of one SM are free, and how a new warp begins.
#ifndef HEDDLE_REPLAY_WARPS_SLOT_POOL_H_
#define HEDDLE_REPLAY_WARPS_SLOT_POOL_H_

#include <cstdint>

#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_table.h"

namespace heddle::replay {

// Always gives the smallest free slot. Keeps the warp table's `formed`, `ages` and `live`.
class SlotPool {
 public:
  SlotPool(WarpTable& table, int ports) : table_(table), ports_(ports) {
    for (size_t slot = 0; slot < table.state.size(); ++slot) free_.Insert(static_cast<SlotId>(slot));
  }

  // The next slot that is taken continues a warp that has run before: it takes that warp's age and port.
  void ContinueWarp(uint64_t age, uint8_t port) { continued_ = {true, port, age}; }
  // A slot without threads, which is the youngest; kNoSlot if all are taken. It still has to get a state.
  SlotId Take();
  // The slot has no threads any more.
  void Return(SlotId slot);

 private:
  struct Continued {
    bool is = false;
    uint8_t port = 0;
    uint64_t age = 0;
  };

  WarpTable& table_;
  const int ports_;
  SlotSet free_;
  Continued continued_;  // what the next slot takes over
  uint64_t formed_sequence_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_WARPS_SLOT_POOL_H_
