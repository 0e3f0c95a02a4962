// Operations that the lanes of a warp do together (PTX ISA 9.7.9.6, 9.7.13.4): who waits for whom, and who can go on.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_WARP_RENDEZVOUS_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_WARP_RENDEZVOUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracegen/execute/threads/convergence_groups.h"
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
  // cannot move otherwise, as on a machine that reconverges as early as possible. Machine code says itself where lanes
  // come together (ConvergenceGroups): there they are those of the lanes that are together which reach the place.
  // WarpOperation::kMeet is a converged operation whose mask is the number of a barrier.
  bool converged = false;
};

// The rendezvous of the lanes of all warps of the block that runs. Lanes that exit, or wait at barriers, have to be
// told of: they decide what a warp can still wait for. Lanes that can go on are released to the scheduler, with their
// results.
class WarpRendezvous {
 public:
  // `threads` must outlive the object.
  explicit WarpRendezvous(ThreadScheduler& threads) : threads_(threads) {}

  // `has_matrices`: the kernel has matrix instructions. `follows_code`: its code says where lanes come together.
  void BeginLaunch(bool has_matrices = false, bool follows_code = false);
  // A block begins: all lanes are there, and none waits.
  void BeginBlock();

  // The running thread asks. Returns true if it goes on at once, because it is the last one of the lanes that take
  // part: then its result stands in DeviceThread::result. A mask must name the lane itself.
  bool Arrive(const WarpRequest& request, const LaneOperands& operands);

  // The running thread sets a convergence barrier, or leaves one (ConvergenceGroups::Join, Leave).
  uint32_t Join(uint32_t site);
  void Leave(uint32_t barrier);
  // Nobody of the block can go on. Lets some lanes go on that wait for others which are together with them; false if
  // there are none. Code that waits in a loop for what others do behind a meeting needs that, and code that comes to a
  // barrier of the block in parts.
  bool LetGo();

  // The thread waits at a barrier from now on, or does no longer.
  void Block(uint32_t thread) { warps_[thread / kWarpWidth].blocked |= LaneBit(thread); }
  void Unblock(uint32_t thread) { warps_[thread / kWarpWidth].blocked &= ~LaneBit(thread); }
  // The thread has exited. Check tells whether lanes of its warp can go on without it.
  void Exit(uint32_t thread) {
    warps_[thread / kWarpWidth].alive &= ~LaneBit(thread);
    if (follows_code_) groups_.Exit(thread / kWarpWidth, thread % kWarpWidth);
  }
  // Lets lanes of the thread's warp go on that need not wait any longer, now that one of them has exited or waits.
  void Check(uint32_t thread);
  // Where threads leave what they bring to matrix instructions, and find what these give them.
  LaneRegisters* lane_registers() { return lane_registers_.data(); }
  bool AnyBlocked(uint32_t thread) const { return warps_[thread / kWarpWidth].blocked != 0; }
  // Whether lanes may be able to go on because this one waits.
  bool NeedsCheck(uint32_t thread) const {
    const WarpLanes& warp = warps_[thread / kWarpWidth];
    return follows_code_ || warp.blocked == warp.alive;
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

  // Of code that says where lanes come together: completes whatever can be, until nothing can.
  void Settle(uint32_t warp);
  // Of the lanes that are together with this one, which waits at a converged operation: those that wait there, too, if
  // none of the others can come there any more. `anyway`: even if some can.
  bool CompleteTogether(uint32_t warp, uint32_t lane, bool anyway = false);
  // The members of the barrier at which the lane waits, if all are there. `anyway`: those that are.
  bool CompleteMeeting(uint32_t warp, uint32_t lane, bool anyway = false);

  ThreadScheduler& threads_;
  bool follows_code_ = false;
  ConvergenceGroups groups_;
  std::vector<WarpLanes> warps_;
  // By thread: what it has asked for last.
  std::vector<WarpRequest> requests_;
  std::vector<LaneOperands> operands_;
  // By thread, of whole warps; empty for kernels without matrix instructions.
  std::vector<LaneRegisters> lane_registers_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_WARP_RENDEZVOUS_H_
