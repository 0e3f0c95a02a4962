// The tail of thread blocks: from the first warp's exit to the last one's.
#ifndef HEDDLE_REPLAY_STATS_BLOCK_TAILS_H_
#define HEDDLE_REPLAY_STATS_BLOCK_TAILS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "replay/seams/types.h"
#include "replay/stats/mean_share.h"

namespace heddle::replay {

// The share of the tail (DWR of the virtual-warp paper, Anantpur and Govindarajan) in a block's time, averaged over all
// blocks of a launch but the last `resident` ones that finish. Blocks may come in any order of time.
class BlockTails {
 public:
  // `resident`: blocks that the machine holds at once.
  explicit BlockTails(uint64_t resident) : resident_(resident) {}

  // A block was retired in cycle `retired` on that SM. Its warps took `least` to `most` cycles; if `most` is 0, the
  // block has no tail and does not count.
  void Add(Cycle retired, uint32_t sm, Cycle least, Cycle most) {
    Late late{retired, sm, sequence_++, kNoTail};
    if (most != 0) late.tail_ppb = MeanShare::PartsPerBillion(most - least, most);
    late_.push_back(late);
    std::push_heap(late_.begin(), late_.end(), Later);
    if (late_.size() <= resident_) return;
    std::pop_heap(late_.begin(), late_.end(), Later);
    if (late_.back().tail_ppb != kNoTail) early_.AddPartsPerBillion(late_.back().tail_ppb);
    late_.pop_back();
  }

  // Of the blocks so far that were not among the last: per block, 1 - shortest / longest warp.
  const MeanShare& early() const { return early_; }

 private:
  struct Late {
    Cycle retired = 0;
    uint32_t sm = 0;
    uint64_t sequence = 0;  // of the call
    uint64_t tail_ppb = 0;  // kNoTail: it has none
  };
  static constexpr uint64_t kNoTail = ~uint64_t{0};

  // Of the same cycle, blocks of the lower SM finished first.
  static bool Later(const Late& a, const Late& b) {
    return std::tie(a.retired, a.sm, a.sequence) > std::tie(b.retired, b.sm, b.sequence);
  }

  const size_t resident_;
  std::vector<Late> late_;  // the blocks that finished last, at most `resident_`: a heap, the first of them on top
  uint64_t sequence_ = 0;
  MeanShare early_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_STATS_BLOCK_TAILS_H_
