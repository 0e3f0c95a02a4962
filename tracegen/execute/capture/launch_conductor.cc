#include "tracegen/execute/capture/launch_conductor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/checks/certify.h"
#include "tracegen/execute/checks/launch_validity.h"
#include "tracegen/execute/launch/launch_record.h"
#include "tracegen/execute/launch/live_blocks.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

constexpr uint32_t kGridWorkspaceBytes = 8;

// Whether the block lies in a range that is recorded.
bool IsRecorded(const std::vector<GridRange>& ranges, uint64_t block) {
  const auto behind = std::ranges::upper_bound(ranges, block, std::less<>(), &GridRange::end);
  return behind != ranges.end() && behind->record;
}

}  // namespace

LaunchConductor::LaunchConductor(DeviceMemory& memory, RunnerOptions options, CertifySettings certify, Warn warn)
    : memory_(memory),
      options_(options),
      certify_(std::move(certify)),
      warn_(std::move(warn)),
      runner_(std::move(options)) {}

absl::Status LaunchConductor::EnsureHeap() {
  if (heap_ != nullptr) return absl::OkStatus();
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t base, memory_.Allocate(kDeviceHeapBytes, "device heap"));
  heap_ = std::make_unique<DeviceHeap>(base, kDeviceHeapBytes);
  runner_.SetHeap(heap_.get());
  return absl::OkStatus();
}

absl::Status LaunchConductor::MapLocal(const InstrumentedKernel& kernel, const Geometry& geometry) {
  return kernel.uses_local ? runner_.MapLocal(memory_, geometry) : absl::OkStatus();
}

absl::Status LaunchConductor::GiveGridWorkspace(const InstrumentedKernel& kernel, Geometry& geometry) {
  if (!kernel.asks_grid_workspace) return absl::OkStatus();
  if (grid_workspace_ == 0) {
    // Its size in bytes, and the word in which blocks count themselves: as a barrier ends, it is ready for the next.
    HEDDLE_ASSIGN_OR_RETURN(grid_workspace_, memory_.Allocate(kGridWorkspaceBytes, "grid workspace"));
    std::memcpy(reinterpret_cast<void*>(grid_workspace_), &kGridWorkspaceBytes, sizeof(kGridWorkspaceBytes));
  }
  geometry.environment[1] = static_cast<uint32_t>(grid_workspace_ >> 32);
  geometry.environment[2] = static_cast<uint32_t>(grid_workspace_);
  return absl::OkStatus();
}

trace::v1::Launch LaunchConductor::Describe(const InstrumentedKernel& kernel, const Geometry& geometry) const {
  trace::v1::Launch record = DescribeLaunch(geometry, memory_);
  const uint32_t live = LiveBlocks(options_.resident_blocks, geometry, kernel.uses_local);
  const uint32_t cluster = geometry.cluster_blocks();
  if (options_.resident_blocks > 1 || cluster > 1) {
    record.set_resident_blocks(std::max(cluster, live / cluster * cluster));
  }
  return record;
}

absl::StatusOr<LaunchOutcome> LaunchConductor::Run(const ReadyLaunch& launch, trace::TraceWriter* writer) {
  LaunchForm recorded;
  LaunchForm native;
  if (launch.recorded != nullptr) recorded = launch.recorded->Launch(launch.parameters);
  if (launch.native != nullptr) native = launch.native->Launch(launch.parameters);
  const LaunchForm* const recorded_form = launch.recorded != nullptr ? &recorded : nullptr;
  const LaunchForm* const native_form = launch.native != nullptr ? &native : nullptr;
  if (launch.recorded == nullptr) {
    HEDDLE_RETURN_IF_ERROR(
        runner_.Run(nullptr, native_form, launch.ranges, launch.geometry, nullptr, /*writer=*/nullptr));
    return LaunchOutcome();
  }
  runner_.SetBounds(memory_.allocations(), launch.proto);
  HEDDLE_ASSIGN_OR_RETURN(trace::v1::Certificate certificate, Certify(launch, recorded));
  LaunchValidity validity(launch.recorded->kernel, *launch.program, launch.geometry, options_.lockstep);
  if (options_.allow_outside_reads) validity.CountOutsideReads(memory_.allocations());
  runner_.SetObservers(validity.observers());
  absl::Status status = runner_.Run(recorded_form, native_form, launch.ranges, launch.geometry, launch.proto, writer);
  runner_.SetObservers({});
  validity.End();
  if (!status.ok()) {
    const std::string cause = validity.HandOffWarning();
    return cause.empty() ? status : absl::Status(status.code(), absl::StrCat(status.message(), "; ", cause));
  }
  LaunchOutcome outcome;
  outcome.warnings = validity.Warnings(certificate);
  if (validity.Complete(certificate)) outcome.certificate = std::move(certificate);
  return outcome;
}

absl::StatusOr<trace::v1::Certificate> LaunchConductor::Certify(const ReadyLaunch& launch, const LaunchForm& form) {
  if (certify_.runs == 0) return trace::v1::Certificate();
  if (launch.geometry.cluster_blocks() > 1) {
    trace::v1::Certificate none;
    none.set_failure("clusters of several blocks are not run in other orders");
    warn_(absl::StrCat("launch ", launch.number, ": not certified: ", none.failure()));
    return none;
  }
  CertifyOptions options;
  options.runs = certify_.runs;
  options.folder = certify_.folder;
  options.max_instructions = options_.max_instructions;
  options.lockstep = options_.lockstep;
  options.allow_outside_reads = options_.allow_outside_reads;
  const auto is_recorded = [&launch](uint64_t block) { return IsRecorded(launch.ranges, block); };
  HEDDLE_ASSIGN_OR_RETURN(
      trace::v1::Certificate certificate,
      CertifyLaunch({*form.kernel, form.entry, form.arguments.data(), launch.geometry, *launch.program, is_recorded},
                    options, memory_, heap_.get()));
  if (!certificate.failure().empty()) {
    warn_(absl::StrCat("launch ", launch.number, ": ", certificate.runs() == 0 ? "not certified: " : "",
                       certificate.failure()));
  }
  return certificate;
}

}  // namespace heddle::tracegen
