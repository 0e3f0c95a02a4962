// Runs launches of traces under configurations, on one thread or several.
#ifndef HEDDLE_REPLAY_ENGINE_RUN_ALL_H_
#define HEDDLE_REPLAY_ENGINE_RUN_ALL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "proto/result.pb.h"
#include "replay/engine/replay.h"
#include "replay/engine/replay_launch.h"
#include "replay/engine/replay_result.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// What is run of a trace, in order.
struct TraceRuns {
  const trace::TraceReader* reader = nullptr;
  std::vector<const trace::LaunchView*> launches;
};
// By configuration: the results of all launches, or the error of the first launch that has one.
using TraceResults = std::vector<absl::StatusOr<LaunchResults>>;

// Every launch of every trace under every configuration, on options.jobs threads. A thread has a cache of decoded data
// of its own. One element per trace; an error of a trace under a configuration touches nothing else. Results and errors
// do not depend on the number of threads, but for what is Cancelled.
std::vector<TraceResults> RunAll(const std::vector<TraceRuns>& traces,
                                 const std::vector<CheckedConfiguration>& configurations, const ReplayOptions& options);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_RUN_ALL_H_
