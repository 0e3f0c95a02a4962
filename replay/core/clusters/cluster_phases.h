// How far the resident blocks of an SM are at the barriers of their clusters.
#ifndef HEDDLE_REPLAY_CORE_CLUSTERS_CLUSTER_PHASES_H_
#define HEDDLE_REPLAY_CORE_CLUSTERS_CLUSTER_PHASES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// By thread, in which phase it has arrived; by block, whether all have. No two phases of an SM have the same number, so
// that nothing is left of the block before.
class ClusterPhases {
 public:
  // Before anything else, where there are such barriers.
  void Resize(size_t blocks, size_t threads) {
    present_.resize(blocks);
    for (uint64_t& phase : present_) phase = ++latest_;
    complete_.resize(blocks, 0);
    arrived_in_.resize(threads, 0);
  }

  // Hardware threads; 0 where there are no such barriers.
  size_t threads() const { return arrived_in_.size(); }
  // Other threads come to these hardware threads: they have not arrived.
  void Admit(ThreadId first, uint32_t threads) {
    if (arrived_in_.empty()) return;
    std::fill_n(arrived_in_.begin() + first, threads, 0);
  }
  // A thread arrives, which counts once. Whether it counts.
  bool Arrive(BlockId block, ThreadId thread) {
    const bool first = !HasArrived(block, thread);
    arrived_in_[thread] = present_[block];
    return first;
  }
  // Whether the thread has arrived in the present phase of its block.
  bool HasArrived(BlockId block, ThreadId thread) const { return arrived_in_[thread] == present_[block]; }
  // Whether its cluster knows that the block's threads have all arrived.
  bool complete(BlockId block) const { return complete_[block] == present_[block]; }
  void Complete(BlockId block) { complete_[block] = present_[block]; }
  // The block's next phase begins.
  void Begin(BlockId block) { present_[block] = ++latest_; }
  // The block has left: what its barrier does is nothing to the next one in its place.
  void Forget(BlockId block) {
    if (present_.empty()) return;
    Begin(block);
    std::erase_if(openings_, [block](const Opening& opening) { return opening.block == block; });
  }

  // --- openings that other SMs have told of
  void AddOpening(BlockId block, Cycle at) { openings_.push_back({at, block}); }
  bool any_opening() const { return !openings_.empty(); }
  // Calls open(block) for those that opened before cycle `now`, in order of time.
  template <typename Function>
  void TakeOpenings(Cycle now, Function open) {
    std::stable_sort(openings_.begin(), openings_.end(),
                     [](const Opening& a, const Opening& b) { return a.at < b.at; });
    size_t due = 0;
    while (due != openings_.size() && openings_[due].at < now) open(openings_[due++].block);
    openings_.erase(openings_.begin(), openings_.begin() + static_cast<ptrdiff_t>(due));
  }
  // The cycle behind the next opening; kNever if there is none.
  Cycle NextRelease() const {
    Cycle next = kNever;
    for (const Opening& opening : openings_) next = std::min(next, opening.at + 1);
    return next;
  }

 private:
  struct Opening {
    Cycle at = 0;
    BlockId block = 0;
  };

  uint64_t latest_ = 0;
  std::vector<uint64_t> present_;     // by block: its phase
  std::vector<uint64_t> complete_;    // by block: the latest phase that is
  std::vector<uint64_t> arrived_in_;  // by thread: the phase of its latest arrival
  std::vector<Opening> openings_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_CLUSTERS_CLUSTER_PHASES_H_
