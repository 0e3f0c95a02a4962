// The warp compaction unit of an SM, and the time that it takes.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_COMPACTION_UNIT_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_COMPACTION_UNIT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/policies/divergence/block_wide/stack_entry.h"
#include "replay/policies/divergence/block_wide/warp_compaction.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Forms one warp after the other, for all blocks of the SM in the order in which they come.
class CompactionUnit {
 public:
  // A compacted warp on its way out.
  struct Compacted {
    StackEntryId entry = 0;
    KeptWarp warp;
  };

  // `cycles_per_warp` 0: all at once.
  explicit CompactionUnit(int64_t cycles_per_warp) : cycles_per_warp_(static_cast<Cycle>(cycles_per_warp)) {}

  bool takes_time() const { return cycles_per_warp_ != 0; }

  // The threads of the entry that are not apart as the fewest warps; see WarpCompactor.
  const std::vector<Lanes>& Compact(const StackEntry& entry, ThreadId first_thread, int warp_size) {
    return compactor_.Compact(entry.threads, entry.apart, first_thread, warp_size);
  }

  // The unit forms a warp. Returns the cycle in which it comes out; call Pop then.
  Cycle Push(StackEntryId entry, const KeptWarp& warp, Cycle now) {
    free_ = std::max(free_, now) + cycles_per_warp_;
    queue_.push_back({entry, warp});
    return free_;
  }
  // The next warp comes out.
  Compacted Pop() {
    const Compacted compacted = queue_[first_++];
    if (2 * first_ >= queue_.size()) {  // at once if it is empty, and never more than twice what it holds
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<ptrdiff_t>(first_));
      first_ = 0;
    }
    return compacted;
  }

 private:
  const Cycle cycles_per_warp_;
  WarpCompactor compactor_;
  Cycle free_ = 0;  // the unit gives out its last warp in this cycle
  std::vector<Compacted> queue_;
  size_t first_ = 0;  // of the queue
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_COMPACTION_UNIT_H_
