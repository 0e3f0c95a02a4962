// Runs the thread blocks of kernel launches one after the other, and hands their records on.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_RUNNER_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_RUNNER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracegen/execute/block/block_observer.h"
#include "tracegen/execute/block/block_recorder.h"
#include "tracegen/execute/block/block_sink.h"
#include "tracegen/execute/block/block_threads.h"
#include "tracegen/execute/block/device_services.h"
#include "tracegen/execute/block/fault_handler.h"
#include "tracegen/execute/block/outside_accesses.h"
#include "tracegen/execute/block/record_log.h"
#include "tracegen/execute/block/runner_options.h"
#include "tracegen/execute/block/thread_places.h"
#include "tracegen/execute/launch/geometry.h"
#include "tracegen/execute/launch/launch_form.h"
#include "tracegen/execute/launch/warnings.h"
#include "tracegen/execute/threads/wait_marks.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// One kernel launch after the other: composes what runs the threads of a block (BlockThreads) with what takes their
// records (BlockRecorder), and says in words what has gone wrong.
class BlockRunner {
 public:
  // `shared_marks`: those of all blocks that are live at once, of which this runner has one at a time; null: its blocks
  // run alone.
  explicit BlockRunner(RunnerOptions options, WaitMarks* shared_marks = nullptr);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  // Runs all blocks of a launch in order; their records go to `writer` unless it is null (then the kernel must have
  // been made without recording). Memory of local arrays must be mapped. Shared memory is zero when a block begins, so
  // that programs which read it too early are at least reproducible. Errors name kernel, block, thread and, where
  // known, the source line: memory faults, stack overflow, failed assertions, traps, barriers and warp operations that
  // cannot complete, the bound on instructions. CancelledError: the run was interrupted by a signal.
  absl::Status Run(const KernelCall& call, const Geometry& geometry, trace::TraceWriter* writer);

  // Run in steps, without what Run says about memory alone: BeginLaunch, then RunBlocks for ranges of blocks,
  // ascending, then EndLaunch unless there was an error. What `geometry` says about blocks is only whether block 0 is
  // among them. `sink` may be null as the writer may.
  void BeginLaunch(const KernelCall& call, const Geometry& geometry, BlockSink* sink);
  absl::Status RunBlocks(uint64_t first, uint64_t end);
  void EndLaunch();

  // Blocks in turns with those of other runners, between BeginLaunch and EndLaunch: BeginBlock, then TakeTurn until the
  // block has ended. The caller handles faults: FaultError says what has happened, and Abandon must follow, as after
  // errors.
  void BeginBlock(uint64_t block);
  // The block that has begun is one of a cluster whose blocks take turns. They join in the order of their ranks.
  void JoinCluster(LiveCluster& cluster) { threads_.JoinCluster(cluster); }
  bool FailOneTest() { return threads_.FailOneTest(); }
  bool LetGo() { return threads_.warps().LetGo(); }
  enum class TurnEnd : uint8_t {
    kFinished,
    kIdle,
    kGoesOn
  };  // kIdle: all threads poll in vain, or wait for other blocks
  // Each thread may run `thread_instructions`, and the block `most_instructions`: what is left of the run's limit.
  // Errors: as of Run.
  absl::StatusOr<TurnEnd> TakeTurn(uint64_t thread_instructions, uint64_t most_instructions);
  // Behind a failure of this block or of one that takes turns with it: see BlockRecorder.
  void ShowFailedBlock() { recorder_.ShowFailedBlock(); }
  void Abandon() { threads_.Abandon(); }
  absl::Status FaultError(const FaultHandler& fault) const;
  // No thread of the block can go on, after kIdle. `more`: what else is to be said.
  absl::Status IdleError(const std::string& more) const;
  uint32_t shared_bytes() const { return shared_bytes_; }

  // For blocks of a launch that a copy of this runner has run in another process (parallel_blocks.h). What a copy does
  // before it runs blocks: records go to `sink` and `observer`, text to `print`.
  void Redirect(BlockSink* sink, BlockObserver* observer, std::function<void(const std::string& text)> print);
  // What it does before each range: counts from `instructions`, as if nothing had been divided by zero.
  void CountFrom(uint64_t instructions);
  // The original goes on as if it had run the blocks: their number of instructions, and division_by_zero() of the copy.
  void Skip(uint64_t instructions, uint32_t division_by_zero);
  uint32_t division_by_zero() const { return threads_.context().division_by_zero; }
  // What clock() shows in device code.
  uint64_t clock() const { return threads_.context().clock; }
  void set_clock(uint64_t clock) { threads_.context().clock = clock; }
  BlockObserver* observer() const { return recorder_.observer(); }
  // Bytes of records of a block that is not cut in time, at most.
  uint64_t LargestBlock() const { return recorder_.LargestBlock(); }

  // Who has waited for whose change of memory in the launch that ran last: what trace::v1::LaunchEnd tells.
  WaitMarks& waits() { return threads_.polling().marks(); }

  // What is allocated while the next launches run, and the program that they record: accesses outside are warned about
  // once per kernel, with the place in the source. (Only recorded launches are looked at.)
  void SetBounds(const std::vector<trace::v1::Allocation>& allocations, const trace::v1::KernelProgram* program) {
    outside_.SetBounds(allocations, program);
  }

  // Who sees the records of the launches that follow; may be null.
  void SetObserver(BlockObserver* observer) { recorder_.SetObserver(observer); }

  // The heap of the launches that follow, and how many blocks of theirs are live at once (RunnerOptions).
  void SetHeap(DeviceHeap* heap) { options_.heap = heap; }
  void SetLiveBlocks(uint32_t blocks) { options_.resident_blocks = blocks; }

  // Thread-instructions counted by the generated code, over all launches.
  uint64_t instructions() const { return threads_.context().instructions; }
  // What the user should know about the launches so far, such as divisions by zero.
  const std::vector<std::string>& warnings() const { return warnings_.all(); }

 private:
  absl::Status RunBlock(uint64_t block);
  // After kRecordFull: writes the part, or says why the run cannot go on.
  absl::Status EmptyRecord();
  // What is wrong after kStuck, kFailed and kOutOfMemory.
  absl::Status StopError(BlockStop stop) const;
  // Why a block that runs alone cannot go on after kIdle.
  std::string WhyIdle() const;
  // That blocks do not see one another, and how they can.
  std::string OneBlockAtATime() const;
  // What the matter is with an address in the window of clusters that cannot be accessed.
  std::string DescribeShare(uint64_t address) const;
  // Where the running thread is, in words.
  std::string RunningThread() const;

  RunnerOptions options_;
  Warnings warnings_;
  RecordLog log_;
  BlockThreads threads_;
  ThreadPlaces places_;
  OutsideAccesses outside_;
  BlockRecorder recorder_;
  DeviceServices services_;
  Geometry geometry_;
  uint32_t shared_bytes_ = 0;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_RUNNER_H_
