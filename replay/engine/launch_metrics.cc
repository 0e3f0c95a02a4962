#include "replay/engine/launch_metrics.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/stats/sm_check.h"

namespace heddle::replay {
namespace {

constexpr size_t kMostBins = 4096;  // of a launch

}  // namespace

LaunchMetrics::LaunchMetrics(const MetricOptions& options, const machine::v1::Machine& machine,
                             uint64_t resident_blocks, LaunchContext& context, std::vector<PolicyColumn> policies)
    : warp_progress_(resident_blocks) {
  const uint32_t warp_size = machine.core().warp_size();
  context.warp_progress = &warp_progress_;
  if (options.per_instruction) {
    context.profile = &profile_.emplace(context.steps.size());
    if (machine.memory().has_hierarchy()) {
      context.memory_profile = &memory_profile_.emplace(context.steps.size(), warp_size);
    }
  }
  if (options.bin_cycles != 0) {
    next_bin_ = series_.emplace(options.bin_cycles, warp_size, kMostBins, std::move(policies)).end();
  }
  if (options.timeline_blocks != 0) context.timelines = &timelines_.emplace(options.timeline_blocks);
}

absl::Status LaunchMetrics::Fill(const LaunchContext& context, const trace::v1::FileHeader& header, bool has_buffers,
                                 Cycle end, result::v1::LaunchResult& result) {
  if (timelines_.has_value()) timelines_->Fill(result);
  if (series_.has_value()) series_->Fill(*result.mutable_time_series());
  if (!profile_.has_value()) return absl::OkStatus();
  profile_->Fill(context.program, header, static_cast<uint32_t>(context.warp_size), has_buffers,
                 memory_profile_.has_value() ? &*memory_profile_ : nullptr, *result.mutable_instruction_profile());
  absl::Status status = CheckSums(result.instruction_profile(), result);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("the profile of the instructions, when the launch ended in cycle ",
                                                  end, ": ", status.message()));
}

}  // namespace heddle::replay
