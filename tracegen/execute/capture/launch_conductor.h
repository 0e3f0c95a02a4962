// Launches with everything that a recording of them needs, whoever makes them: a recipe or a program.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CAPTURE_LAUNCH_CONDUCTOR_H_
#define HEDDLE_TRACEGEN_EXECUTE_CAPTURE_LAUNCH_CONDUCTOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/trace.pb.h"
#include "tracegen/execute/block/runner_options.h"
#include "tracegen/execute/code/kernel_code.h"
#include "tracegen/execute/launch/geometry.h"
#include "tracegen/execute/launch/launch_form.h"
#include "tracegen/execute/memory/device_heap.h"
#include "tracegen/execute/memory/device_memory.h"
#include "tracegen/execute/parallel/launch_runner.h"
#include "traces/format/program/program.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// A launch whose code is made and whose memory is mapped. Refers to what its maker keeps while it runs.
struct ReadyLaunch {
  uint64_t number = 0;                   // among the launches of the capture
  const KernelCode* recorded = nullptr;  // null where no block is recorded
  const KernelCode* native = nullptr;    // null where all are
  std::string parameters;                // bytes of parameter memory
  Geometry geometry;
  std::vector<GridRange> ranges;  // cover the grid, in ascending order
  // Where blocks are recorded: the kernel as the trace has it.
  const trace::v1::KernelProgram* proto = nullptr;
  const trace::Program* program = nullptr;
};

// What a recording can stand for, and what is to be said about it.
struct LaunchOutcome {
  std::optional<trace::v1::Certificate> certificate;  // without the launch's number; nullopt: there is nothing to tell
  std::vector<std::string> warnings;
};

// What is certified of each launch that is recorded.
struct CertifySettings {
  uint32_t runs = 0;   // under so many other orders of threads and blocks
  std::string folder;  // for a file that holds the launch's records meanwhile
};

// Certifies, runs and records one launch after the other, and looks at what each relies on. Other settings are those of
// the runner, so that a launch runs in the same way however often it does.
class LaunchConductor {
 public:
  using Warn = std::function<void(const std::string& text)>;

  // `memory` must outlive the object. `warn` is told at once why a launch is not certified.
  LaunchConductor(DeviceMemory& memory, RunnerOptions options, CertifySettings certify, Warn warn);

  // Gives launches the heap of device code, if there is none yet. Errors: ResourceExhausted.
  absl::Status EnsureHeap();
  // Null until EnsureHeap.
  DeviceHeap* heap() { return heap_.get(); }
  // Maps local memory for as many threads of such a launch as can be live at once, if its kernel needs some. Errors:
  // ResourceExhausted.
  absl::Status MapLocal(const InstrumentedKernel& kernel, const Geometry& geometry);

  // Tells a launch where the driver's workspace for barriers of the whole grid lies, if its kernel asks: device code of
  // the vendor's compiler meets there. All launches have the same one. Errors: ResourceExhausted.
  absl::Status GiveGridWorkspace(const InstrumentedKernel& kernel, Geometry& geometry);

  // The launch as a trace tells it: its geometry, its live blocks, and the allocations there are now.
  trace::v1::Launch Describe(const InstrumentedKernel& kernel, const Geometry& geometry) const;

  // Runs a launch. Blocks of the ranges that are recorded go to `writer`, which is null if there are none. Errors:
  // those of LaunchRunner::Run.
  absl::StatusOr<LaunchOutcome> Run(const ReadyLaunch& launch, trace::TraceWriter* writer);

  // Of all launches so far; see LaunchRunner.
  uint64_t instructions() const { return runner_.instructions(); }
  const std::vector<std::string>& warnings() const { return runner_.warnings(); }
  const ParallelBlocks* parallel() const { return runner_.parallel(); }

 private:
  // What other orders change, if that is asked for.
  absl::StatusOr<trace::v1::Certificate> Certify(const ReadyLaunch& launch, const LaunchForm& form);

  DeviceMemory& memory_;
  const RunnerOptions options_;
  const CertifySettings certify_;
  const Warn warn_;
  LaunchRunner runner_;
  std::unique_ptr<DeviceHeap> heap_;
  uint64_t grid_workspace_ = 0;  // its address; 0: no kernel has asked for it
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CAPTURE_LAUNCH_CONDUCTOR_H_
