#include "replay/engine/replay_batch.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "replay/engine/replay_launch.h"
#include "replay/engine/replay_result.h"
#include "replay/engine/replay_side_by_side.h"
#include "replay/machine/machine.h"
#include "replay/memory/make_memory_system.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

// A run under way.
struct State {
  absl::Status status;
  std::vector<const trace::LaunchView*> launches;
  size_t next = 0;  // of the launches
  std::unique_ptr<MemorySystem> memory;
  std::unique_ptr<SharedState> shared;
  LaunchResults results;

  bool Ended() const { return !status.ok() || next == launches.size(); }
};

absl::Status Prepare(const trace::TraceReader& reader, const BatchRun& run, State& state) {
  HEDDLE_RETURN_IF_ERROR(CheckMachine(run.options.machine));
  HEDDLE_RETURN_IF_ERROR(CheckLaunchRule(run.options));
  HEDDLE_RETURN_IF_ERROR(CheckFrontEnd(run.configuration, run.options.machine));
  HEDDLE_ASSIGN_OR_RETURN(auto launches, SelectLaunches(reader, run.options.kernels));
  state.launches = std::move(launches);
  return absl::OkStatus();
}

}  // namespace

BatchReplayer::BatchReplayer(const trace::TraceReader& reader, CacheBounds bounds)
    : reader_(reader),
      bounds_(bounds),
      windows_(reader.header()),
      cache_(std::make_unique<ChunkCache>(reader, bounds)) {}

DecodingCounters BatchReplayer::decoding() const {
  DecodingCounters all = earlier_;
  all.Add(cache_->counters());
  return all;
}

std::vector<absl::StatusOr<result::v1::Result>> BatchReplayer::Replay(std::span<const BatchRun> runs,
                                                                      const std::function<bool()>& go_on) {
  std::vector<State> states(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) states[i].status = Prepare(reader_, runs[i], states[i]);

  // The earliest launch that some run is at, for all runs that are at it.
  while (true) {
    const trace::LaunchView* launch = nullptr;
    for (const State& state : states) {
      if (state.Ended()) continue;
      const trace::LaunchView* at = state.launches[state.next];
      if (launch == nullptr || at->launch.id() < launch->launch.id()) launch = at;
    }
    if (launch == nullptr) break;
    for (size_t i = 0; i < runs.size(); ++i) {
      State& state = states[i];
      if (state.Ended() || state.launches[state.next] != launch) continue;
      // A short launch does not ask by itself.
      if (!go_on()) {
        state.status = absl::CancelledError("stopped on request");
        continue;
      }
      const ReplayOptions& options = runs[i].options;
      // A memory of fixed latency has no state; an L2 keeps its lines from launch to launch.
      if (state.memory == nullptr || options.machine.memory().has_fixed()) {
        auto made = MakeMemorySystem(options.machine, windows_, runs[i].configuration.seed, options.force_tick);
        if (!made.ok()) {
          state.status = made.status();
          continue;
        }
        state.memory = *std::move(made);
      }
      if (state.shared == nullptr || !StateOutlivesLaunch(runs[i].configuration)) {
        state.shared = MakeSharedState(runs[i].configuration, options.machine);
      }
      const bool whole = options.launch_rule != LaunchRule::kInOrder;
      const auto report = [&go_on](uint64_t) { return go_on(); };
      if (whole) {
        auto results = ReplaySideBySide(
            {reader_, state.launches, runs[i].configuration, 0, options, *cache_, *state.memory, report});
        state.status = results.status();
        if (results.ok()) state.results = *std::move(results);
      } else {
        auto result = ReplayLaunch(
            {reader_, *launch, runs[i].configuration, 0, options, *cache_, *state.memory, *state.shared, report});
        if (result.ok()) state.results.launches.push_back(*std::move(result));
        if (!result.ok()) state.status = AtRun(result.status(), *launch, runs[i].configuration);
      }
      if (!state.status.ok()) {
        // Who was reading when the run ended no longer does.
        earlier_.Add(cache_->counters());
        cache_ = std::make_unique<ChunkCache>(reader_, bounds_);
      }
      state.next = whole ? state.launches.size() : state.next + 1;
      if (!state.Ended()) continue;
      state.memory.reset();
      state.shared.reset();
    }
  }

  std::vector<absl::StatusOr<result::v1::Result>> outcomes;
  for (size_t i = 0; i < runs.size(); ++i) {
    State& state = states[i];
    if (!state.status.ok()) {
      outcomes.emplace_back(state.status);
    } else {
      outcomes.emplace_back(
          MakeResult(reader_, state.launches, runs[i].configuration, runs[i].options, std::move(state.results)));
    }
  }
  return outcomes;
}

}  // namespace heddle::replay
