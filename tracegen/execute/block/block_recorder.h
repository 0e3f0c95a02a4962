// From what the threads of a block record to those who want it.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_RECORDER_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_RECORDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "tracegen/execute/block/block_observer.h"
#include "tracegen/execute/block/block_sink.h"
#include "tracegen/execute/block/outside_accesses.h"
#include "tracegen/execute/block/record_limits.h"
#include "tracegen/execute/block/record_log.h"
#include "tracegen/execute/block/runner_options.h"
#include "tracegen/execute/launch/geometry.h"
#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/instrument/instrument.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {

// A block that fits goes to the sink as a whole, when it has ended. One that does not is cut in time: each part goes
// there when it is full. The observer sees the same behind the sink. Without a sink, records are thrown away, unless
// there is an observer and RunnerOptions::whole_block_entries keeps them.
class BlockRecorder {
 public:
  // All must outlive the object. The recorder sets the record cursors in `context`.
  BlockRecorder(const RunnerOptions& options, ThreadContext& context, ThreadScheduler& threads, RecordLimits& limits,
                RecordLog& log, OutsideAccesses& outside)
      : options_(options), context_(context), threads_(threads), limits_(limits), log_(log), outside_(outside) {}

  // Who sees the records of the blocks that follow; may be null.
  void SetSink(BlockSink* sink) { sink_ = sink; }
  void SetObserver(BlockObserver* observer) { observer_ = observer; }
  BlockObserver* observer() const { return observer_; }

  void BeginLaunch(const InstrumentedKernel& kernel, BlockSink* sink) {
    kernel_ = &kernel;
    sink_ = sink;
  }
  // A block begins: makes room, and sets cursors and limits.
  void BeginBlock(uint64_t block);
  uint64_t block() const { return block_; }

  // The record is full, and the block goes on. Errors: those of the sink and the observer; ResourceExhausted if a block
  // that is kept whole takes too much.
  absl::Status Cut();
  // All threads have ended. Errors: those of the sink and the observer.
  absl::Status Finish();
  // The block has failed: shows the observer how far its threads had come. Of the running one, the latest may be
  // missing: generated code keeps its cursors in registers.
  void ShowFailedBlock();

  // Bytes of records of a block that is not cut in time, at most.
  uint64_t LargestBlock() const;

 private:
  // Whether whole blocks go to the observer, without a sink.
  bool KeepsBlocks() const { return sink_ == nullptr && observer_ != nullptr && options_.whole_block_entries != 0; }
  // A part begins behind what the log has kept of the last one.
  void BeginPart();
  absl::Status KeepOn();
  absl::Status HandOverPart(bool last);
  // The next part begins with what threads must pass again: addresses behind their last decision.
  void CarryOver();

  const RunnerOptions& options_;
  ThreadContext& context_;
  ThreadScheduler& threads_;
  RecordLimits& limits_;
  RecordLog& log_;
  OutsideAccesses& outside_;
  const InstrumentedKernel* kernel_ = nullptr;
  BlockSink* sink_ = nullptr;
  BlockObserver* observer_ = nullptr;
  uint64_t block_ = 0;
  uint64_t start_instructions_ = 0;  // ThreadContext::instructions when it began
  bool is_cut_ = false;              // some part of the block has been handed over
  std::vector<uint64_t> consumed_;   // by thread: addresses that need not be passed again
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_BLOCK_RECORDER_H_
