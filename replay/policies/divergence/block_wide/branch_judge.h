// What was gained at a branch that all warps of a block have executed.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BRANCH_JUDGE_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BRANCH_JUDGE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "replay/policies/divergence/block_wide/block_stack_counts.h"
#include "replay/policies/divergence/block_wide/ideal_waiting.h"
#include "replay/policies/divergence/block_wide/stack_entry.h"
#include "replay/policies/divergence/block_wide/warp_compaction.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// A conditional branch that all warps of an entry have executed.
struct BranchOutcome {
  Pc pc = 0;
  bool diverged = false;  // in at least one warp
  // Warps before and after a compaction of all of them: on the path that runs next, and on all paths. Threads that go
  // to the reconvergence point do not count.
  uint32_t next_active = 0, next_needed = 0;
  uint32_t all_active = 0, all_needed = 0;
};

// Counts branches by what compaction makes of them, and the warps that waited or bypassed, rightly or not, beside the
// fewest that had to wait (CAPRI, section 5.1).
class BranchJudge {
 public:
  BranchJudge(int warp_size, BlockStackCounts& counts) : warp_size_(warp_size), counts_(counts) {}

  // The warps of `entry` have executed its branch. `order` are the paths, the one that runs next last. The outcome is
  // what a predictor learns from; there is none of jumps, of branches after which no path is compacted, and if the
  // warps came to different branches.
  std::optional<BranchOutcome> RecordOutcome(const StackEntry& entry, std::span<const StackEntryId> order,
                                             const StackEntries& entries);

 private:
  // The fewest warps that have to wait.
  uint32_t FewestWaiting(const StackEntry& entry, const StackEntries& entries);

  const int warp_size_;
  BlockStackCounts& counts_;
  IdealWaiting ideal_;
  // Scratch: of the paths that count, numbered anew.
  std::vector<BranchSide> sides_;
  std::vector<LaneCounts> lane_counts_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BRANCH_JUDGE_H_
