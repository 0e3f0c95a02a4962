// The reconvergence stack of a group of threads that is wider than a warp: rows of warp-size threads each.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_LARGE_WARPS_LARGE_WARP_STACK_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_LARGE_WARPS_LARGE_WARP_STACK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// A set of the group's threads: per row the lanes. All masks of one stack have the same number of rows.
using RowMasks = std::vector<LaneMask>;

// Threads of a branch that go to the same place.
struct LargeWarpPath {
  Position at;
  RowMasks threads;
  bool taken = false;  // the taken side of a conditional branch
};

// Entries from the bottom to the top. Entries that were pushed together are disjoint; each is a subset of the one that
// waits for it. As long as nobody waits at a barrier or a matrix instruction only the top runs; these count threads, so
// while one entry waits at one, the next entry below that waits for nobody may run, as in a stack per warp.
class LargeWarpStack {
 public:
  enum class Status : uint8_t {
    kWaiting,    // all its threads are at `next`
    kRunning,    // its instruction is being issued or is in flight
    kAtBarrier,  // threads of it wait for others at their instruction, all others are done with it
  };
  struct Entry {
    Position next;  // kWaiting: where its threads go on; kRunning and kAtBarrier: their instruction
    Position rpc;   // reconvergence point; Exit() = none
    RowMasks threads;
    Status status = Status::kWaiting;
    int32_t tag = -1;  // the user's; -1 = none
  };

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  Entry& operator[](size_t index) { return entries_[index]; }
  const Entry& operator[](size_t index) const { return entries_[index]; }

  // One entry with these threads.
  void Reset(Position entry, const RowMasks& threads);
  // The topmost entry that holds the thread; size() if there is none.
  size_t Find(size_t row, LaneMask lane) const;
  // Takes ended threads out of all entries.
  void Exit(size_t row, LaneMask lanes);

  // Replaces the entry by one per path, to be run in this order: the taken side of a conditional branch first
  // (`taken_first`; the fall-through first otherwise), of a wide branch the lowest PC. Threads that are at the
  // reconvergence point already get no entry; they wait in the one below. `paths` ascend by position.
  void Diverge(size_t index, Position reconvergence, std::vector<LargeWarpPath>& paths, size_t count, bool taken_first);
  // Drops entries without threads, and those that have come to their reconvergence point and wait for nobody above.
  // False if there was none.
  bool PopReconverged();
  // The running entry; size() if there is none.
  size_t Running() const;
  // The entry with this tag; size() if there is none.
  size_t WithTag(int32_t tag) const;
  // The topmost waiting entry that waits for nobody above; size() if there is none or another entry runs.
  size_t Runnable() const;

  // "(next PC, reconvergence PC, threads)" from bottom to top.
  std::string Text() const;

 private:
  static bool Overlap(const RowMasks& a, const RowMasks& b);
  void Remove(size_t index);

  std::vector<Entry> entries_;
  std::vector<RowMasks> spare_;  // storage of entries that were removed
  mutable RowMasks above_;       // scratch
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_LARGE_WARPS_LARGE_WARP_STACK_H_
