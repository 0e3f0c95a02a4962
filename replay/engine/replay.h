// Replays traces under chosen policies on a machine.
#ifndef HEDDLE_REPLAY_ENGINE_REPLAY_H_
#define HEDDLE_REPLAY_ENGINE_REPLAY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "replay/engine/configuration.h"
#include "replay/engine/order/work_distributor.h"
#include "replay/seams/types.h"
#include "replay/stats/issue_observer.h"
#include "replay/trace/decoding_counters.h"
#include "traces/format/program/program.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// Statistics that are collected only if asked for (docs/reference/metrics.md).
struct MetricOptions {
  bool per_instruction = false;  // LaunchResult.instruction_profile
  uint64_t bin_cycles = 0;       // LaunchResult.time_series with bins of this width at first; 0 = none
  uint64_t timeline_blocks = 0;  // LaunchResult.warp_timeline of so many thread blocks
};

// Registers that a thread takes, in place of what the trace says, and who says so: "ptxas V13.0.88, for sm_80".
struct RegisterCount {
  uint32_t per_thread = 0;
  std::string source;
};
using RegisterCounts = std::map<const trace::Program*, RegisterCount>;

struct ReplayOptions {
  machine::v1::Machine machine;
  std::vector<std::string> overrides;  // --set arguments that were applied, for the provenance
  RegisterCounts registers;            // of programs of the traces; the others take what their trace says
  std::string kernels = "";            // regular expression on kernel names; empty = all
  // Of decoded trace data, for all threads; each may hold three times its share, or 48 MiB if that is more. What
  // resident thread blocks read stays decoded up to it; beyond it chunks are decoded more than once (chunk_cache.h has
  // the rules). A quarter of it at most is for what comes next or will be read again.
  uint64_t cache_bytes = kDefaultCacheBytes;
  static constexpr uint64_t kDefaultCacheBytes = uint64_t{1} << 30;
  DecodingCounters* decoding = nullptr;  // what decoding took is added at the end, if given
  // Threads that run traces, configurations, and launches where these are independent; the results do not depend on it.
  // Runs with an observer have one.
  uint32_t jobs = 1;
  uint64_t max_cycles = 0;  // per launch; 0 = no bound
  // How the launches of a trace follow one another. Side by side, time series and timelines of warps are refused: they
  // are of one launch's time.
  LaunchRule launch_rule = LaunchRule::kInOrder;
  MetricOptions metrics;
  IssueObserver* observer = nullptr;  // costs nothing if absent
  bool force_tick = false;            // every component ticks every cycle: must not change any result (tests)
  // Called now and then, from one thread at a time, with thread-instructions done and in all; returning false stops
  // with a Cancelled status.
  std::function<bool(uint64_t done, uint64_t total)> progress;
  // Regroup threads also where the recording relies on warps that run in lockstep (docs/how-to/capturing.md). Threads
  // do not meet for matrix instructions then: each warp issues them with the threads that it has.
  bool force_regrouping = false;
};

// Replays every recorded launch, in order, under each configuration. Launch by launch the configurations of a thread
// share decoded chunks, so that a trace is decoded once per thread where a launch fits into the cache. Returns one
// result per configuration, in their order. Errors name launch, kernel, policy, and what cannot be done.
absl::StatusOr<std::vector<result::v1::Result>> Replay(const trace::TraceReader& reader,
                                                       const std::vector<CheckedConfiguration>& configurations,
                                                       const ReplayOptions& options);

// What options.registers says of a program: ComputeOccupancy's `registers`.
uint32_t RegistersGiven(const ReplayOptions& options, const trace::Program& program);

// What came of each run, by trace and then by configuration.
using RunOutcomes = std::vector<std::vector<absl::StatusOr<result::v1::Result>>>;

// Replay for several traces, each as by itself. A run that fails leaves the others alone; with several traces its
// error names the trace. Runs that had not ended when `progress` said no are Cancelled. The status of the whole is for
// what nothing can be run with: a wrong machine, configurations that do not go with it, kernels that a trace does not
// have.
absl::StatusOr<RunOutcomes> ReplayEach(std::span<const trace::TraceReader* const> traces,
                                       const std::vector<CheckedConfiguration>& configurations,
                                       const ReplayOptions& options);

// Replay for configurations as they are written, which are checked first.
absl::StatusOr<std::vector<result::v1::Result>> Replay(const trace::TraceReader& reader,
                                                       const std::vector<Configuration>& configurations,
                                                       const ReplayOptions& options);
absl::StatusOr<RunOutcomes> ReplayEach(std::span<const trace::TraceReader* const> traces,
                                       const std::vector<Configuration>& configurations, const ReplayOptions& options);

// ReplayEach if all of it is wanted or nothing: one list of results per trace, in their order, or the error of the
// first run in that order that has one.
absl::StatusOr<std::vector<std::vector<result::v1::Result>>> ReplayTraces(
    std::span<const trace::TraceReader* const> traces, const std::vector<Configuration>& configurations,
    const ReplayOptions& options);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_REPLAY_H_
