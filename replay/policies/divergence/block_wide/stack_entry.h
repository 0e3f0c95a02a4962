// An entry of a block-wide reconvergence stack.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_STACK_ENTRY_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_STACK_ENTRY_H_

#include <cstdint>
#include <span>
#include <vector>

#include "replay/policies/divergence/block_wide/ideal_waiting.h"
#include "replay/policies/divergence/block_wide/recycling_pool.h"
#include "replay/policies/divergence/block_wide/warp_compaction.h"
#include "replay/policies/divergence/shared/thread_set.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/types.h"

namespace heddle::replay {

using StackEntryId = uint32_t;

// A warp that is not in a slot and will be started as it is.
struct KeptWarp {
  Position at;
  Lanes lanes;
  uint32_t index = 0;  // its number in its entry
};

// A warp has come to the end of a basic block. It is in `slot`, resolving or parked without threads.
struct ArrivedWarp {
  SlotId slot = kNoSlot;
  Position from;
  std::span<const PathGroup> groups;
  const Lanes* lanes = nullptr;
  Position reconvergence;
  bool conditional = false;
  bool uniform = false;
  bool from_barrier = false;
  bool deferred = false;  // it came while it ran ahead
};

// The branch at which warps of an entry arrive.
struct StagedBranch {
  std::vector<StackEntryId> paths;  // none: no warp has arrived
  Position from;
  Position target;  // where the paths reconverge
  bool conditional = false;
  bool diverged = false;  // in at least one warp
  bool forked = false;    // warps have come to different branches
  uint32_t arrivals = 0;
  uint32_t stalled = 0;
  std::vector<BranchSide> sides;
  std::vector<bool> bypassed;  // by number of the warp: the complement of the update mask
};

struct StackEntry {
  BlockId block = 0;
  Position next;
  Position rpc;
  bool started = false;  // its warps run, or have run; a path that waits or is being staged has run-ahead warps only
  bool from_branch = false;
  ThreadSet threads;                // that have neither exited nor come to rpc
  ThreadSet apart;                  // those of warps that run ahead or are kept, which are not compacted
  uint32_t wcnt = 0;                // warps that have not arrived
  uint32_t running = 0;             // of these, warps that are not held at a barrier, set aside, or deferred
  uint32_t next_index = 0;          // number of the next warp
  std::vector<KeptWarp> kept;       // start with the entry
  std::vector<KeptWarp> set_aside;  // released from a barrier while another entry runs
  std::vector<uint32_t> deferred;   // arrivals of run-ahead warps, in order, by the policy's numbers
  uint32_t waiting = 0;             // warps that wait for the others, and the sum of the cycles of their arrivals
  uint64_t waiting_since = 0;

  // --- as a path that is being staged
  bool taken = false;
  LaneCounts counts;

  StagedBranch branch;
};

using StackEntries = RecyclingPool<StackEntry>;

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_STACK_ENTRY_H_
