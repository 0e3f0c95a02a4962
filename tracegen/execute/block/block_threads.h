// Runs the threads of one thread block on the CPU, one at a time on switchable stacks.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_THREADS_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_THREADS_H_

#include <cstdint>
#include <string>

#include "tracegen/execute/block/frame_rounds.h"
#include "tracegen/execute/block/record_limits.h"
#include "tracegen/execute/block/record_log.h"
#include "tracegen/execute/block/runner_options.h"
#include "tracegen/execute/block/thread_places.h"
#include "tracegen/execute/launch/geometry.h"
#include "tracegen/execute/launch/launch_form.h"
#include "tracegen/execute/threads/barrier_table.h"
#include "tracegen/execute/threads/fiber.h"
#include "tracegen/execute/threads/lockstep_order.h"
#include "tracegen/execute/threads/polling_watch.h"
#include "tracegen/execute/threads/split_waits.h"
#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/execute/threads/warp_rendezvous.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {

// Why the threads of a block have stopped. kIdle: all threads that could run poll in vain. kTurnOver: other blocks are
// to go on. kStuck: the threads wait for others that never come. kFailed: one has done what a device would not.
// kOutOfMemory: for stacks or frames.
enum class BlockStop : uint8_t { kFinished, kRecordFull, kStuck, kIdle, kTurnOver, kFailed, kOutOfMemory };

// Composes what threads of a block do: a thread runs until it ends, waits for others (barrier, warp operation, a loop
// that polls memory in vain), or has used up its share of the record; then the next thread that has not begun takes
// over, else the one that has waited longest. So the order is always the same, and all threads of a block that is cut
// in time move on about equally. Threads that poll in vain are not asked again before something has changed.
class BlockThreads {
 public:
  // `options`, `log`, which receives what each thread records, and `shared_marks`, which may be null (PollingWatch),
  // must outlive the object.
  BlockThreads(const RunnerOptions& options, RecordLog& log, WaitMarks* shared_marks);
  BlockThreads(const BlockThreads&) = delete;
  BlockThreads& operator=(const BlockThreads&) = delete;

  // A launch begins, or a range of its blocks. `record`: its blocks are recorded.
  void BeginLaunch(const KernelCall& call, const Geometry& geometry, bool record);
  // A range of blocks begins: random orders start over.
  void BeginBlocks() { threads_.Reseed(); }
  // A block begins, whose indices are in the context, of the cluster with that number; without clusters each block is
  // one.
  void BeginBlock(uint64_t block, uint64_t cluster);
  // It is one of a cluster whose blocks are live at once; they join in the order of their ranks. If its threads wait
  // for those of others, it stops with kIdle. FailOneTest: no block can go on; see TransactionBarriers::FailOne.
  void JoinCluster(LiveCluster& cluster) { waits_.Join(cluster); }
  bool FailOneTest() { return waits_.transactions.FailOne(); }
  // Lets the threads of the block run until something is to be done about it. A fault in device code leaves by the
  // fault handler; then, and after errors, Abandon makes all stacks usable again.
  BlockStop Continue();
  void Abandon() { fibers_.pool().Reset(); }

  // For those who compose a runner: the parts that it shares.
  ThreadContext& context() { return context_; }
  const ThreadContext& context() const { return context_; }
  ThreadScheduler& scheduler() { return threads_; }
  const ThreadScheduler& scheduler() const { return threads_; }
  RecordLimits& limits() { return limits_; }
  PollingWatch& polling() { return polling_; }
  const PollingWatch& polling() const { return polling_; }
  WarpRendezvous& warps() { return warps_; }
  const FiberPool& stacks() const { return fibers_.pool(); }
  const InstrumentedKernel& kernel() const { return *call_.kernel; }

  // What is wrong after kFailed, of the running thread.
  const std::string& failure() const { return failure_; }
  // Whom the threads wait for after kStuck: "thread (0,0,0) and 3 more at barrier 0 at k.cu:12; 4 threads have exited".
  std::string DescribeStuck(const ThreadPlaces& places) const;
  // After kIdle: a thread that waits for others of its warp which poll in vain (LockstepOrder); kNoThread: none.
  uint32_t FindHeldBack() const { return options_.lockstep ? lockstep_.FindHeldBack() : ThreadScheduler::kNoThread; }

  // Called from generated code for the running thread; see thread_context.h.
  void Yield();
  uint32_t Barrier(const FrameBarrier& barrier, uint32_t predicate);
  uint64_t ArriveAtWarpOperation(const WarpRequest& request, const LaneOperands& operands);
  // It arrives at a barrier and goes on; arrives at the cluster's barrier, or waits for it.
  void ArriveOnly(const FrameBarrier& barrier);
  void MeetCluster(uint32_t site, bool waits);
  // It copies in the background, and waits for all but the `pending` youngest groups of copies (kWaitForAll).
  void Copy(uint64_t to, uint64_t from, uint32_t bytes, uint32_t read) {
    waits_.copies.Copy(threads_.running(), to, from, bytes, read);
  }
  void CommitCopies() { waits_.copies.Commit(threads_.running()); }
  void WaitForCopies(uint32_t pending);
  // It does something to a transaction barrier, and gets the state before; waits for a phase
  // (TransactionBarriers::Test).
  uint64_t Transact(uint32_t site, Transaction operation, uint64_t address, uint32_t number);
  uint64_t WaitForPhase(TransactionBarriers::Wait wait);
  // Lockstep: the thread is in front of a memory access of PTX instruction `pc`.
  void BeforeAccess(uint32_t pc);
  // The kernel's polling loop number `wait` has ended an iteration that changed nothing; `address` is what it polls, 0
  // = unknown.
  void Spin(uint32_t wait, uint64_t address);
  // The running thread has ended an iteration of a loop that polls several places, in a state that this number stands
  // for; has left the loop.
  void Iterate(uint32_t wait, uint64_t state);
  void LeaveLoop(uint32_t wait) { polling_.LeaveLoop(wait); }
  // The thread has changed memory while others wait for a change.
  void Wrote(uint64_t address, uint64_t bytes) { polling_.Wrote(address, bytes); }
  [[noreturn]] void Fail(std::string message);
  [[noreturn]] void ExitThread() { heddle_leave_kernel(fibers_.running()->unwind); }

 private:
  static void FiberMain(void* self) { static_cast<BlockThreads*>(self)->RunFiber(); }
  // What every fiber does: starts threads, and yields where there is none to start.
  void RunFiber();
  // Of kernels whose threads leave frames: threads that start, and one that is to be resumed.
  void RunFrames();
  // The running thread, which leaves frames, has come back: it has ended, waits, or goes on.
  void AfterFrame();
  bool MayStart() const { return threads_.has_new() && !limits_.IsFull() && !limits_.IsTurnOver() && !is_stopped(); }
  void StartThread();
  void FinishThread();
  void ResumeThread(uint32_t thread);
  // Keeps what the running thread needs to go on: with `stack`, or null if it has left a frame.
  void Leave(Fiber* stack);
  // Gives the processor away; returns when the running thread goes on.
  void Suspend();
  // The fiber that runs next, or null: back to the launching stack, with stop_ set, or because there is no memory.
  Fiber* Next();
  bool is_stopped() const { return stop_ != BlockStop::kOutOfMemory; }
  Fiber* Stop(BlockStop stop) {
    stop_ = stop;
    return nullptr;
  }
  // Fails if something is wrong, at this place of the source.
  void FailIf(std::string wrong, uint32_t site);
  // Fails where the running thread may not come to this barrier.
  bool ArriveAtBarrier(const FrameBarrier& barrier, uint32_t predicate);

  const RunnerOptions& options_;
  RecordLog& log_;
  ThreadContext context_;
  KernelCall call_;
  ThreadScheduler threads_;
  RecordLimits limits_;
  WarpRendezvous warps_;
  BarrierTable barriers_;
  SplitWaits waits_;
  PollingWatch polling_;
  LockstepOrder lockstep_;
  FrameRounds rounds_;
  FiberSwitch fibers_;
  BlockStop stop_ = BlockStop::kOutOfMemory;
  std::string failure_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_THREADS_H_
