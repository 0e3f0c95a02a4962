// What an SM keeps per large warp: its stack and the instructions that are being fetched, issued and executed.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_LARGE_WARPS_LARGE_WARP_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_LARGE_WARPS_LARGE_WARP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/policies/divergence/large_warps/large_warp_stack.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Threads of a sub-warp that are in one row of the large warp.
struct SubWarpPart {
  uint32_t row;
  LaneMask lanes;
  friend bool operator==(const SubWarpPart&, const SubWarpPart&) = default;
};

// What a slot holds of a large warp.
struct SubWarp {
  std::vector<SubWarpPart> parts;  // ascending by row
  bool accepted = false;           // it left the front end, even if the memory system had no room for it yet
  uint32_t fetch = 0;              // index into LargeWarp::fetches
  uint64_t sequence = 0;           // of that fetch, when the sub-warp issued
};

// One instruction of a large warp, from its fetch until the next one may be fetched.
struct LargeWarpFetch {
  uint64_t sequence = 0;
  // refetch = last: the sub-warps in the order of packing; refetch = first: sub-warps at this instruction that wait
  // in a slot, whatever their order.
  std::vector<SlotId> slots;
  size_t next = 0;           // refetch = last: the sub-warp to issue next
  RowMasks unissued;         // refetch = first
  std::vector<SlotId> done;  // refetch = first: sub-warps that have executed the instruction
  SlotId offered = kNoSlot;  // refetch = first
  int in_flight = 0;         // sub-warps
  int completed = 0;         // sub-warps
  int waiting = 0;           // sub-warps of these, for others at a barrier or a matrix instruction
  bool issued_any = false;
  bool issued_all = false;
  bool decides = false;         // the instruction decides where its threads go
  bool waits_for_last = false;  // it does, or they may have to wait for others there
  bool intact = true;           // every sub-warp still has its slot
  Cycle first_done = 0;
  std::vector<LargeWarpPath> paths;  // where threads go, ascending; the first paths_used
  size_t paths_used = 0;

  // Threads of a sub-warp with these parts, of a large warp with `rows` rows, go where the group says.
  void AddPath(const PathGroup& group, const std::vector<SubWarpPart>& parts, size_t rows);
};

// Rows of warp-size threads with one stack.
struct LargeWarp {
  uint32_t id = 0;
  size_t first_hw_warp = 0;  // of the SM's hardware warps
  uint64_t age = 0;          // WarpTable::formed of its first sub-warp; 0 before that
  uint64_t fetched = 0;      // instructions
  LargeWarpStack stack;
  RowMasks in_flight;                   // threads whose instruction is not done
  std::vector<LargeWarpFetch> fetches;  // one per running entry of the stack, or at a barrier
  std::vector<uint32_t> free_fetches;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_LARGE_WARPS_LARGE_WARP_H_
