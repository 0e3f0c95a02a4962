// Instructions between issue and result.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_IN_FLIGHT_TABLE_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_IN_FLIGHT_TABLE_H_

#include <cstdint>
#include <vector>

#include "replay/core/ibuffer/warp_entry.h"
#include "replay/seams/types.h"

namespace heddle::replay {

struct InFlightEntry {
  LaneMask outstanding = 0;        // lanes whose results are not there yet
  LaneMask owners = ~LaneMask{0};  // lanes of `hw_warp` for whose threads its writes are pending
  SlotId slot = kNoSlot;           // that issued it
  uint16_t hw_warp = 0;            // of its threads; kMixedHwWarps: see InFlightTable::hw_warps
  Pc pc = 0;
  bool holds = false;     // the slot is in flight until the result
  bool inserted = false;  // not in the trace
  bool writes = false;    // holds registers in the scoreboard
  bool store = false;     // is in the scoreboard's list of stores
  bool unacknowledged = false;
  bool beyond_shared = false;
  bool off_core = false;
};

// Numbers them; the lowest that was given back last is used next.
class InFlightTable {
 public:
  InFlightEntry& operator[](uint32_t id) { return entries_[id]; }
  const InFlightEntry& operator[](uint32_t id) const { return entries_[id]; }
  uint32_t Add() {
    ++size_;
    if (free_.empty()) {
      entries_.emplace_back();
      hw_warps_.emplace_back();
      return static_cast<uint32_t>(entries_.size() - 1);
    }
    const uint32_t id = free_.back();
    free_.pop_back();
    entries_[id] = InFlightEntry();
    return id;
  }
  void Remove(uint32_t id) {
    --size_;
    free_.push_back(id);
  }
  // Hardware warps of an instruction whose threads are of several.
  std::vector<HwWarpLanes>& hw_warps(uint32_t id) { return hw_warps_[id]; }
  // The threads of an instruction, by lane, if somebody has kept them.
  void KeepThreads(uint32_t id, const Lanes& lanes) {
    if (threads_.size() <= id) threads_.resize(entries_.size());
    threads_[id] = lanes;
  }
  const Lanes& threads(uint32_t id) const { return threads_[id]; }
  uint64_t size() const { return size_; }

 private:
  std::vector<InFlightEntry> entries_;
  std::vector<std::vector<HwWarpLanes>> hw_warps_;
  std::vector<Lanes> threads_;
  std::vector<uint32_t> free_;
  uint64_t size_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_IN_FLIGHT_TABLE_H_
