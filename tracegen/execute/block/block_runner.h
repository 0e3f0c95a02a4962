// Runs the threads of thread blocks on the CPU, one at a time on switchable stacks, and hands their records on.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_RUNNER_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_RUNNER_H_

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tracegen/execute/block/block_sink.h"
#include "tracegen/execute/block/fiber.h"
#include "tracegen/execute/block/record_log.h"
#include "tracegen/execute/block/wait_marks.h"
#include "tracegen/execute/launch/geometry.h"
#include "tracegen/execute/memory/bounds_check.h"
#include "tracegen/execute/memory/device_heap.h"
#include "tracegen/instrument/instrument.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/base/random.h"
#include "traces/format/limits.h"
#include "traces/format/program/program.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

class DeviceMemory;
class FaultHandler;

// A process more costs some milliseconds, and a kernel whose blocks turn out to communicate what they have done.
inline constexpr double kSecondsBeforeSpreading = 0.1;

struct RunnerOptions {
  uint64_t part_instructions = trace::kChunkThreadInstructions;  // a block is cut in time at these
  uint64_t part_accesses = trace::kChunkAccesses;
  uint64_t max_instructions = ~uint64_t{0};                              // of the run; reaching it is an error
  std::function<void(uint64_t blocks, uint64_t instructions)> progress;  // called now and then; may be empty
  // What is known of an address that a kernel may not access, such as "in 'a', which has been freed"; may be empty.
  std::function<std::string(uint64_t address)> describe_address;
  std::function<void(const std::string& text)> print;  // receives what printf of device code prints; may be empty
  DeviceHeap* heap = nullptr;                          // of device code; null = malloc finds nothing
  // Blocks and threads in a pseudo-random order that follows from this number, within what barriers and warp operations
  // allow, and threads give way at random loop iterations. Only without a writer, which wants blocks in order.
  std::optional<uint64_t> order_seed;
  // Without a writer: records of a block are kept until it ends, up to so many accesses and so many decisions; more is
  // a ResourceExhausted error. 0 = they are thrown away. Threads take turns as if the block were cut in time all the
  // same.
  uint64_t whole_block_entries = 0;
  // The threads of a warp run from one memory access to the next together (the kernel must have been made for it).
  bool lockstep = false;
  // Of blocks that are live at once (ResidentBlocks): how many; which of them this runner runs; and how many
  // instructions a thread runs before it gives way, 0 = a share of the record.
  uint32_t resident_blocks = 1;
  const char* resident_blocks_setting = "--resident-blocks ";  // how messages tell the user to choose their number
  uint32_t slot = 0;
  uint64_t turn_instructions = 0;
  // Reads outside all allocations pass (FaultHandler); and how messages tell the user to let them.
  bool allow_outside_reads = false;
  const char* allow_outside_reads_setting = "--allow-bounds";
  // Of launches whose blocks are spread over processes (LaunchRunner): how many, 1 = none; the memory that they work
  // on; how long a kernel has run before they are started; and who is told that the blocks of a kernel cannot be
  // spread.
  unsigned jobs = 1;
  DeviceMemory* memory = nullptr;
  double seconds_before_spreading = kSecondsBeforeSpreading;
  std::function<void(const std::string& text)> note;  // may be empty
};

// Sees what the threads of a block have recorded, after the writer. Errors end the run.
class BlockObserver {
 public:
  virtual ~BlockObserver() = default;
  // A block of which nothing has been handed over is whole if `last` is true at once. Threads of a part pass what
  // ThreadRecord says; addresses behind consumed[t] belong to the next part and may not have been written.
  virtual absl::Status AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t> consumed,
                                bool last) = 0;

  // Blocks of one launch may be shown to copies of an observer in other processes: then what a copy has found since the
  // last call, and what adds it here. Findings are added in the order of blocks. False: all blocks come here.
  virtual bool CanBeCopied() const { return false; }
  virtual std::string TakeFindings() { return ""; }
  virtual void AddFindings(std::string_view) {}
};

// One kernel launch after the other. A thread runs until it ends, waits for others (barrier, warp operation, a loop
// that polls memory in vain), or has used up its share of the record; then the next thread that has not begun takes
// over, else the one that has waited longest. So the order is always the same, and all threads of a block that is cut
// in time move on about equally. Threads that poll in vain are not asked again before something has changed.
class BlockRunner {
 public:
  explicit BlockRunner(RunnerOptions options);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  // Runs all blocks of a launch in order; their records go to `writer` unless it is null (then the kernel must have
  // been made without recording). Memory of local arrays must be mapped. Shared memory is zero when a block begins, so
  // that programs which read it too early are at least reproducible. Errors name kernel, block, thread and, where
  // known, the source line: memory faults, stack overflow, failed assertions, traps, barriers and warp operations that
  // cannot complete, the bound on instructions. CancelledError: the run was interrupted by a signal.
  absl::Status Run(const InstrumentedKernel& kernel, KernelEntry entry, const void* const* arguments,
                   const Geometry& geometry, trace::TraceWriter* writer);

  // Run in steps, without what Run says about memory alone: BeginLaunch, then RunBlocks for ranges of blocks,
  // ascending, then EndLaunch unless there was an error. What `geometry` says about blocks is only whether block 0 is
  // among them. `sink` may be null as the writer may.
  void BeginLaunch(const InstrumentedKernel& kernel, KernelEntry entry, const void* const* arguments,
                   const Geometry& geometry, BlockSink* sink);
  absl::Status RunBlocks(uint64_t first, uint64_t end);
  void EndLaunch();

  // For blocks of a launch that a copy of this runner has run in another process (parallel_blocks.h). What a copy does
  // before it runs blocks: records go to `sink` and `observer`, text to `print`.
  void Redirect(BlockSink* sink, BlockObserver* observer, std::function<void(const std::string& text)> print);
  // What it does before each range: counts from `instructions`, as if nothing had been divided by zero.
  void CountFrom(uint64_t instructions);
  // The original goes on as if it had run the blocks: their number of instructions, and division_by_zero() of the copy.
  void Skip(uint64_t instructions, uint32_t division_by_zero);
  uint32_t division_by_zero() const { return context_.division_by_zero; }
  uint64_t clock() const { return context_.clock; }
  BlockObserver* observer() const { return observer_; }
  // Bytes of records of a block that is not cut in time, at most.
  uint64_t LargestBlock() const;

  // Who has waited for whose change of memory in the launch that ran last: what trace::v1::LaunchEnd tells.
  WaitMarks& waits() { return *waits_; }

  // What is allocated while the next launches run, and the program that they record: accesses outside are warned about
  // once per kernel, with the place in the source. (Only recorded launches are looked at.)
  void SetBounds(const std::vector<trace::v1::Allocation>& allocations, const trace::v1::KernelProgram* program);

  // Who sees the records of the launches that follow; may be null.
  void SetObserver(BlockObserver* observer) { observer_ = observer; }

  // The heap of the launches that follow (RunnerOptions::heap).
  void SetHeap(DeviceHeap* heap) { options_.heap = heap; }

  // Thread-instructions counted by the generated code, over all launches.
  uint64_t instructions() const { return context_.instructions; }
  // What the user should know about the launches so far, such as divisions by zero.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Called from generated code; see thread_context.h.
  void Yield();
  uint32_t Barrier(uint32_t site, uint32_t id, uint32_t threads, BarrierReduction reduction, uint32_t predicate);
  // Lockstep: the running thread is in front of a memory access of PTX instruction `pc`.
  void BeforeAccess(uint32_t pc);
  uint64_t WarpMeeting(uint32_t site, WarpOperation operation, uint32_t mask, uint64_t value, uint32_t b, uint32_t c,
                       bool converged);
  void Print(const std::string& text) const;
  uint64_t Allocate(uint64_t bytes);
  void Free(uint32_t site, uint64_t address);
  // A polling loop has ended an iteration that changed nothing; `address` is what it polls, 0 = unknown.
  void Spin(uint32_t wait, uint64_t address);
  // The running thread has changed memory while others wait for a change.
  void Wrote(uint64_t address, uint64_t bytes);
  // Fails unless all blocks of the launch are live at once: for barriers of the whole grid.
  void RequireResidentGrid(uint32_t site);
  // One of the addresses in `record`, all those of the current IR block, is no multiple of the access's size.
  [[noreturn]] void FailMisaligned(const uint64_t* record);
  [[noreturn]] void Fail(std::string message);  // of the running thread
  [[noreturn]] void ExitThread();
  std::string SiteText(uint32_t site) const;

 private:
  friend class ResidentBlocks;  // several runners, whose blocks take turns

  enum class State : uint8_t {
    kNotStarted,
    kRunning,
    kReady,
    kAtBarrier,
    kAtWarpOperation,
    kConverging,
    kAtAccess,
    kExited
  };
  // kIdle: all threads that could run poll in vain. kTurnOver: other blocks are to go on.
  enum class Stop : uint8_t { kNone, kFinished, kRecordFull, kStuck, kIdle, kTurnOver, kFailed };

  // The first cache line is all that a round needs.
  struct alignas(64) Thread {
    ThreadOwn own;
    Fiber* fiber = nullptr;  // of a thread that waits: its stack; null: it has left a frame
    uint32_t meeting = 0;    // ThreadContext::meeting, of a thread that has come to the barrier of a round
    State state = State::kNotStarted;
    // What it waits for.
    uint32_t site = 0;
    uint32_t barrier = 0;
    WarpOperation operation = WarpOperation::kSync;
    uint32_t mask = 0;
    uint64_t value = 0;
    uint32_t b = 0;
    uint32_t c = 0;
    uint64_t result = 0;
    uint64_t position = 0;  // kAtAccess: lower ones go first
    // Kernels that wait in loops.
    uint64_t progress = 0;  // ThreadContext::progress
    uint32_t waiting = 0;   // ThreadContext::waiting
    uint64_t idle_in = 0;   // WaitMarks::epoch() in which it has polled in vain; it goes on in a later one
  };
  // What a thread did when it polled in vain last.
  struct Polling {
    uint32_t wait = 0;        // 1 + number of the loop
    uint32_t spins = 0;       // so often, one time after the other
    uint64_t address = 0;     // that it polled
    uint64_t progress = 0;    // ThreadContext::progress at that time
    uint64_t polled_in = 0;   // epoch when the iteration began
    uint64_t last_value = 0;  // that it brought to the operation of site last_site - 1
    uint32_t last_site = 0;
    WaitMarks::Open open;
  };
  struct BarrierCount {
    uint32_t arrived = 0;
    uint32_t expected = 0;  // 0 = all
    uint32_t count = 0;     // threads with a true predicate
    BarrierReduction reduction = BarrierReduction::kNone;
  };
  struct Warp {
    uint32_t alive = 0;    // lanes that have not exited
    uint32_t blocked = 0;  // lanes that wait at a barrier or a warp operation
  };

  // Whether whole blocks go to the observer.
  bool KeepsBlocks() const { return sink_ == nullptr && observer_ != nullptr && options_.whole_block_entries != 0; }
  static void FiberMain(void* self);
  void FiberLoop();
  // Kernels whose threads leave frames (InstrumentedKernel::frame_bytes); thread_rounds.cc.
  bool UsesFrames() const { return kernel_->frame_bytes != 0; }
  char* FrameOf(uint32_t thread) const { return frames_ + thread * frame_stride_; }
  void PlaceFrames();
  // How a round ends: all threads are at the barrier or have exited; before the rest of them because the record is
  // full; or while the running thread is on its way, which has come back since, outside of a round.
  enum class RoundEnd : uint8_t { kWhole, kRecordFull, kLeft };
  void RunFrames();  // threads that begin, and the one of frame_to_resume_
  void AfterTurn();  // the running thread has come back: it has ended, waits, or goes on
  // Round after round from here on: `first` goes on from a barrier and the others, all of which wait there, follow; or,
  // if it is kNoThread, all threads of the block begin. True if the running thread has come back outside of a round.
  bool RunRounds(uint32_t first);
  RoundEnd RunRound();
  bool RunInRound(uint32_t thread);  // its context is set up; false: RoundEnd::kLeft
  bool ArriveInRound();              // the running thread, at a barrier that needs a look; false: as before
  bool ShareRecord();                // among the threads of a round; false: it is full
  void OpenBarrierOfRound();
  void LeaveRound(uint32_t next);  // threads from `next` on have not had their turn
  void LeaveRoundOfRunning();
  absl::Status RunBlock(uint64_t block);
  // Lets the threads of the block run until something is to be done about it.
  Stop Continue();
  // kRecordFull: writes the part, or says why the run cannot go on.
  absl::Status EmptyRecord();
  // What is wrong after kStuck, kFailed and kNone.
  absl::Status StopError(Stop stop) const;
  // After kIdle: no thread can go on. `more`: what else is to be said.
  absl::Status IdleError(const std::string& more) const;
  uint64_t LocalOf(uint32_t thread) const;  // start of its local memory
  bool TurnOver() const { return context_.instructions >= turn_limit_; }
  // Whether every thread that could run has polled in vain since the last change; moves one that has not to the front.
  bool AllIdle();
  // Whether the running thread does the same thing over and over again. If not, others may soon have a reason to go on.
  bool Waits() const { return context_.waiting != 0 && polling_[running_].spins >= 2; }
  void NoteActivity() {
    if (!Waits()) waits_->Changed();
  }
  void NoteMeeting(uint32_t site, bool brings_value, uint64_t value);
  absl::Status FinishBlock();
  absl::Status CutBlock(bool last);
  void BeginBlock(uint64_t block);
  void BeginPart();
  void StartThread(uint32_t thread);
  void FinishThread();
  void ResumeThread(uint32_t thread);
  void SetLimits();
  void SetLimits(uint64_t instructions, const uint64_t* cursor);  // of a thread that went on there
  void ExtendLimits();                                            // as if a part began
  void ScrambleReady();                                           // another thread to the head of ready_
  // Lockstep: lets the threads of a warp that go on next go on. Of a warp whose threads furthest behind poll in vain,
  // those that are still in the loop; none, as on a device, if all others have left it.
  void ReleaseTogether();
  // Lockstep: a thread that waits for others of its warp which poll in vain; kNoThread if there is none.
  uint32_t HeldBack() const;
  struct WarpFront {
    uint64_t lowest = ~uint64_t{0};   // position of the threads in front of an access that are furthest behind
    uint64_t polling = ~uint64_t{0};  // and of those that poll in vain
    uint32_t loop = 0;                // in which these do: WaitSite
  };
  WarpFront FrontOf(uint32_t warp) const;
  uint64_t PositionOf(uint32_t pc) const { return pc + (pc < kernel_->kernel_instructions ? uint64_t{1} << 32 : 0); }
  bool RecordFull() const;
  // Gives the processor away; returns when the thread goes on.
  void Suspend();
  // Keeps what the running thread needs to go on: with `fiber` as its stack, or null.
  void Leave(Fiber* fiber);
  void KeepOwn(Thread& thread, Fiber* fiber);  // the part of it that all kernels need
  // The fiber that runs next, or null with stop_ set: back to the launching stack.
  Fiber* Next();
  void CloseSegment();
  void Release(uint32_t thread);
  // True if the running thread goes on at once; else it has to wait.
  bool ArriveAtBarrier(uint32_t site, uint32_t id, uint32_t threads, BarrierReduction reduction, uint32_t predicate);
  static uint32_t ResultOf(const BarrierCount& barrier);
  void CheckBarrier(uint32_t id);
  void CheckWarp(uint32_t warp);
  bool CompleteMeeting(uint32_t warp, uint32_t lane);
  void CompleteConverged(uint32_t warp);
  void Resolve(uint32_t warp, uint32_t lanes);
  absl::Status StuckError() const;
  std::string Where(uint32_t thread) const;
  std::string Coordinates(uint32_t thread) const;
  std::string FaultText(const FaultHandler& fault) const;
  Site LastAccess(const void* address) const;
  void Warn(const std::string& text);
  const BoundsCheck* BoundsToCheck() const;  // null: nothing is checked
  void WarnOfAccessOutside();                // if the records hold one
  std::string PlaceOfAccess(const trace::ThreadRecord& record, size_t position) const;

  RunnerOptions options_;
  BoundsCheck bounds_;
  const trace::v1::KernelProgram* program_ = nullptr;  // of the kernel, if bounds are checked
  bool warned_of_bounds_ = false;                      // of this kernel
  std::set<std::string> kernels_outside_;              // that have been warned about
  ThreadContext context_;
  FiberPool fibers_;
  RecordLog log_;

  // The launch.
  const InstrumentedKernel* kernel_ = nullptr;
  KernelEntry entry_ = nullptr;
  const void* const* arguments_ = nullptr;
  Geometry geometry_;
  BlockSink* sink_ = nullptr;
  BlockObserver* observer_ = nullptr;
  uint32_t shared_bytes_ = 0;
  WaitMarks own_waits_;
  WaitMarks* waits_ = &own_waits_;

  // The block.
  uint64_t block_ = 0;
  uint64_t turn_limit_ = ~uint64_t{0};  // of context_.instructions
  uint32_t thread_count_ = 0;
  uint32_t next_thread_ = 0;  // first that has not begun
  uint32_t exited_ = 0;
  uint32_t running_ = 0;  // the thread that runs
  uint32_t next_tid_[3] = {};
  Fiber* running_fiber_ = nullptr;
  void* launcher_ = nullptr;  // stack pointer of Run while fibers run
  Stop stop_ = Stop::kNone;
  bool cut_ = false;         // some part of the block has been written
  uint64_t part_limit_ = 0;  // of context_.instructions
  const uint64_t* part_address_limit_ = nullptr;
  uint64_t block_start_instructions_ = 0;
  std::vector<Thread> threads_;
  std::vector<Polling> polling_;  // by thread; empty unless the kernel waits in loops
  std::vector<Warp> warps_;
  BarrierCount barriers_[16];
  std::vector<uint32_t> ready_;  // ring of threads that can go on
  uint32_t ready_head_ = 0;
  uint32_t ready_count_ = 0;
  // Kernels whose threads leave frames at barriers.
  static constexpr uint32_t kNoThread = ~uint32_t{0};
  static constexpr uint32_t kNoBarrier = ~uint32_t{0};
  static constexpr uint32_t kNoMeeting = ~uint32_t{0};
  static constexpr uint64_t kSmallestShare = 64;  // instructions a thread may run before others get their turn
  std::unique_ptr<char, decltype(&std::free)> frame_memory_{nullptr, &std::free};
  char* frames_ = nullptr;
  uint64_t frame_stride_ = 0;
  uint64_t frame_capacity_ = 0;           // bytes of frame_memory_
  uint32_t frame_to_resume_ = kNoThread;  // thread that the next fiber goes on with
  uint32_t on_stacks_ = 0;                // threads that wait on a stack
  bool rounds_allowed_ = false;           // of the launch
  // A round: every thread of the block runs from one barrier to the next.
  bool in_round_ = false;
  bool round_begins_ = false;         // threads begin in it
  uint32_t round_first_ = kNoThread;  // that goes before the others
  uint32_t round_barrier_ = 0;        // at which they meet, once one has come to it
  uint64_t round_result_ = 0;         // of the barrier that the round began with
  uint32_t round_meeting_ = 0;        // ThreadContext::meeting that needs no look any more: a barrier that only waits
  // What a thread that goes on in the round may add before it asks for its limits, as long as the record is no longer
  // than this.
  bool limits_are_estimates_ = false;
  uint64_t instruction_share_ = 0;
  uint64_t address_share_ = 0;
  uint64_t shares_hold_to_instructions_ = 0;
  const uint64_t* shares_hold_to_address_ = nullptr;

  Random random_{0};                   // order_seed
  std::vector<uint32_t> start_order_;  // of threads; empty = ascending
  uint32_t next_warp_ = 0;             // lockstep: whose turn it is
  std::string failure_;
  std::vector<uint64_t> consumed_;
  std::vector<std::string> warnings_;
};

inline void BlockRunner::KeepOwn(Thread& thread, Fiber* fiber) {
  thread.fiber = fiber;
  thread.own.block_base = context_.own.block_base;
  thread.own.local_pointer = context_.own.local_pointer;
  thread.own.location = context_.own.location;
}

inline void BlockRunner::Leave(Fiber* fiber) {
  Thread& thread = threads_[running_];
  CloseSegment();
  KeepOwn(thread, fiber);
  thread.waiting = context_.waiting;
  if (thread.progress != context_.progress) {
    thread.progress = context_.progress;
    waits_->Changed();
  }
}

inline void BlockRunner::CloseSegment() { log_.Close(running_, context_.address_cursor, context_.decision_cursor); }

inline bool BlockRunner::RecordFull() const {
  return context_.instructions >= part_limit_ || context_.address_cursor >= part_address_limit_;
}

inline uint64_t BlockRunner::LocalOf(uint32_t thread) const {
  return kLocalBase + (uint64_t{options_.slot} * thread_count_ + thread) * kLocalStride;
}

// Asks the running capture to stop at the next opportunity; safe in a signal handler.
void RequestInterrupt();
bool InterruptRequested();

// Functions that generated code may call.
const std::vector<std::pair<std::string, void*>>& RuntimeFunctions();

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_RUNNER_H_
