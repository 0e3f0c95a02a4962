// The reconvergence stacks of the blocks of an SM, one per block.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACKS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "replay/policies/divergence/block_wide/block_stack_counts.h"
#include "replay/policies/divergence/block_wide/block_static_warps.h"
#include "replay/policies/divergence/block_wide/branch_judge.h"
#include "replay/policies/divergence/block_wide/stack_entry.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Entries of stacks: which threads they hold, the paths that are staged on them, when they are pushed and popped, and
// which one can run. Knows nothing of slots: whoever runs the warps keeps `wcnt`, `running` and the lists of warps of
// the entries (stack_entry.h).
class BlockStacks {
 public:
  // `static_warps`: of an SM without blocks. `taken_first`: of a branch with two sides, the taken one runs first.
  BlockStacks(BlockStaticWarps static_warps, bool taken_first, BlockStackCounts& counts);

  // A block enters: its stack has one entry, which has started, with all its threads and without warps. Returns it.
  StackEntryId Open(const BlockAdmission& admission);
  // The block leaves.
  void Close(BlockId block);
  // Threads of the block have ended.
  void Forget(BlockId block, const Lanes& lanes, LaneMask exited);

  StackEntry& At(StackEntryId id) { return entries_[id]; }
  const StackEntry& At(StackEntryId id) const { return entries_[id]; }
  size_t blocks() const { return stacks_.size(); }
  // The block's entries, bottom to top.
  std::span<const StackEntryId> stack(BlockId block) const { return stacks_[block]; }
  const BlockStaticWarps& static_warps() const { return static_warps_; }

  // --- threads of a warp of the entry that has arrived

  // They leave the entry: they wait in the one below.
  void Leave(StackEntry& entry, const Lanes& lanes, LaneMask mask);
  // Where the paths of the arrival's branch reconverge.
  static Position Target(const StackEntry& entry, const ArrivedWarp& arrival) {
    return arrival.reconvergence.is_exit() ? entry.rpc : arrival.reconvergence;
  }
  // They enter the paths of the entry's branch, which it stages, so that WCnt counts down. False if the warp has come
  // to another branch than those before it, for the first time: then all reconverge where the entry does.
  bool Stage(StackEntry& entry, const ArrivedWarp& arrival);
  // The staged path to the group's position; a new one if there is none.
  StackEntryId PathTo(StackEntry& entry, const PathGroup& group);
  // They are a warp of the path that is not compacted.
  void SetApart(StackEntry& path, const Lanes& lanes, LaneMask mask);

  // --- the stack

  // Carries out one branch that all warps have come to, or drops one entry whose threads have all left it. False if
  // there is none. `executed` is set if a predictor has something to learn.
  bool Reduce(BlockId block, WarpEditor& editor, std::optional<BranchOutcome>& executed);
  bool AnyRuns(BlockId block) const;
  // The topmost entry that can be started or resumed: none of its threads is in an entry above it.
  std::optional<StackEntryId> Runnable(BlockId block) const;
  // The first to be pushed comes first, the first to run last.
  void SortForPushing(std::vector<StackEntryId>& paths) const;

 private:
  StackEntryId NewEntry(BlockId block);
  // Of the path to the group's position, among those of the branch. A new one if there is none.
  uint32_t NumberOfPath(StackEntry& entry, const PathGroup& group);
  // WCnt of an entry is zero and its warps have executed a branch: the paths replace it, or go on top of it.
  std::optional<BranchOutcome> Branch(BlockId block, size_t index, WarpEditor& editor);
  // The path's threads wait for the others at the reconvergence point, except those that run ahead there.
  void HoldAtRpc(const StackEntry& path, WarpEditor& editor) const;
  void EndWaiting(StackEntry& entry, Cycle now);

  const bool taken_first_;
  BlockStackCounts& counts_;
  BlockStaticWarps static_warps_;
  BranchJudge judge_;
  StackEntries entries_;
  std::vector<std::vector<StackEntryId>> stacks_;  // by block
  std::vector<StackEntryId> order_;                // scratch
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACKS_H_
