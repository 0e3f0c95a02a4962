// Runs launches with as many blocks live at once as the user wants.
#ifndef HEDDLE_TRACEGEN_EXECUTE_PARALLEL_LAUNCH_RUNNER_H_
#define HEDDLE_TRACEGEN_EXECUTE_PARALLEL_LAUNCH_RUNNER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tracegen/execute/block/block_runner.h"
#include "tracegen/execute/launch/launch_form.h"
#include "tracegen/execute/launch/warnings.h"
#include "tracegen/execute/memory/device_memory.h"
#include "tracegen/execute/parallel/parallel_blocks.h"
#include "tracegen/execute/parallel/resident_blocks.h"

namespace heddle::tracegen {

class LaunchRunner {
 public:
  // options.resident_blocks: how many blocks are live at once; 1: one after the other, or, with the same outcome, those
  // that are recorded in options.jobs processes, if options.memory has a file.
  explicit LaunchRunner(RunnerOptions options);
  ~LaunchRunner();

  // As ResidentBlocks::Run, also where clusters have several blocks. What threads have waited for goes to the writer.
  absl::Status Run(const LaunchForm* recorded, const LaunchForm* native, std::span<const GridRange> ranges,
                   const Geometry& geometry, const trace::v1::KernelProgram* program, trace::TraceWriter* writer);

  // Maps the local memory of all threads of such a launch that can be live at once.
  absl::Status MapLocal(DeviceMemory& memory, const Geometry& geometry) const;

  // See BlockRunner.
  void SetBounds(const std::vector<trace::v1::Allocation>& allocations, const trace::v1::KernelProgram* program);
  void SetHeap(DeviceHeap* heap);
  // Who sees the records of the launches that follow: of blocks that run one after the other, of clusters that do, by
  // rank of the block. Empty: nobody.
  void SetObservers(const std::vector<BlockObserver*>& observers);
  uint64_t instructions() const;
  const std::vector<std::string>& warnings() const { return warnings_.all(); }
  // The runner of launches whose blocks run one after the other; null if several are live at once.
  BlockRunner* single() { return single_.get(); }
  // Null unless blocks may be spread over processes.
  const ParallelBlocks* parallel() const { return parallel_.get(); }

 private:
  absl::Status RunClusters(const LaunchForm* recorded, const LaunchForm* native, std::span<const GridRange> ranges,
                           const Geometry& geometry, const trace::v1::KernelProgram* program,
                           trace::TraceWriter* writer);

  uint32_t resident_blocks_;
  std::unique_ptr<BlockRunner> single_;
  std::unique_ptr<ParallelBlocks> parallel_;
  std::unique_ptr<ResidentBlocks> resident_;
  std::unique_ptr<ResidentBlocks> clusters_;  // of launches with clusters where resident_ is null; made for the first
  RunnerOptions cluster_options_;
  std::vector<trace::v1::Allocation> allocations_;
  std::vector<BlockObserver*> observers_;
  Warnings warnings_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_PARALLEL_LAUNCH_RUNNER_H_
