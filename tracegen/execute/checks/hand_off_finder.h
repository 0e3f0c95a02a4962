// Hand-offs within warps: values that threads pass through shared memory without the synchronization this needs.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_HAND_OFF_FINDER_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_HAND_OFF_FINDER_H_

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tracegen/execute/checks/shared_paths.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// Instruction that stores, and the one that loads, or that stores what the first one overwrites.
using HandOff = std::pair<trace::Pc, trace::Pc>;

// SharedMemoryCheck says what a hand-off is. Works on one warp and interval after the other.
class HandOffFinder {
 public:
  // `units`: places of a block's shared memory, at least. `constants`: by instruction a number that stands for the
  // constant that it stores, 0 = none is known; may be empty.
  HandOffFinder(uint32_t units, bool has_atomics, std::vector<uint32_t> constants);

  // Adds the hand-offs of a warp to what has been found. `looks_at_stores`: also those among intervals in which the
  // warp only stores.
  void Find(const SharedAccesses& accesses, uint32_t warp, bool looks_at_stores);

  // Number of loads, or of places stored over, by pair of instructions.
  const std::map<HandOff, uint64_t>& found() const { return found_; }
  void Add(const HandOff& hand_off, uint64_t count) { found_[hand_off] += count; }
  void Clear() { found_.clear(); }

 private:
  struct Access {
    uint64_t order = 0;
    SharedUnits units;
    trace::Pc pc = 0;
    AccessKind::Value kind = AccessKind::kLoad;
  };
  // The latest instruction of a kind that accessed a place, and the lanes of the warp that ran it together.
  struct Latest {
    uint32_t step = 0;
    trace::Pc pc = 0;
    uint32_t lanes = 0;
    void Add(uint32_t at, trace::Pc by, uint32_t lane) {
      if (at != step) lanes = 0;
      step = at;
      pc = by;
      lanes |= lane;
    }
    bool IsOfOthers(uint32_t lane) const { return lanes != 0 && (lanes & lane) == 0; }
  };
  // The latest access of a kind, and the latest one by another lane than that one's.
  struct LatestTwo {
    trace::Pc pc = 0;
    trace::Pc other_pc = 0;
    uint8_t lane = 0;  // 1 + number, as are all here; 0: there is none
    uint8_t other_lane = 0;
    void Add(trace::Pc by, uint8_t of) {
      if (of != lane) {
        other_pc = pc;
        other_lane = lane;
      }
      pc = by;
      lane = of;
    }
    // The latest one by another lane than `self`; null if there is none.
    const trace::Pc* ByOther(uint8_t self) const {
      if (lane != self) return lane != 0 ? &pc : nullptr;
      return other_lane != 0 ? &other_pc : nullptr;
    }
  };
  // Of one warp and interval. Atomics are apart, as few kernels have some.
  struct Place {
    uint32_t stamp = 0;
    Latest store;
    LatestTwo load;
  };
  struct AtomicPlace {
    uint32_t stamp = 0;
    Latest latest;
    LatestTwo of_lanes;
  };
  // What a place's latest store was before that of the present step.
  struct Overwritten {
    uint32_t unit = 0;
    trace::Pc pc = 0;
    uint32_t lanes = 0;
  };

  // Of the spans span_of_lane_ of one interval.
  void FindInInterval(const SharedAccesses& accesses, uint32_t warp);
  // If all threads take the same steps, all of them in shared memory. False: nothing was done.
  bool FindInStep(const SharedAccesses& accesses, uint32_t warp);
  // Whether units_ of one step after the other, `lanes` of each, lie apart, as far as their bounds tell.
  bool StepsLieApart(uint32_t lanes) const;
  // The accesses of one step: first all lanes, then its end.
  void Touch(uint32_t lane, trace::Pc pc, AccessKind::Value kind, SharedUnits units);
  void EndStep();
  void BeginInterval();
  // The place, as new if it has not been touched in this interval.
  template <typename P>
  P& At(std::vector<P>& places, uint32_t unit) const {
    P& place = places[unit];
    if (place.stamp != stamp_) {
      place = P();
      place.stamp = stamp_;
    }
    return place;
  }
  bool StoreTheSame(trace::Pc a, trace::Pc b) const {
    return !constants_.empty() && constants_[a] != 0 && constants_[a] == constants_[b];
  }

  const std::vector<uint32_t> constants_;
  // One warp: null, or the lane's steps in the interval that is looked at.
  std::array<const SharedSpan*, kWarpWidth> span_of_lane_ = {};
  std::array<std::vector<Access>, kWarpWidth> lanes_;
  std::vector<SharedUnits> units_;
  uint32_t stamp_ = 0;
  uint32_t step_ = 0;  // of the interval
  std::vector<Place> places_;
  std::vector<AtomicPlace> atomic_places_;  // empty if the program has none
  std::vector<Overwritten> overwritten_;    // in the present step
  std::map<HandOff, uint64_t> found_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_HAND_OFF_FINDER_H_
