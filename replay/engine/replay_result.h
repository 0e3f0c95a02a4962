// The parts that every way of replaying a trace shares: which launches are run, and the result that is made of them.
#ifndef HEDDLE_REPLAY_ENGINE_REPLAY_RESULT_H_
#define HEDDLE_REPLAY_ENGINE_REPLAY_RESULT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/result.pb.h"
#include "replay/engine/replay.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// Result.schema that this program writes.
inline constexpr uint32_t kResultSchema = 1;

// The recorded launches whose kernel matches the regular expression (POSIX extended; empty = all), in order. Refuses an
// expression that is none, a trace without recorded launches, and one of which nothing matches.
absl::StatusOr<std::vector<const trace::LaunchView*>> SelectLaunches(const trace::TraceReader& reader,
                                                                     const std::string& kernels);

// What came of a run.
struct LaunchResults {
  std::vector<result::v1::LaunchResult> launches;
  std::vector<result::v1::Stretch> stretches;  // of launches side by side
};

// Whether the launches of traces can follow one another as the options say. InvalidArgument: what does not go with it.
absl::Status CheckLaunchRule(const ReplayOptions& options);

// The result of a run: provenance, policies, notes, totals, and `results`, with one for each of `launches`.
result::v1::Result MakeResult(const trace::TraceReader& reader, const std::vector<const trace::LaunchView*>& launches,
                              const CheckedConfiguration& configuration, const ReplayOptions& options,
                              LaunchResults results);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_REPLAY_RESULT_H_
