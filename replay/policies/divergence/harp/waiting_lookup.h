// The Waiting-Lookup table of a HARP scheduler.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_WAITING_LOOKUP_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_WAITING_LOOKUP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/policies/divergence/harp/harp_counters.h"
#include "replay/policies/divergence/harp/harp_options.h"
#include "replay/seams/lane_mask.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_table.h"

namespace heddle::replay {

// Threads of warps that execute the same memory instruction are gathered here, and go on together when the accesses of
// all of them are done (HARP, section 4.2.1). A warp in flight may have shares in several entries, and threads of its
// own that found none.
class WaitingLookup {
 public:
  WaitingLookup(const HarpOptions& options, HarpCounters& counters)
      : whole_warps_(options.whole_warps), counters_(counters), entries_(options.waiting_lookup) {}

  // The slot issues a memory instruction. Its threads join warps of the table that execute the same one, where their
  // lanes are free. The others have an entry of their own if there is one left, and else wait as they are.
  void Enter(SlotId slot, const WarpTable& table);

  // Whether some of the slot's threads are in the table.
  bool Holds(SlotId slot) const { return slot < shares_.size() && !shares_[slot].empty(); }
  // The accesses of the slot, which has these lanes, are done. If it has been alone in its entry, it leaves, and goes
  // on as it is: true. If not, nothing happens; then call Leave.
  bool LeaveAlone(SlotId slot, LaneMask lanes);
  // The slot's threads leave it for the entries in which they are. Calls waits(mask) for those whose entry is not
  // complete yet, complete(threads) for the threads of an entry that is, which is free from now on; entry by entry.
  // Returns the lanes that are in no entry.
  template <typename Waits, typename Complete>
  LaneMask Leave(SlotId slot, const Lanes& lanes, Waits waits, Complete complete) {
    std::vector<Share>& shares = shares_[slot];
    const LaneMask own = OwnOf(slot, lanes.mask);
    if (own == 0) --warps_;
    for (const Share& share : shares) {
      Entry& entry = entries_[share.entry];
      entry.gathered.mask |= share.lanes;
      ForEachLane(share.lanes, [&](int lane) { entry.gathered.thread[lane] = lanes.thread[lane]; });
      if (--entry.pending != 0) {
        waits(share.lanes);
        continue;
      }
      const Lanes gathered = entry.gathered;
      Free(share.entry);
      complete(gathered);
    }
    shares.clear();
    return own;
  }

  // Warps in flight all of whose threads are in the table.
  int warps() const { return warps_; }

 private:
  struct Entry {
    Position at;  // the memory instruction
    BlockId block = 0;
    LaneMask members = 0;
    int pending = 0;  // warps with threads in it whose accesses are outstanding; 0: the entry is free
    Lanes gathered;   // threads whose accesses are done
  };
  // What a warp in flight has in the table.
  struct Share {
    uint32_t entry = 0;
    LaneMask lanes = 0;
  };

  // The lanes of the slot that are in no entry.
  LaneMask OwnOf(SlotId slot, LaneMask lanes) const;
  void Free(uint32_t entry);

  const bool whole_warps_;  // only whole warps join
  HarpCounters& counters_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> order_;             // entries in use, oldest first
  std::vector<std::vector<Share>> shares_;  // by slot; as far as slots have entered
  int warps_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_WAITING_LOOKUP_H_
