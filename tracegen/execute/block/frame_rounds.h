// Kernels whose threads leave frames at barriers (InstrumentedKernel::frame_bytes): whole blocks from barrier to
// barrier.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_FRAME_ROUNDS_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_FRAME_ROUNDS_H_

#include <cstdint>

#include "tracegen/execute/block/record_limits.h"
#include "tracegen/execute/block/record_log.h"
#include "tracegen/execute/launch/launch_form.h"
#include "tracegen/execute/threads/barrier_table.h"
#include "tracegen/execute/threads/frame_memory.h"
#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/execute/threads/warp_rendezvous.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {

// Such threads need no stacks of their own: a thread that comes to a barrier has left what it needs in its frame, and
// returned. The usual case is a round: one loop calls all threads of a block in the order in which they would take
// turns, and each runs from one barrier to the next. Whatever a round does not know (threads that yield because
// their share of the record is used up, a full record, warp operations, barriers for some of the threads) ends it where
// it is, and the block goes on thread by thread; so threads run in the same order, and are cut in time at the same
// places, as on stacks of their own. Kernels that leave frames neither poll memory nor run in lockstep.
class FrameRounds {
 public:
  static constexpr uint32_t kNoThread = ThreadScheduler::kNoThread;

  // All must outlive the object.
  FrameRounds(ThreadContext& context, ThreadScheduler& threads, RecordLimits& limits, RecordLog& log,
              BarrierTable& barriers, WarpRendezvous& warps)
      : context_(context), threads_(threads), limits_(limits), log_(log), barriers_(barriers), warps_(warps) {}

  // A launch begins. `allowed`: whether there may be rounds. They do not suit random orders, which are drawn thread by
  // thread, nor several live blocks, each of which has its turns.
  void BeginLaunch(const KernelCall& call, bool allowed);
  void BeginBlock() {
    to_resume_ = kNoThread;
    in_round_ = false;
  }

  // Whether the kernel's threads leave frames; and whether there is no memory for these.
  bool is_active() const { return call_.kernel->frame_bytes != 0; }
  bool is_out_of_memory() const { return is_active() && !has_room_; }
  bool are_allowed() const { return allowed_; }
  // Whether the running thread is called by a round.
  bool in_round() const { return in_round_; }

  // A thread by itself, outside of a round. The context holds what belongs to it; it returns at a barrier, with
  // ThreadContext::frame_barrier saying which, or when it has ended.
  void StartRunning() {
    context_.frame = frames_.Of(threads_.running());
    call_.entry(&context_, call_.arguments);
  }
  void ResumeRunning() {
    context_.frame_barrier_result = static_cast<uint32_t>(threads_.current().result);
    Resume(threads_.running());
  }
  // A thread that waits in a frame is to go on when somebody can run it; kNoThread: there is none.
  void SetToResume(uint32_t thread) { to_resume_ = thread; }
  uint32_t TakeToResume() {
    const uint32_t thread = to_resume_;
    to_resume_ = kNoThread;
    return thread;
  }

  // Round after round from here on: `first` goes on from a barrier and the others, all of which wait there, follow; or,
  // if it is kNoThread, all threads of the block start. Returns true if the running thread has come back outside of a
  // round: it has ended, or is at a barrier that nobody has seen yet. False: all threads have ended, or the record is
  // full.
  bool Run(uint32_t first);
  // The running thread, which a round has called, does what a round does not know: the round ends. All other threads
  // are ready, at the barrier or gone, as the scheduler and the tables then say.
  void LeaveByRunning();

 private:
  static constexpr uint32_t kNoBarrier = ~uint32_t{0};
  static constexpr uint32_t kNoFrameBarrier = ~uint32_t{0};

  // How a round ends: all threads are at the barrier or have exited; before the rest of them because the record is
  // full; or while the running thread is on its way, which has come back since, outside of a round.
  enum class End : uint8_t { kWhole, kRecordFull, kLeft };
  // Every thread of the block runs from one barrier to the next.
  struct Round {
    bool starts = false;                       // threads start in it
    uint32_t first = kNoThread;                // that goes before the others
    uint32_t barrier = kNoBarrier;             // at which they meet, once one has come to it
    BarrierCount brought;                      // to it so far
    uint64_t result = 0;                       // of the barrier that the round began with
    uint32_t frame_barrier = kNoFrameBarrier;  // that needs no look any more: it only waits
  };

  // The frame's first word is the function that goes on with it.
  void Resume(uint32_t thread) {
    void* const frame = frames_.Of(thread);
    (*static_cast<void (**)(void*)>(frame))(frame);
  }
  End RunRound();
  bool RunThread(uint32_t thread);  // its context is set up; false: End::kLeft
  bool ArriveRunning();             // at a barrier that needs a look, or at its end; false: the round has been left
  void OpenBarrier();
  void Leave(uint32_t next);  // threads from `next` on have not had their turn

  ThreadContext& context_;
  ThreadScheduler& threads_;
  RecordLimits& limits_;
  RecordLog& log_;
  BarrierTable& barriers_;
  WarpRendezvous& warps_;
  KernelCall call_;
  FrameMemory frames_;
  bool has_room_ = false;
  bool allowed_ = false;
  uint32_t to_resume_ = kNoThread;
  bool in_round_ = false;
  Round round_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_FRAME_ROUNDS_H_
