// Lockstep: the threads of a warp that are in front of the same memory access make it together.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_LOCKSTEP_ORDER_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_LOCKSTEP_ORDER_H_

#include <cstdint>
#include <vector>

#include "tracegen/execute/threads/polling_watch.h"
#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/instrument/instrument.h"

namespace heddle::tracegen {

// A device runs the threads of a warp that are at one place together, and those that are behind first, so that they
// catch up: instructions of a kernel stand in reverse post-order with loops contiguous, and the lowest one is the one
// furthest behind. Functions come behind the kernel, and threads within a call are behind those that have returned from
// it. Warps take turns.
class LockstepOrder {
 public:
  // Both must outlive the object.
  LockstepOrder(ThreadScheduler& threads, const PollingWatch& polling) : threads_(threads), polling_(polling) {}

  void BeginLaunch(const InstrumentedKernel& kernel);

  // The running thread is in front of a memory access of PTX instruction `pc`, and waits there.
  void Wait(uint32_t pc);
  // No thread is ready, or all that are poll in vain: lets the threads of a warp that go on next go on. Of a warp whose
  // threads furthest behind poll in vain, those that are still in the loop; none, as on a device, if all others have
  // left it.
  void ReleaseTogether();
  // A thread in front of an access; kNoThread if there is none. When the block is idle, it waits for others of its warp
  // which poll in vain.
  uint32_t FindHeldBack() const;

 private:
  struct WarpFront {
    uint64_t lowest = ~uint64_t{0};   // position of the threads in front of an access that are furthest behind
    uint64_t polling = ~uint64_t{0};  // and of those that poll in vain
    uint32_t poller = 0;              // one of these
  };
  WarpFront FrontOf(uint32_t warp) const;
  uint32_t EndOf(uint32_t warp) const;
  uint64_t PositionOf(uint32_t pc) const { return pc + (pc < kernel_->kernel_instructions ? uint64_t{1} << 32 : 0); }

  ThreadScheduler& threads_;
  const PollingWatch& polling_;
  const InstrumentedKernel* kernel_ = nullptr;
  std::vector<uint64_t> positions_;  // by thread: of the access that it came to last; lower ones go first
  uint32_t next_warp_ = 0;           // whose turn it is
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_LOCKSTEP_ORDER_H_
