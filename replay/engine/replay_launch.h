// One launch under one configuration.
#ifndef HEDDLE_REPLAY_ENGINE_REPLAY_LAUNCH_H_
#define HEDDLE_REPLAY_ENGINE_REPLAY_LAUNCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/result.pb.h"
#include "replay/engine/configuration.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/shared_state.h"
#include "replay/trace/chunk_cache.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// What a run of a launch needs.
struct LaunchRun {
  const trace::TraceReader& reader;
  const trace::LaunchView& launch;
  const CheckedConfiguration& configuration;
  uint32_t configuration_index = 0;
  const ReplayOptions& options;
  ChunkCache& cache;
  MemorySystem& memory;  // of the configuration, drained; it may still hold what earlier launches left in the L2
  SharedState& shared;   // of the trace under the configuration
  // Called now and then with the thread-instructions of this run so far; false cancels. May be empty.
  std::function<bool(uint64_t)> progress;
};

// Replays the launch to its end. Checks that the machine holds a block, that every thread ran exactly its recording,
// and that the statistics add up. Errors: what cannot be done and why, deadlock with a report, Cancelled, an internal
// error of a policy; without launch and kernel, which the caller adds.
absl::StatusOr<result::v1::LaunchResult> ReplayLaunch(const LaunchRun& run);

// Whether the launch can be replayed at all; what an SM holds of it. Errors: what cannot be done and why.
absl::StatusOr<Occupancy> CheckLaunch(const LaunchRun& run);

// What policies share under the configuration: of a trace if StateOutlivesLaunch, else of a launch.
std::unique_ptr<SharedState> MakeSharedState(const CheckedConfiguration& configuration,
                                             const machine::v1::Machine& machine);

// Its error with the place: "launch 0 (bfs) under pdom and lrr: ..."; other policies only where they are not the usual.
absl::Status AtRun(const absl::Status& error, const trace::LaunchView& launch,
                   const CheckedConfiguration& configuration);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_REPLAY_LAUNCH_H_
