// The plain reading of the replay's rules: every cycle, every SM, every port, every thread, looked at from scratch.
#ifndef HEDDLE_TESTS_REFERENCE_REFERENCE_ENGINE_H_
#define HEDDLE_TESTS_REFERENCE_REFERENCE_ENGINE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "replay/engine/replay.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/types.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

struct ReferenceResult {
  std::vector<result::v1::LaunchResult> launches;
  result::v1::Totals total;
  std::vector<result::v1::Stretch> stretches;  // of launches side by side
};

struct ReferenceOptions {
  MemorySystem* memory = nullptr;  // instead of that of the machine
};

// Replays every recorded launch of the trace under one configuration. Shares with Replay() only the policies and the
// formation they act on, and, but for the front end with a single pipeline and fixed latencies, the memory; time,
// in-flight instructions, barriers, dispatch, occupancy, threads and statistics are its own. Slow: for tests.
// `observer` may be null.
absl::StatusOr<ReferenceResult> ReplayByReference(const trace::TraceReader& reader, const Configuration& configuration,
                                                  const machine::v1::Machine& machine, IssueObserver* observer,
                                                  const ReferenceOptions& options = {});

// ReplayByReference for launches side by side, by this rule, which is not kInOrder (docs/reference/timing.md, the
// section on them). Dispatchers of whole blocks that do not watch SMs, and no clusters.
absl::StatusOr<ReferenceResult> ReplaySideBySideByReference(const trace::TraceReader& reader,
                                                            const Configuration& configuration,
                                                            const machine::v1::Machine& machine, LaunchRule rule,
                                                            IssueObserver* observer);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REFERENCE_REFERENCE_ENGINE_H_
