// The warp compaction unit of block-wide mechanisms: a block's active threads into the fewest warps, every thread in
// its home lane (Rhu and Erez, CAPRI, section 2.2 and Figure 3).
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_WARP_COMPACTION_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_WARP_COMPACTION_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/policies/divergence/shared/thread_set.h"
#include "replay/seams/lane_mask.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// One priority encoder per lane: warp k takes the k-th active thread of every lane, in ascending order of threads. So
// the number of warps is the largest number of active threads in a lane, and the threads of whole static warps come out
// as these static warps.
class WarpCompactor {
 public:
  // Compacts the threads of `threads` that are not in `apart`. `first_thread` is the block's first hardware thread.
  // The result is good until the next call.
  const std::vector<Lanes>& Compact(const ThreadSet& threads, const ThreadSet& apart, ThreadId first_thread,
                                    int warp_size) {
    warps_.clear();
    const LaneMask every = warp_size == kMaxLanes ? ~LaneMask{0} : (LaneMask{1} << warp_size) - 1;
    size_t open = 0;  // warps before this one have all lanes taken
    for (size_t static_warp = 0; static_warp < threads.static_warps(); ++static_warp) {
      LaneMask left = threads[static_warp] & ~apart[static_warp];
      for (size_t warp = open; left != 0; ++warp) {
        if (warp == warps_.size()) warps_.emplace_back().mask = 0;
        Lanes& lanes = warps_[warp];
        const LaneMask fits = left & ~lanes.mask;
        ForEachLane(fits, [&](int lane) {
          lanes.thread[static_cast<size_t>(lane)] = static_cast<ThreadId>(
              first_thread + static_warp * static_cast<size_t>(warp_size) + static_cast<size_t>(lane));
        });
        lanes.mask |= fits;
        left &= ~fits;
      }
      while (open < warps_.size() && warps_[open].mask == every) ++open;
    }
    return warps_;
  }

 private:
  std::vector<Lanes> warps_;
};

// What the adequacy predictor beside the compaction unit counts (CAPRI, section 3.3 and Figure 8): the active threads
// of each lane over the masks of all warps, and the warps whose mask is not empty.
class LaneCounts {
 public:
  void Clear() { *this = LaneCounts(); }
  // One warp with this mask before compaction; an empty mask counts for nothing.
  void Add(LaneMask lanes) {
    active_ += lanes != 0 ? 1 : 0;
    ForEachLane(lanes, [&](int lane) { needed_ = std::max<uint32_t>(needed_, ++counts_[static_cast<size_t>(lane)]); });
  }
  // Warps with threads before compaction.
  uint32_t active() const { return active_; }
  // Warps after a compaction in which all of them take part.
  uint32_t needed() const { return needed_; }
  uint32_t of_lane(int lane) const { return counts_[static_cast<size_t>(lane)]; }

 private:
  uint32_t active_ = 0;
  uint32_t needed_ = 0;
  std::array<uint16_t, kMaxLanes> counts_{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_WARP_COMPACTION_H_
