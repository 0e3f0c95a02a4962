#include "tracegen/execute/parallel/launch_runner.h"

#include <algorithm>
#include <utility>

#include "tracegen/execute/launch/live_blocks.h"

namespace heddle::tracegen {

LaunchRunner::LaunchRunner(RunnerOptions options) : resident_blocks_(std::max(options.resident_blocks, 1u)) {
  if (resident_blocks_ == 1) {
    if (options.jobs > 1 && options.memory != nullptr && options.memory->global_file() >= 0) {
      parallel_ = std::make_unique<ParallelBlocks>(options);
    }
    single_ = std::make_unique<BlockRunner>(std::move(options));
  } else {
    resident_ = std::make_unique<ResidentBlocks>(std::move(options));
  }
}

LaunchRunner::~LaunchRunner() = default;

absl::Status LaunchRunner::Run(const LaunchForm* recorded, const LaunchForm* native, std::span<const GridRange> ranges,
                               const Geometry& geometry, const trace::v1::KernelProgram* program,
                               trace::TraceWriter* writer) {
  if (resident_ != nullptr) {
    absl::Status status = resident_->Run(recorded, native, ranges, geometry, program, writer);
    if (!status.ok()) return status;
  } else {
    for (const GridRange& range : ranges) {
      const LaunchForm& form = *(range.record ? recorded : native);
      Geometry part = geometry;
      part.first_block = range.first;
      part.end_block = range.end;
      const bool may_spread = parallel_ != nullptr && range.record && writer != nullptr && program != nullptr;
      absl::Status status = may_spread ? parallel_->Run(*single_, form, part, *program, *writer)
                                       : single_->Run(form.Call(), part, range.record ? writer : nullptr);
      if (!status.ok()) return status;
    }
  }
  trace::v1::LaunchEnd end;
  (resident_ != nullptr ? resident_->waits() : single_->waits()).Store(end);
  return writer != nullptr ? writer->AddWaits(end) : absl::OkStatus();
}

absl::Status LaunchRunner::MapLocal(DeviceMemory& memory, const Geometry& geometry) const {
  return memory.MapLocal(geometry.threads() * LiveBlocks(resident_blocks_, geometry, /*uses_local=*/true));
}

void LaunchRunner::SetBounds(const std::vector<trace::v1::Allocation>& allocations,
                             const trace::v1::KernelProgram* program) {
  if (single_ != nullptr) single_->SetBounds(allocations, program);
  if (resident_ != nullptr) resident_->SetBounds(allocations);
}

void LaunchRunner::SetHeap(DeviceHeap* heap) {
  if (single_ != nullptr) single_->SetHeap(heap);
  if (resident_ != nullptr) resident_->SetHeap(heap);
}

uint64_t LaunchRunner::instructions() const {
  return single_ != nullptr ? single_->instructions() : resident_->instructions();
}

const std::vector<std::string>& LaunchRunner::warnings() const {
  return single_ != nullptr ? single_->warnings() : resident_->warnings();
}

}  // namespace heddle::tracegen
