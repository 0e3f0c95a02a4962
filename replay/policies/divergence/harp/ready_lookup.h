// The Ready-Lookup table of a HARP scheduler.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_READY_LOOKUP_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_READY_LOOKUP_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/policies/divergence/harp/harp_counters.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_editor.h"

namespace heddle::replay {

// Diverged warps, parked, which threads that come to the same PC may still join (HARP, section 4.2.1). First in, first
// out; with `restamp`, a merge makes a warp the youngest.
class ReadyLookup {
 public:
  ReadyLookup(size_t entries, bool restamp, HarpCounters& counters)
      : entries_(entries), restamp_(restamp), counters_(counters) {}

  // Unassigned threads at `at`, in `left`, join warps of the table at their PC and of their block where their lanes are
  // free. Returns those that found none.
  Lanes Merge(Position at, BlockId block, Lanes left, WarpEditor& editor) {
    const WarpTable& table = editor.table();
    merged_.clear();
    for (const SlotId entry : warps_) {
      Lanes fit = left;
      fit.mask &= ~table.lanes[entry].mask;
      if (table.position[entry] != at || table.block[entry] != block || fit.mask == 0) continue;
      editor.Join(entry, fit);
      left.mask &= ~fit.mask;
      merged_.push_back(entry);
      counters_.Count(kReadyMerges);
      counters_.Count(kReadyThreadsMerged, static_cast<uint64_t>(std::popcount(fit.mask)));
    }
    if (restamp_) {
      for (const SlotId entry : merged_) {
        warps_.erase(std::find(warps_.begin(), warps_.end(), entry));
        warps_.push_back(entry);
      }
    }
    return left;
  }

  bool full() const { return warps_.size() >= entries_; }
  bool empty() const { return warps_.empty(); }
  size_t size() const { return warps_.size(); }
  // A parked warp enters; the table must not be full.
  void Push(SlotId slot) {
    warps_.push_back(slot);
    counters_.Raise(kMaxReadyLookup, warps_.size());
  }
  // Takes out the oldest warp; the table must not be empty.
  SlotId Pop() {
    const SlotId slot = warps_.front();
    warps_.erase(warps_.begin());
    return slot;
  }

 private:
  const size_t entries_;
  const bool restamp_;
  HarpCounters& counters_;
  std::vector<SlotId> warps_;   // the oldest first
  std::vector<SlotId> merged_;  // scratch
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_READY_LOOKUP_H_
