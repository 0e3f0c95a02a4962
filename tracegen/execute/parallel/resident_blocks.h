// Several blocks of a launch that are live at once, as on a device: for kernels whose blocks wait for one another, and
// for clusters.
#ifndef HEDDLE_TRACEGEN_EXECUTE_PARALLEL_RESIDENT_BLOCKS_H_
#define HEDDLE_TRACEGEN_EXECUTE_PARALLEL_RESIDENT_BLOCKS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tracegen/execute/block/block_runner.h"
#include "tracegen/execute/launch/launch_form.h"
#include "tracegen/execute/launch/warnings.h"
#include "tracegen/execute/memory/cluster_memory.h"
#include "tracegen/execute/parallel/block_queue.h"
#include "tracegen/execute/parallel/in_order_writer.h"
#include "tracegen/execute/threads/split_waits.h"
#include "tracegen/execute/threads/wait_marks.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// Blocks begin in ascending order as soon as one of N places is free; those of a cluster begin together, and see one
// another's shared memory. They take turns: a thread runs at most
// kTurnInstructions before it yields at a loop, a block until each of its threads had so much, or until all of them
// wait. The order follows from the program alone. Memory: the stacks of the threads that are live, the record of one
// part per live block, and of blocks that have ended before earlier ones what InOrderWriter keeps.
class ResidentBlocks {
 public:
  static constexpr uint64_t kTurnInstructions = 1024;

  // options.resident_blocks: N. Of a launch with clusters, as many whole ones are live as fit, and at least one.
  explicit ResidentBlocks(RunnerOptions options);
  ~ResidentBlocks();

  // Runs all ranges, which cover the grid in ascending order. `recorded` and `native` are needed where a range is
  // or is not recorded, and hold whole clusters; `program` is that of the recorded form. Errors: those of
  // BlockRunner::Run; FailedPrecondition if every live thread waits for a change of memory that nobody makes, or for
  // others of its cluster.
  absl::Status Run(const LaunchForm* recorded, const LaunchForm* native, std::span<const GridRange> ranges,
                   const Geometry& geometry, const trace::v1::KernelProgram* program, trace::TraceWriter* writer);

  void SetBounds(const std::vector<trace::v1::Allocation>& allocations) { allocations_ = allocations; }
  void SetHeap(DeviceHeap* heap);
  // Who sees the records of recorded launches with clusters, of which one is live: by rank; may be empty.
  void SetObservers(std::vector<BlockObserver*> observers) { observers_ = std::move(observers); }
  WaitMarks& waits() { return waits_; }
  uint64_t instructions() const { return instructions_; }
  // Counts from there, as if the blocks before had run here.
  void CountFrom(uint64_t instructions) { instructions_ = instructions; }
  const std::vector<std::string>& warnings() const { return warnings_.all(); }

 private:
  class Sink;
  struct Slot {
    std::unique_ptr<BlockRunner> runner;
    std::unique_ptr<Sink> sink;
    bool live = false;
    bool record = false;
    uint64_t block = 0;
    const LaunchForm* form = nullptr;  // that the runner has begun
    uint64_t idle_in = 0;              // epoch in which none of its threads can go on
    std::vector<char> shared;          // while another slot uses the window
  };
  struct Clusters {
    uint32_t width = 1;                     // blocks of each
    std::unique_ptr<ClusterMemory> memory;  // of clusters of several blocks, as is the next
    std::vector<std::unique_ptr<LiveCluster>> live;
  };
  absl::Status RunAll(const LaunchForm* recorded, const LaunchForm* native, std::span<const GridRange> ranges);
  // The slots of a cluster, or the one of a block.
  std::span<Slot> Group(size_t cluster) {
    return std::span(slots_).subspan(cluster * clusters_.width, clusters_.width);
  }
  void BeginGroup(size_t cluster, const LaunchForm& form, const BlockQueue& queue);
  void Begin(Slot& slot, const LaunchForm& form, bool record, uint64_t block);
  // One turn; `progressed` unless nothing could be done.
  absl::Status Turn(Slot& slot, bool* progressed);
  void Activate(Slot& slot);
  // No thread can go on; lets a test of a transaction barrier fail, if there is one.
  absl::Status Deadlock();
  // The launch has failed: shows the observers how far its live blocks had come.
  void ShowFailedBlocks();
  void Reset();

  RunnerOptions options_;
  std::vector<Slot> slots_;
  WaitMarks waits_;
  Warnings warnings_;
  std::vector<trace::v1::Allocation> allocations_;
  std::vector<BlockObserver*> observers_;
  uint64_t instructions_ = 0;

  // The launch.
  Geometry geometry_;
  uint32_t live_blocks_ = 0;
  Clusters clusters_;
  uint64_t clock_ = 0;
  Slot* active_ = nullptr;  // whose shared memory is in the window
  InOrderWriter writer_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_PARALLEL_RESIDENT_BLOCKS_H_
