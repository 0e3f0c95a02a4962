// Asynchronous copies and transaction barriers of one SM.
#ifndef HEDDLE_REPLAY_CORE_ASYNC_UNIT_H_
#define HEDDLE_REPLAY_CORE_ASYNC_UNIT_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/core/collective_step.h"
#include "replay/core/copy_engine.h"
#include "replay/core/launch_context.h"
#include "replay/core/memory_port.h"
#include "replay/core/pending/copy_progress.h"
#include "replay/core/pending/transaction_barriers.h"
#include "replay/core/pending/waiting_slots.h"
#include "replay/core/shared_locator.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/types.h"
#include "replay/trace/thread_cursors.h"
#include "replay/warps/formation.h"

namespace heddle::replay {

// Who has copies in flight, and in which groups, is known thread by thread, since warps may be regrouped. A slot at a
// wait stays there until it is over for all its threads. `docs/reference/timing.md` has the rules.
class AsyncUnit {
 public:
  AsyncUnit(const LaunchContext& context, const Formation& formation, ThreadCursors& cursors, MemoryPort& memory);

  // Whether the launch has asynchronous instructions: else there is nothing to call the rest for.
  bool used() const { return !threads_.empty(); }

  // --- from issue
  // The slot issues its instruction, which is asynchronous, in cycle `now`: takes its operands. `locator`: for
  // transaction barriers of other blocks.
  void Issue(SlotId slot, SharedLocator& locator, Cycle now);
  // Whether the slot's instruction is a wait that is not over; the slot stays there.
  bool Waits(SlotId slot) const;
  void Wait(SlotId slot) { waits_.Add(slot); }

  // --- the memory's replies
  static bool Owns(AccessId access) { return access >= CopyEngine::kFirstAccess; }
  void LanesDone(AccessId access, LaneMask lanes, Cycle at) { engine_.LanesDone(access, lanes, at); }

  // --- the unit's part of a cycle, behind the memory's
  void RunCycle(Cycle now);
  // Slots whose wait has ended in it, ascending.
  std::span<const SlotId> released() const { return waits_.released(); }
  // Whether copies have ended in it.
  bool any_ended() const { return !engine_.ended().empty(); }
  // Whether more is under way than in any program that waits for what it begins.
  bool overfull() const {
    constexpr size_t kMostCopies = size_t{1} << 14;
    constexpr size_t kMostBarriers = size_t{1} << 16;
    return engine_.in_flight() > kMostCopies || arrivals_to_come_ > kMostBarriers || barriers_.size() > kMostBarriers;
  }
  // Blocks whose last copy has ended in it.
  std::span<const BlockId> idle_blocks() const { return idle_blocks_; }
  // The next cycle after `now` with something to do, unless the memory changes it; kNever if there is none.
  Cycle NextWake(Cycle now) const;

  // Whether arrivals at transaction barriers count later, or slots go on later whose phase is over.
  bool AnyArrivalOrRelease() const { return barriers_.NextArrival() != kNever || waits_.NextRelease() != kNever; }

  // --- threads and blocks
  // Threads come to hardware threads that others have left.
  void Admit(uint32_t first, uint32_t threads);
  // Whether copies of the block are in flight, so that it cannot leave.
  bool Busy(BlockId block) const { return used() && copies_of_block_[block] != 0; }
  // A thread of another block arrives at a transaction barrier of this one, in cycle `at`.
  void ArriveFromCluster(BlockId block, uint64_t address, uint64_t count, bool drops, Cycle at) {
    barriers_.ArriveAt(block, address, count, drops, at);
  }
  // The block has left.
  void Forget(BlockId block) {
    if (used()) barriers_.Forget(block);
  }

 private:
  // A thread arrives at a barrier when its copies up to a number are complete.
  struct Arrival {
    BlockId block = 0;
    uint64_t copy = 0;
    uint64_t address = 0;
  };
  struct Thread {
    CopyProgress copies;
    std::vector<Arrival> arrivals;  // to come, in the order of issue
  };
  // What the threads of a slot wait for at transaction barriers, by lane.
  struct BarrierWait {
    std::array<uint64_t, kMaxLanes> address{};
    std::array<uint64_t, kMaxLanes> phases{};
  };

  const CollectiveStep& StepOf(SlotId slot) const;
  void BeginCopies(SlotId slot, const CollectiveStep& step, Cycle now);
  // Turns the first operand, addresses of transaction barriers, into those of the own block's window. Threads arrive at
  // the barriers of other blocks here; the others are returned.
  LaneMask ArriveAtOthers(SlotId slot, const CollectiveStep& step, SharedLocator& locator, Cycle now);
  void UseBarriers(SlotId slot, const CollectiveStep& step, LaneMask lanes, Cycle now);
  bool BarrierPending(SlotId slot) const;
  void EndCopy(const WarpCopy& copy, Cycle now);
  void ArriveBehindCopies(Thread& thread, Cycle now);

  const LaunchContext& context_;
  const Formation& formation_;
  ThreadCursors& cursors_;
  CopyEngine engine_;
  // Hardware threads; empty if the unit is not used. Behind them threads that have left before all copies were complete
  // that they arrive with.
  std::vector<Thread> threads_;
  std::vector<uint32_t> copies_of_block_;  // in flight
  uint64_t latest_ = 0;                    // number of the copy that began last
  TransactionBarriers barriers_;
  size_t arrivals_to_come_ = 0;             // of all threads
  std::vector<BarrierWait> barrier_waits_;  // by slot, of the wait that it has issued
  WaitingSlots waits_;
  std::vector<BlockId> idle_blocks_;
  bool changed_ = false;  // since it was asked whose wait is over
  OperandValues values_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_ASYNC_UNIT_H_
