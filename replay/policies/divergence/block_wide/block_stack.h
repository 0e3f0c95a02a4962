// The block-wide reconvergence stack that TBC, TBC+ and CAPRI share.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACK_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "replay/policies/divergence/block_wide/block_stack_counts.h"
#include "replay/policies/divergence/block_wide/block_stack_text.h"
#include "replay/policies/divergence/block_wide/block_stacks.h"
#include "replay/policies/divergence/block_wide/block_warps.h"
#include "replay/policies/divergence/block_wide/branch_judge.h"
#include "replay/policies/divergence/block_wide/compaction_unit.h"
#include "replay/policies/divergence/block_wide/recycling_pool.h"
#include "replay/policies/divergence/block_wide/stack_entry.h"
#include "replay/seams/divergence_policy.h"

namespace heddle::replay {

// Declarations that the policies share: the parameters `taken_first` and `wcu_cycles_per_warp`, and the counters of
// BlockStackPolicy, which come before a policy's own.
std::vector<ParameterSpec> BlockStackParameters();
// What follows from them.
void BlockStackTraits(const Parameters& parameters, PolicyTraits& traits);
std::vector<CounterSpec> BlockStackCounters();

// One stack per thread block (Rhu and Erez, CAPRI, section 2.2, after Fung and Aamodt, HPCA 2011): an entry holds a
// block-wide mask, the next PC, the reconvergence PC, and WCnt, the number of its warps that have not arrived yet.
// Warps of the entry that runs are scheduled independently. At a branch at which they synchronise, each adds its
// threads to the staged paths and counts WCnt down; at zero the paths become entries, and the threads of the one that
// runs are compacted into the fewest warps. A warp that comes to the entry's reconvergence point counts WCnt down as
// well; at zero the entry is popped.
//
// A policy decides what a warp does at the end of a basic block: go on in the entry, stall, or bypass the compaction. A
// bypassed warp keeps its threads together and runs ahead of its block into the path that it takes, by
// `run_ahead_blocks` basic blocks; what it does at the end of them is put off until the path runs (CAPRI, section 3.2).
//
// One entry of a block runs at a time. If all its warps wait at a barrier, the next one that can run does, so that a
// barrier on both sides of a divergence opens; entries that are let go together run one after the other.
class BlockStackPolicy : public DivergencePolicy {
 public:
  uint32_t interests() const override { return kEveryBlockEnd | kBarriers; }
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override;
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override;
  void Timer(uint64_t tag, WarpEditor& editor) override;
  void BarrierArrived(SlotId slot, uint32_t barrier, WarpEditor& editor) override;
  bool BarrierReleased(SlotId slot, uint32_t barrier, WarpEditor& editor) override;
  void Retire(BlockId block, WarpEditor& editor) override;
  std::span<const uint64_t> counters() const override { return counts_.values(); }
  // See BlockStackText.
  std::string Explain(const WarpTable& /*table*/) const override { return BlockStackText(stacks_); }

 protected:
  struct Options {
    bool taken_first = true;          // of a branch with two sides, the taken one runs first
    int64_t wcu_cycles_per_warp = 0;  // from WCnt = 0 to the first compacted warp, and from one to the next
    // --- of warps that bypass
    int64_t run_ahead_blocks = 1;    // basic blocks that they may run before their path does
    bool limit_jumps = true;         // basic blocks that end in a jump or fall through count
    bool run_ahead_into_rpc = true;  // warps all of whose threads go to the reconvergence point may run ahead there
    bool keep_second_side = true;    // the other side of a divergent warp stays a warp; else it is compacted
  };

  // A warp at the end of a basic block.
  struct BlockEnd {
    Pc pc = 0;
    bool conditional = false;  // two or more outcomes
    bool jump = false;         // an unconditional branch
    bool uniform = false;      // marked uniform by the static analysis
    bool diverged = false;     // the warp's threads go different ways
  };
  enum class AtBranch : uint8_t { kGoOn, kStall, kBypass };

  // The values of BlockStackParameters.
  static Options CommonOptions(const Parameters& parameters);

  BlockStackPolicy(const DivergenceContext& context, const Options& options, size_t counters);

  // What a warp of the running entry does at the end of a basic block; threads that go different ways cannot go on.
  // Also asked of a warp that comes from a barrier in the middle of one, as of one that falls through: it goes on.
  virtual AtBranch Decide(const BlockEnd& end) = 0;
  // All warps have executed a conditional branch, whatever each of them decided. See BranchJudge.
  virtual void Executed(const BranchOutcome& /*outcome*/) {}
  // Warps of one entry came to different branches, so a branch that was taken for uniform was not; they reconverge
  // where the entry does.
  virtual void ForkedUnseen() {}

  void Count(size_t counter, uint64_t by = 1) { counts_.Count(counter, by); }
  void Raise(size_t counter, uint64_t value) { counts_.Raise(counter, value); }

 private:
  // An arrival of a warp that ran ahead, which counts when its path runs.
  struct DeferredBlockEnd {
    SlotId slot = kNoSlot;
    Position from;
    Lanes lanes;
    std::vector<PathGroup> groups;
    Position reconvergence;
    bool conditional = false;
    bool uniform = false;
    Cycle since = 0;
  };

  // --- what a warp does

  // A warp of an entry that has been started has come to the end of a basic block, or goes on behind a barrier; or one
  // that runs ahead of its block has. Both return false if the warp simply goes on.
  bool Handle(StackEntryId id, const ArrivedWarp& arrival, WarpEditor& editor);
  bool HandleAhead(StackEntryId id, const ArrivedWarp& arrival, WarpEditor& editor);
  // The warp is no more.
  void End(StackEntry& entry, SlotId slot, WarpEditor& editor);
  void GoOn(StackEntryId id, const ArrivedWarp& arrival, WarpEditor& editor);
  void PutOffUntilStarted(StackEntry& entry, const ArrivedWarp& arrival, WarpEditor& editor);
  void ArriveAtRpc(StackEntry& entry, const ArrivedWarp& arrival, WarpEditor& editor);
  void ArriveAtBranch(StackEntryId id, const ArrivedWarp& arrival, AtBranch decision, WarpEditor& editor);
  void Bypass(StackEntryId id, const ArrivedWarp& arrival, WarpEditor& editor);
  // The side of a bypassed warp that runs now, if any.
  const PathGroup* SideToRun(const StackEntry& entry, std::span<const PathGroup> groups) const;

  // --- which entry runs

  // Brings the stack up to date after something has happened to a warp of the block, and starts the entry that is to
  // run.
  void Settle(BlockId block, WarpEditor& editor);
  // The entry becomes the one that runs: warps that ran ahead are its warps from now on, kept ones start as they are,
  // the other threads are compacted.
  void Activate(StackEntryId id, WarpEditor& editor);
  // Warps that a barrier has let go while another entry ran.
  void Resume(StackEntryId id, WarpEditor& editor);
  void Start(StackEntryId id, const KeptWarp& warp, WarpEditor& editor);

  const Options options_;
  std::vector<uint8_t> is_jump_;  // by PC: an unconditional branch
  BlockStackCounts counts_;
  BlockStacks stacks_;
  BlockWarps warps_;
  CompactionUnit unit_;
  RecyclingPool<DeferredBlockEnd> put_off_;
  std::vector<uint32_t> deferred_now_;  // scratch
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACK_H_
