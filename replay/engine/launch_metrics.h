// The statistics of a launch that not every run collects.
#ifndef HEDDLE_REPLAY_ENGINE_LAUNCH_METRICS_H_
#define HEDDLE_REPLAY_ENGINE_LAUNCH_METRICS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "replay/core/launch_context.h"
#include "replay/engine/replay.h"
#include "replay/memory/sm/memory_profile.h"
#include "replay/seams/types.h"
#include "replay/stats/instruction_profile.h"
#include "replay/stats/time_series.h"
#include "replay/stats/warp_progress.h"
#include "replay/stats/warp_timeline.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// The SMs write to its parts, which the context of the launch names to them.
class LaunchMetrics {
 public:
  // Makes what `options` asks for, and enters it into `context`. `resident_blocks`: that the machine holds at once.
  // `policies`: what LaunchCounters::policies holds.
  LaunchMetrics(const MetricOptions& options, const machine::v1::Machine& machine, uint64_t resident_blocks,
                LaunchContext& context, std::vector<PolicyColumn> policies);
  LaunchMetrics(const LaunchMetrics&) = delete;
  LaunchMetrics& operator=(const LaunchMetrics&) = delete;

  bool has_bins() const { return series_.has_value(); }
  // The present bin ends before this cycle; kNever without bins.
  Cycle next_bin() const { return next_bin_; }
  // Ends the bins that end at or before `now`. `count(cycle)` gives what all have counted in the cycles before.
  template <typename Count>
  void EndBins(Cycle now, const Count& count) {
    for (; next_bin_ <= now; next_bin_ = series_->end()) series_->EndBin(count(next_bin_));
  }
  // After the last bin, in the cycle in which the launch ended.
  void EndSeries(Cycle end, const LaunchCounters& counters) { series_->Finish(end, counters); }

  void FillWarpProgress(result::v1::LaunchResult& result) { warp_progress_.Fill(*result.mutable_warp_progress()); }
  // Writes what was asked for. An error if the profile of the instructions does not add up to the result's totals.
  // `has_buffers`: of the machine's front end; `end`: the cycle in which the launch ended.
  absl::Status Fill(const LaunchContext& context, const trace::v1::FileHeader& header, bool has_buffers, Cycle end,
                    result::v1::LaunchResult& result);

 private:
  WarpProgressTotals warp_progress_;
  std::optional<InstructionProfile> profile_;
  std::optional<MemoryProfile> memory_profile_;
  std::optional<WarpTimelines> timelines_;
  std::optional<TimeSeries> series_;
  Cycle next_bin_ = kNever;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_LAUNCH_METRICS_H_
