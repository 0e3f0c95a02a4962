// The block-wide reconvergence stack that TBC, TBC+ and CAPRI share.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACK_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "replay/policies/divergence/block_wide/ideal_waiting.h"
#include "replay/policies/divergence/block_wide/warp_compaction.h"
#include "replay/policies/divergence/shared/thread_set.h"
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
  std::span<const uint64_t> counters() const override { return counters_; }
  // The stacks of the blocks that have diverged or synchronise, bottom to top, as (next PC, reconvergence PC, threads,
  // WCnt); paths that are being staged follow their entry as +(...), then the update mask, one bit per warp, 0 =
  // bypassed. Threads are one digit each, a row of warp-size threads after the other.
  std::string Explain(const WarpTable& table) const override;

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

  // A branch that all warps of an entry have executed.
  struct BranchOutcome {
    Pc pc = 0;
    bool diverged = false;  // in at least one warp
    // Warps before and after a compaction of all of them: on the path that runs next, and on all paths. Threads that go
    // to the reconvergence point do not count.
    uint32_t next_active = 0, next_needed = 0;
    uint32_t all_active = 0, all_needed = 0;
  };

  enum Counter {
    kBranches,
    kUniformBranches,
    kIncompactableBranches,
    kCompactableBranches,
    kJumps,
    kWarpsBefore,
    kWarpsAfter,
    kSyncWaitCycles,
    kMaxStackDepth,
    kBarrierSwitches,
    kBypassBypass,
    kStallStall,
    kBypassStall,
    kStallBypass,
    kBlockStackCounters,  // a policy's own counters follow
  };
  // The values of BlockStackParameters.
  static Options CommonOptions(const Parameters& parameters);

  BlockStackPolicy(const DivergenceContext& context, const Options& options, size_t counters);

  // What a warp of the running entry does at the end of a basic block; threads that go different ways cannot go on.
  // Also asked of a warp that comes from a barrier in the middle of one, as of one that falls through: it goes on.
  virtual AtBranch Decide(const BlockEnd& end) = 0;
  // All warps have executed a conditional branch, whatever each of them decided.
  virtual void Executed(const BranchOutcome& /*outcome*/) {}
  // Warps of one entry came to different branches, so a branch that was taken for uniform was not; they reconverge
  // where the entry does.
  virtual void ForkedUnseen() {}

  void Count(size_t counter, uint64_t by = 1) { counters_[counter] += by; }
  void Raise(size_t counter, uint64_t value);

 private:
  using EntryId = uint32_t;
  // A warp that is not in a slot and will be started as it is.
  struct KeptWarp {
    Position at;
    Lanes lanes;
    uint32_t index = 0;
  };
  struct Entry {
    BlockId block = 0;
    Position next;
    Position rpc;
    bool started = false;  // its warps run, or have run; a path that waits or is being staged has run-ahead warps only
    bool from_branch = false;
    ThreadSet threads;                // that have neither exited nor come to rpc
    ThreadSet apart;                  // those of warps that run ahead or are kept, which are not compacted
    uint32_t wcnt = 0;                // warps that have not arrived
    uint32_t running = 0;             // of these, warps that are not held at a barrier, set aside, or put off
    uint32_t next_index = 0;          // number of the next warp
    std::vector<KeptWarp> kept;       // start with the entry
    std::vector<KeptWarp> set_aside;  // released from a barrier while another entry runs
    std::vector<uint32_t> put_off;    // block ends of run-ahead warps, in order, in put_off_pool_
    uint32_t waiting = 0;             // warps that wait for the others, and the sum of the cycles of their arrivals
    uint64_t waiting_since = 0;

    // --- as a path that is being staged
    bool taken = false;
    LaneCounts counts;

    // --- the branch at which warps of the entry arrive
    std::vector<EntryId> paths;
    Position branch;
    Position target;  // where the paths reconverge
    bool conditional = false;
    bool diverged = false;
    bool forked = false;
    uint32_t arrivals = 0;
    uint32_t stalled = 0;
    std::vector<BranchSide> sides;
    std::vector<bool> bypassed;  // by number of the warp: the complement of the update mask
  };
  // The end of a basic block of a warp, which is in `slot`, resolving or parked without threads.
  struct Event {
    SlotId slot = kNoSlot;
    Position from;
    std::span<const PathGroup> groups;
    const Lanes* lanes = nullptr;
    Position reconvergence;
    bool conditional = false;
    bool uniform = false;
    bool from_barrier = false;
    bool put_off = false;
  };
  struct PutOff {
    SlotId slot = kNoSlot;
    Position from;
    Lanes lanes;
    std::vector<PathGroup> groups;
    Position reconvergence;
    bool conditional = false;
    bool uniform = false;
    Cycle since = 0;
  };
  struct Block {
    uint32_t first_row = 0;
    uint32_t rows = 0;
    std::vector<EntryId> stack;
  };
  struct Warp {
    EntryId entry = 0;
    uint32_t index = 0;
    int64_t blocks_left = 0;  // that it may run ahead
  };
  // A compacted warp on its way out of the compaction unit.
  struct Compacted {
    EntryId entry = 0;
    KeptWarp warp;
  };

  // --- block_stack.cc: what warps do
  // Both return false if the warp simply goes on.
  bool HandleAhead(EntryId id, const Event& event, WarpEditor& editor);
  bool Handle(EntryId id, const Event& event, WarpEditor& editor);
  void GoOn(EntryId id, const Event& event, WarpEditor& editor);
  void ArriveAtRpc(Entry& entry, const Event& event, WarpEditor& editor);
  void ArriveAtBranch(EntryId id, const Event& event, AtBranch decision, WarpEditor& editor);
  void Bypass(EntryId id, const Event& event, WarpEditor& editor);
  const PathGroup* SideToRun(const Entry& entry, std::span<const PathGroup> groups) const;
  Position Target(const Entry& entry, const Event& event) const {
    return event.reconvergence.is_exit() ? entry.rpc : event.reconvergence;
  }
  EntryId PathTo(Entry& entry, const PathGroup& group, uint32_t& number);
  void Forget(BlockId block, const Lanes& lanes, LaneMask exited);
  void Start(EntryId id, const KeptWarp& warp, WarpEditor& editor);
  // The slot's warp is no more; the next warp that starts takes it.
  void Spare(SlotId slot, WarpEditor& editor);
  template <typename Function>
  void ForEachRow(const Entry& entry, const Lanes& lanes, LaneMask mask, Function function) const;

  // --- block_stack_entries.cc: what the stack does
  void Settle(BlockId block, WarpEditor& editor);
  bool Reduce(Block& block, WarpEditor& editor);
  void Branch(Block& block, size_t index, WarpEditor& editor);
  // The first to be pushed comes first, the first to run last.
  void SortForPushing(std::vector<EntryId>& paths) const;
  void Judge(const Entry& entry);
  bool Compacts(const Entry& entry, const Entry& path) const {
    return path.next != entry.target && path.next != entry.rpc;
  }
  void HoldAtRpc(const Entry& path, WarpEditor& editor) const;
  void EndWaiting(Entry& entry, Cycle now);
  size_t Runnable(const Block& block) const;
  void Activate(EntryId id, WarpEditor& editor);
  void Resume(EntryId id, WarpEditor& editor);
  EntryId NewEntry(BlockId block);
  void FreeEntry(EntryId id);
  Entry& At(EntryId id) { return entries_[id]; }
  const Entry& At(EntryId id) const { return entries_[id]; }
  std::string TextOf(const Entry& entry) const;
  bool AnyRuns(const Block& block) const;

  const Options options_;
  const int warp_size_;
  std::vector<uint8_t> is_jump_;  // by PC: an unconditional branch
  std::vector<uint32_t> row_of_;  // by hardware thread
  std::vector<Block> blocks_;     // by resident block
  std::vector<Warp> warps_;       // by slot
  std::deque<Entry> entries_;     // references stay good while it grows
  std::vector<EntryId> free_entries_;
  std::deque<PutOff> put_off_pool_;
  std::vector<uint32_t> free_put_off_;

  WarpCompactor compactor_;
  IdealWaiting ideal_;
  Cycle wcu_free_ = 0;  // the SM's compaction unit gives out its last warp in this cycle
  std::vector<Compacted> in_wcu_;
  size_t in_wcu_first_ = 0;

  SlotId spare_ = kNoSlot;
  int port_ = -1;               // of the next slot that is spawned; -1 = whichever it gets
  std::vector<EntryId> order_;  // scratch
  std::vector<uint32_t> put_off_now_;
  std::vector<BranchSide> sides_;
  std::vector<LaneCounts> counts_;
  std::vector<uint64_t> counters_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_BLOCK_STACK_H_
