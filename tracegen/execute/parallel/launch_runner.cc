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
    cluster_options_ = options;
    single_ = std::make_unique<BlockRunner>(std::move(options));
  } else {
    resident_ = std::make_unique<ResidentBlocks>(std::move(options));
  }
}

LaunchRunner::~LaunchRunner() = default;

absl::Status LaunchRunner::RunClusters(const LaunchForm* recorded, const LaunchForm* native,
                                       std::span<const GridRange> ranges, const Geometry& geometry,
                                       const trace::v1::KernelProgram* program, trace::TraceWriter* writer) {
  if (clusters_ == nullptr) clusters_ = std::make_unique<ResidentBlocks>(cluster_options_);
  clusters_->SetHeap(cluster_options_.heap);
  clusters_->SetBounds(allocations_);
  clusters_->SetObservers(observers_);
  const uint64_t before = single_->instructions();
  clusters_->CountFrom(before);
  absl::Status status = clusters_->Run(recorded, native, ranges, geometry, program, writer);
  single_->Skip(clusters_->instructions() - before, 0);
  warnings_.AddAll(clusters_->warnings());
  return status;
}

absl::Status LaunchRunner::Run(const LaunchForm* recorded, const LaunchForm* native, std::span<const GridRange> ranges,
                               const Geometry& geometry, const trace::v1::KernelProgram* program,
                               trace::TraceWriter* writer) {
  WaitMarks* waits = nullptr;
  if (resident_ != nullptr) {
    absl::Status status = resident_->Run(recorded, native, ranges, geometry, program, writer);
    warnings_.AddAll(resident_->warnings());
    if (!status.ok()) return status;
    waits = &resident_->waits();
  } else if (geometry.cluster_blocks() > 1) {
    absl::Status status = RunClusters(recorded, native, ranges, geometry, program, writer);
    if (!status.ok()) return status;
    waits = &clusters_->waits();
  } else {
    for (const GridRange& range : ranges) {
      const LaunchForm& form = *(range.record ? recorded : native);
      Geometry part = geometry;
      part.first_block = range.first;
      part.end_block = range.end;
      const bool may_spread = parallel_ != nullptr && range.record && writer != nullptr && program != nullptr;
      absl::Status status = may_spread ? parallel_->Run(*single_, form, part, *program, *writer)
                                       : single_->Run(form.Call(), part, range.record ? writer : nullptr);
      warnings_.AddAll(single_->warnings());
      if (!status.ok()) return status;
    }
    waits = &single_->waits();
  }
  trace::v1::LaunchEnd end;
  waits->Store(end);
  return writer != nullptr ? writer->AddWaits(end) : absl::OkStatus();
}

absl::Status LaunchRunner::MapLocal(DeviceMemory& memory, const Geometry& geometry) const {
  const uint32_t blocks =
      std::max(geometry.cluster_blocks(), LiveBlocks(resident_blocks_, geometry, /*uses_local=*/true));
  return memory.MapLocal(geometry.threads() * blocks);
}

void LaunchRunner::SetBounds(const std::vector<trace::v1::Allocation>& allocations,
                             const trace::v1::KernelProgram* program) {
  allocations_ = allocations;
  if (single_ != nullptr) single_->SetBounds(allocations, program);
  if (resident_ != nullptr) resident_->SetBounds(allocations);
}

void LaunchRunner::SetHeap(DeviceHeap* heap) {
  cluster_options_.heap = heap;
  if (single_ != nullptr) single_->SetHeap(heap);
  if (resident_ != nullptr) resident_->SetHeap(heap);
}

void LaunchRunner::SetObservers(const std::vector<BlockObserver*>& observers) {
  observers_ = observers;
  if (single_ != nullptr) single_->SetObserver(observers.empty() ? nullptr : observers[0]);
}

uint64_t LaunchRunner::instructions() const {
  return single_ != nullptr ? single_->instructions() : resident_->instructions();
}

}  // namespace heddle::tracegen
