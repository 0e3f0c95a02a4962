// Where the threads of a warp come together for matrix instructions, on one SM.
#ifndef HEDDLE_REPLAY_CORE_RENDEZVOUS_UNIT_H_
#define HEDDLE_REPLAY_CORE_RENDEZVOUS_UNIT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "replay/core/copy_engine.h"
#include "replay/core/launch_context.h"
#include "replay/core/memory_port.h"
#include "replay/core/pending/pending_accesses.h"
#include "replay/core/shared_locator.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/types.h"
#include "replay/trace/thread_cursors.h"
#include "replay/warps/formation.h"
#include "traces/format/program/matrix_shapes.h"

namespace heddle::replay {

// A matrix instruction is one of trace::kMatrixThreads members, threads 32 w to 32 w + 31 of a block. A slot that holds
// all members that are live, and nobody else, issues it as any other instruction. Any other slot arrives and waits, as
// at a barrier. When all live members are there they are a group, which issues once, whatever slots they wait in. Its
// threads go on with its result, in the slots that they came in: the policy's warps are left as they are.
//
// Who has arrived is known thread by thread. `docs/reference/timing.md` has the rules.
class RendezvousUnit {
 public:
  // Numbers of accesses from here on are of groups; those of copies come behind them.
  static constexpr AccessId kFirstAccess = AccessId{1} << 30;

  // All live members at one instruction.
  struct Group {
    Position at;
    Lanes lanes;            // lane i: member i
    SlotId slot = kNoSlot;  // that came last
  };

  RendezvousUnit(const LaunchContext& context, const Formation& formation, ThreadCursors& cursors, MemoryPort& memory);

  // Whether the launch has matrix instructions whose threads have to meet: else there is nothing to call the rest for.
  bool used() const { return !members_.empty(); }

  // --- arrivals
  // Whether the slot holds all live members of a warp, in their home lanes, and nobody else.
  bool IsWhole(SlotId slot) const;
  // The slot arrives at its instruction. Returns where other members of one of its warps wait, if that is elsewhere: no
  // device could go on. Exit() if all is well.
  Position Arrive(SlotId slot);
  // A thread has exited: it is not waited for any more.
  void Exit(ThreadId thread);
  // Whether the instruction is done for all threads of a slot that has arrived.
  bool IsOver(SlotId slot) const { return threads_left_[slot] == 0; }
  // The block has left.
  void Forget(BlockId block);

  // --- groups that are to issue, in the order in which they became whole
  bool any_ready() const {
    return std::any_of(ready_.begin(), ready_.end(), [](const auto& groups) { return !groups.empty(); });
  }
  bool AnyReady(int port) const { return used() && !ready_[static_cast<size_t>(port)].empty(); }
  // The port's next one; there must be one.
  const Group& Next(int port) const { return ready_[static_cast<size_t>(port)].front(); }
  // That group issues. Its result is there in cycle `result`, unless it is an access to memory: that waits for the
  // memory stage from the next cycle on, or is given to it at once.
  Group Issue(int port, Cycle result);
  // Gives the access that has waited longest to the memory stage, which is free. There must be one.
  void SubmitNext(SharedLocator& locator, Cycle now);

  // --- the memory's replies
  void LanesDone(AccessId access, LaneMask lanes, Cycle at);
  void StoreAcknowledged(AccessId access, Cycle at);

  // --- the unit's part of a cycle, behind the memory's
  void RunCycle(SharedLocator& locator, Cycle now);
  // Slots that are done in it, ascending.
  std::span<const SlotId> released() const { return released_; }
  // The next cycle after `now` with something to do other than issuing, unless the memory changes it; kNever if there
  // is none.
  Cycle NextWake(Cycle now) const { return issued_.NextWake(now); }
  // Whether a group is to issue, or has issued and is not done.
  bool busy() const { return any_ready() || issued_.size() != 0; }
  // Slots that have arrived so far, less groups that have issued.
  int64_t surplus() const { return surplus_; }

 private:
  // The members of a warp, while they arrive.
  struct Members {
    uint32_t live = 0;  // threads that have not exited, those that have not come to the SM yet included
    Position at;
    Lanes here;             // that have arrived: lane i is member i
    SlotId last = kNoSlot;  // that came last
  };
  // A group that has issued.
  struct Issued {
    Group group;
    bool unacknowledged = false;  // a store that has not reached its last memory partition
  };

  size_t WarpsPerBlock() const {
    return (context_.threads_per_block + trace::kMatrixThreads - 1) / trace::kMatrixThreads;
  }
  // In members_.
  size_t WarpOf(ThreadId thread) const {
    return formation_.block_of(thread) * WarpsPerBlock() + formation_.index_in_block(thread) / trace::kMatrixThreads;
  }
  void MakeReadyIfComplete(Members& members);
  void Release(const Group& group);

  const LaunchContext& context_;
  const Formation& formation_;
  ThreadCursors& cursors_;
  MemoryPort& memory_;
  std::vector<Members> members_;          // by block and warp; empty if the unit is not used
  std::vector<uint8_t> threads_left_;     // by slot: of those that have arrived, whose group is not done
  std::vector<std::deque<Group>> ready_;  // by port
  PendingAccesses<Issued> issued_;        // results that are no accesses, too
  std::vector<SlotId> released_;
  int64_t surplus_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_RENDEZVOUS_UNIT_H_
