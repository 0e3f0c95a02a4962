// Barriers of the resident blocks of one SM.
#ifndef HEDDLE_REPLAY_CORE_BARRIER_UNIT_H_
#define HEDDLE_REPLAY_CORE_BARRIER_UNIT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/core/block_table.h"
#include "replay/core/clusters/cluster_phases.h"
#include "replay/core/launch_context.h"
#include "replay/core/sm_run_state.h"
#include "replay/seams/types.h"
#include "replay/warps/formation.h"

namespace heddle::replay {

// Counts arrivals per block and barrier, not per warp or PC. A barrier opens when all threads that it expects are
// there; its slots go on in the next cycle at the earliest, and later arrivals are for its next use.
class BarrierUnit {
 public:
  struct Barrier {
    uint32_t arrived = 0;   // threads
    uint32_t expected = 0;  // 0 = all live threads of the block
    Cycle taken = 0;        // when the last arrival has been taken
    std::vector<SlotId> slots;
  };

  BarrierUnit(const LaunchContext& context, const Formation& formation, const BlockTable& blocks,
              const SmRunState& run);

  // What has opened so far, before the cycle that begins, is released in it.
  void BeginCycle() {
    if (opened_.empty()) return;
    releasing_.swap(opened_);
    resuming_.swap(opened_slots_);
  }
  // By lane: dense number of the barrier, and threads that it expects (0 = all live ones of the block).
  struct LaneBarriers {
    std::array<uint8_t, kMaxLanes> number{};
    std::array<uint32_t, kMaxLanes> threads{};
  };
  // The slot's threads arrive at the barrier of `step`, wait there, or both. `by_lane`: what their registers say of it;
  // null: all of them say what the step does.
  void Arrive(SlotId slot, const Step& step, const LaneBarriers* by_lane = nullptr);
  // Threads of the block have exited: they may be what a barrier waited for.
  void Recheck(BlockId block);
  // The barrier of its cluster opens for the block in cycle `at`, the present one or a later one.
  void OpenCluster(BlockId block, Cycle at);
  // Before BeginCycle, with barriers of clusters or those that open later: those that have opened by then.
  void OpenDue();
  // Threads come to hardware threads that others have left.
  void Admit(ThreadId first, uint32_t threads) { phases_.Admit(first, threads); }
  // The block has left, perhaps with arrivals that nobody has waited for.
  void Forget(BlockId block);

  // Whether a barrier releases its slots in the next cycle, or in this one.
  bool opened() const { return !opened_.empty(); }
  // The cycle in which barriers that open later than now release their slots; kNever if none is known to.
  Cycle NextRelease() const;
  bool releases() const { return !releasing_.empty(); }
  // Blocks with a barrier that releases in this cycle, once per barrier.
  std::span<const BlockId> releasing() const { return releasing_; }
  // Calls resume(slot) for the slots that no barrier stops any more, ascending; the release is done after it.
  template <typename Resume>
  void Release(Resume resume) {
    releasing_.clear();
    std::sort(resuming_.begin(), resuming_.end());
    for (const SlotId slot : resuming_) {
      if (--barriers_ahead_[slot] == 0) resume(slot);
    }
    resuming_.clear();
  }
  // Whether all barriers that the slot has arrived at have opened.
  bool IsOpenFor(SlotId slot) const { return barriers_ahead_[slot] == 0; }
  // Dense number of the barrier at which the slot's first lane waits.
  uint8_t number_of(SlotId slot) const { return number_of_[slot]; }
  // The barrier with this dense number.
  const Barrier& barrier(BlockId block, uint8_t number) const { return barriers_[block][number]; }

 private:
  // Threads of one block at one of its barriers.
  void ArriveTogether(SlotId slot, const Step& step, BlockId block, uint8_t number, uint32_t expected, LaneMask own);
  // A cluster's barrier: notes arrivals, or lets the slot wait for the phase that its threads have arrived in.
  void UseCluster(SlotId slot, const Step& step, BlockId block, LaneMask own);
  // Tells the cluster if all live threads of the block have arrived.
  void CheckCluster(BlockId block);
  // Threads of the block have exited.
  void RecheckCluster(BlockId block);
  void Open(BlockId block, uint8_t number);
  // All that the barrier waits for are there: it opens at once, or when the last arrival has been taken and told.
  void Complete(BlockId block, uint8_t number);

  // A barrier of a block that is complete and opens later. Arrivals are for its next use.
  struct Opening {
    Cycle at = 0;
    BlockId block = 0;
    std::vector<SlotId> slots;
  };

  std::vector<BlockId> opened_;     // blocks with a barrier that releases in the next cycle
  std::vector<BlockId> releasing_;  // blocks with a barrier that releases in this cycle
  const Formation& formation_;
  const BlockTable& blocks_;
  std::vector<std::vector<Barrier>> barriers_;  // by block and dense number
  // By slot: barriers (of several blocks if a policy mixes them, or of several numbers) that are not open yet.
  std::vector<uint8_t> barriers_ahead_;
  std::vector<uint8_t> number_of_;    // by slot
  std::vector<SlotId> opened_slots_;  // slots that arrived at a barrier of opened_, once per block of theirs
  std::vector<SlotId> resuming_;      // slots that arrived at a barrier of releasing_, once per block of theirs
  const uint8_t cluster_barrier_;     // dense number; LaunchContext::kNoBarrier without one
  ClusterPhases phases_;              // of that
  ClusterBoard* const board_;
  const machine::v1::BlockBarriers timing_;
  std::vector<Opening> openings_;  // in the order of completion
  const SmRunState& run_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_BARRIER_UNIT_H_
