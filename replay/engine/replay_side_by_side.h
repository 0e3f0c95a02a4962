// The launches of a trace, as far as they may run at the same time.
#ifndef HEDDLE_REPLAY_ENGINE_REPLAY_SIDE_BY_SIDE_H_
#define HEDDLE_REPLAY_ENGINE_REPLAY_SIDE_BY_SIDE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/result.pb.h"
#include "replay/engine/configuration.h"
#include "replay/engine/replay.h"
#include "replay/engine/replay_result.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/trace/chunk_cache.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// What a run of a trace's launches needs; LaunchRun has the meaning of what both have.
struct SideBySideRun {
  const trace::TraceReader& reader;
  std::span<const trace::LaunchView* const> launches;  // in order
  const CheckedConfiguration& configuration;
  uint32_t configuration_index = 0;
  const ReplayOptions& options;  // its launch rule is not kInOrder
  ChunkCache& cache;
  MemorySystem& memory;
  // Called now and then with the thread-instructions of all launches so far; false cancels. May be empty.
  std::function<bool(uint64_t)> progress;
};

// Replays the launches, each as soon as those that it depends on have ended, in stretches: one begins when no launch
// runs, and takes until none does. In a stretch all of them share the SMs, by the rule of the options, and the memory.
// A launch that has a stretch of its own is replayed as ReplayLaunch does. Errors are those of ReplayLaunch, and what
// cannot be run side by side; they name the launch.
absl::StatusOr<LaunchResults> ReplaySideBySide(const SideBySideRun& run);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_REPLAY_SIDE_BY_SIDE_H_
