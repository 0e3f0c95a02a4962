// The parts that every way of replaying a trace shares: which launches are run, and the result that is made of them.
#ifndef HEDDLE_REPLAY_ENGINE_REPLAY_RESULT_H_
#define HEDDLE_REPLAY_ENGINE_REPLAY_RESULT_H_

#include <cstdint>
#include <string>
#include <vector>

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

// The result of a run: provenance, policies, notes, totals, and `launch_results`, one for each of `launches`.
result::v1::Result MakeResult(const trace::TraceReader& reader, const std::vector<const trace::LaunchView*>& launches,
                              const CheckedConfiguration& configuration, const ReplayOptions& options,
                              std::vector<result::v1::LaunchResult> launch_results);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_REPLAY_RESULT_H_
