// Operations that the lanes of a warp do together (PTX ISA 9.7.9.6, 9.7.13.4): who waits for whom, and who can go on.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_WARP_RENDEZVOUS_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_WARP_RENDEZVOUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/execute/threads/warp_operation.h"
#include "tracegen/instrument/thread_context.h"
#include "tracegen/matrix/lane_registers.h"

namespace heddle::tracegen {

// What a lane asks for.
struct WarpRequest {
  WarpOperation operation = WarpOperation::kSync;
  uint32_t site = 0;  // its place in the source
  uint32_t mask = 0;  // the lanes that it names; counts unless the operation is converged
  // The operation has no mask of its own (activemask, and shuffles and votes of older PTX): it sees the lanes that run
  // together. Which lanes do is the machine's choice; here they are all lanes that reach the same place before the warp
  // cannot move otherwise, as on a machine that reconverges as early as possible.
  bool converged = false;
};

// The rendezvous of the lanes of all warps of the block that runs. Lanes that exit, or wait at barriers, have to be
// told of: they decide what a warp can still wait for. Lanes that can go on are released to the scheduler, with their
// results.
class WarpRendezvous {
 public:
  // `threads` must outlive the object.
  explicit WarpRendezvous(ThreadScheduler& threads) : threads_(threads) {}

  // `has_matrices`: the kernel has matrix instructions.
  void BeginLaunch(bool has_matrices = false);
  // A block begins: all lanes are there, and none waits.
  void BeginBlock();

  // The running thread asks. Returns true if it goes on at once, because it is the last one of the lanes that take
  // part: then its result stands in DeviceThread::result. A mask must name the lane itself.
  bool Arrive(const WarpRequest& request, const LaneOperands& operands);

  // The thread waits at a barrier from now on, or does no longer.
  void Block(uint32_t thread) { warps_[thread / kWarpWidth].blocked |= LaneBit(thread); }
  void Unblock(uint32_t thread) { warps_[thread / kWarpWidth].blocked &= ~LaneBit(thread); }
  // The thread has exited. Check tells whether lanes of its warp can go on without it.
  void Exit(uint32_t thread) { warps_[thread / kWarpWidth].alive &= ~LaneBit(thread); }
  // Lets lanes of the thread's warp go on that need not wait any longer, now that one of them has exited or waits.
  void Check(uint32_t thread);
  // Where threads leave what they bring to matrix instructions, and find what these give them.
  LaneRegisters* lane_registers() { return lane_registers_.data(); }
  bool AnyBlocked(uint32_t thread) const { return warps_[thread / kWarpWidth].blocked != 0; }
  // Whether all lanes that have not exited wait.
  bool AllBlocked(uint32_t thread) const {
    const WarpLanes& warp = warps_[thread / kWarpWidth];
    return warp.blocked == warp.alive;
  }
  // All threads have passed barriers, and may have exited, without telling of it: alive and waiting lanes are those
  // that the scheduler's states say.
  void Recount();

  // What a thread waits for that is at a rendezvous: "the vote at k.cu:12".
  std::string Describe(uint32_t thread, const std::string& place) const;
  uint32_t SiteOf(uint32_t thread) const { return requests_[thread].site; }

 private:
  struct WarpLanes {
    uint32_t alive = 0;    // lanes that have not exited
    uint32_t blocked = 0;  // lanes that wait at a barrier or a warp operation
  };

  static uint32_t LaneBit(uint32_t thread) { return 1u << thread % kWarpWidth; }
  // Completes the operation with a mask that this lane waits for, if all lanes it names are there. False: they are not.
  bool CompleteMasked(uint32_t warp, uint32_t lane);
  // The warp cannot move otherwise: completes a converged operation for all lanes that wait for it. Of several, one
  // that exchanges nothing goes before others, and then the one that stands first in the program.
  void CompleteConverged(uint32_t warp);
  void Complete(uint32_t warp, uint32_t lanes);

  ThreadScheduler& threads_;
  std::vector<WarpLanes> warps_;
  // By thread: what it has asked for last.
  std::vector<WarpRequest> requests_;
  std::vector<LaneOperands> operands_;
  // By thread, of whole warps; empty for kernels without matrix instructions.
  std::vector<LaneRegisters> lane_registers_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_WARP_RENDEZVOUS_H_
