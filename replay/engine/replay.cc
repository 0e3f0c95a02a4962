#include "replay/engine/replay.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/model_version.h"
#include "replay/engine/replay_result.h"
#include "replay/engine/run_all.h"
#include "replay/engine/validity.h"
#include "replay/machine/machine.h"
#include "replay/stats/sm_counters.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_pattern.h"

// Given by the build.
#ifndef HEDDLE_VERSION
#define HEDDLE_VERSION "unknown"
#endif

namespace heddle::replay {
namespace {

template <typename Registry>
result::v1::PolicyChoice Choice(const ChosenPolicy<Registry>& policy) {
  result::v1::PolicyChoice choice;
  choice.set_name(policy.name());
  for (const auto& [key, value] : policy.parameters.values()) (*choice.mutable_parameter())[key] = TextOf(value);
  for (const CounterSpec& spec : policy.info().counters) {
    if (!spec.adds_up()) choice.add_largest(spec.name);
  }
  return choice;
}

// Adds a policy whose code the model's version does not cover.
template <typename Registry>
void AddLibrary(const ChosenPolicy<Registry>& policy, result::v1::Provenance& provenance) {
  const PolicyOrigin& origin = policy.entry->origin;
  if (origin.code == nullptr) return;
  result::v1::PolicyLibrary* library = nullptr;
  for (result::v1::PolicyLibrary& known : *provenance.mutable_policy_library()) {
    if (known.digest() == origin.code->digest()) library = &known;
  }
  if (library == nullptr) {
    library = provenance.add_policy_library();
    library->set_name(origin.code->name());
    library->set_digest(origin.code->digest());
  }
  library->add_policy(policy.name());
}

result::v1::Provenance ProvenanceOf(const trace::TraceReader& reader, const CheckedConfiguration& configuration,
                                    const ReplayOptions& options) {
  result::v1::Provenance provenance;
  provenance.set_heddle_version(HEDDLE_VERSION);
  provenance.set_trace_digest(reader.digest());
  provenance.set_trace_name(std::filesystem::path(reader.name()).filename().string());
  provenance.set_abstraction_level(reader.header().abstraction_level());
  provenance.set_trace_producer(reader.header().producer());
  provenance.set_trace_target(reader.header().target());
  provenance.set_trace_optimization(reader.header().optimization());
  *provenance.mutable_machine() = options.machine;
  for (const std::string& assignment : options.overrides) provenance.add_override(assignment);
  provenance.set_seed(configuration.seed);
  provenance.set_kernels(options.kernels);
  provenance.set_model_version(ModelVersion());
  if (options.launch_rule != LaunchRule::kInOrder) provenance.set_launches(std::string(NameOf(options.launch_rule)));
  AddLibrary(configuration.divergence, provenance);
  AddLibrary(configuration.scheduler, provenance);
  AddLibrary(configuration.dispatch, provenance);
  if (options.machine.core().front_end() == machine::v1::Core::IBUFFER) AddLibrary(configuration.fetch, provenance);
  if (HasDataCache(options.machine)) AddLibrary(configuration.memory, provenance);
  return provenance;
}

// By trace, or the error of the first run that has one.
absl::StatusOr<std::vector<std::vector<result::v1::Result>>> AllOrError(RunOutcomes outcomes) {
  std::vector<std::vector<result::v1::Result>> results;
  for (auto& of_trace : outcomes) {
    results.emplace_back();
    for (absl::StatusOr<result::v1::Result>& outcome : of_trace) {
      if (!outcome.ok()) return outcome.status();
      results.back().push_back(*std::move(outcome));
    }
  }
  return results;
}

}  // namespace

absl::StatusOr<std::vector<const trace::LaunchView*>> SelectLaunches(const trace::TraceReader& reader,
                                                                     const std::string& kernels) {
  std::vector<const trace::LaunchView*> selected;
  const absl::StatusOr<trace::KernelPattern> pattern = trace::KernelPattern::Parse(kernels);
  if (!pattern.ok()) return absl::InvalidArgumentError(absl::StrCat("kernels ", pattern.status().message()));
  bool recorded = false;
  for (const trace::LaunchView& launch : reader.launches()) {
    if (!launch.launch.recorded()) continue;
    recorded = true;
    if (pattern->Matches(launch.program->name())) selected.push_back(&launch);
  }
  if (!recorded) return absl::FailedPreconditionError(absl::StrCat(reader.name(), ": no launch is recorded in it"));
  if (selected.empty()) {
    return absl::NotFoundError(absl::StrCat("no recorded kernel of ", reader.name(), " matches '", kernels,
                                            "'; 'heddle trace info' lists them"));
  }
  return selected;
}

namespace {

// What the launches of each stream come to, if there are several.
void AddStreams(result::v1::Result& result) {
  std::map<uint32_t, result::v1::StreamTimes> streams;
  for (const result::v1::LaunchResult& launch : result.launch()) {
    const result::v1::LaunchTimes& times = launch.times();
    result::v1::StreamTimes& stream = streams[times.stream()];
    stream.set_stream(times.stream());
    stream.set_launches(stream.launches() + 1);
    stream.set_waited(stream.waited() + times.began() - times.ready());
    stream.set_ran(stream.ran() + times.ended() - times.began());
    stream.set_ended(std::max(stream.ended(), times.ended()));
    stream.set_thread_instructions(stream.thread_instructions() + launch.thread_instructions());
  }
  if (streams.size() < 2) return;
  for (auto& [number, stream] : streams) *result.mutable_side_by_side()->add_stream() = std::move(stream);
}

}  // namespace

absl::Status CheckLaunchRule(const ReplayOptions& options) {
  if (options.launch_rule == LaunchRule::kInOrder) return absl::OkStatus();
  const char* const what = options.metrics.bin_cycles != 0        ? "counters over time (bins)"
                           : options.metrics.timeline_blocks != 0 ? "the phases of warps"
                                                                  : nullptr;
  if (what == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("launches ", std::string(NameOf(options.launch_rule)), ": ", what,
                                                 " are of the time of one launch; ask for them with in_order"));
}

result::v1::Result MakeResult(const trace::TraceReader& reader, const std::vector<const trace::LaunchView*>& launches,
                              const CheckedConfiguration& configuration, const ReplayOptions& options,
                              LaunchResults results) {
  std::vector<result::v1::LaunchResult>& launch_results = results.launches;
  result::v1::Result result;
  result.set_schema(kResultSchema);
  *result.mutable_provenance() = ProvenanceOf(reader, configuration, options);
  *result.mutable_divergence() = Choice(configuration.divergence);
  *result.mutable_scheduler() = Choice(configuration.scheduler);
  *result.mutable_dispatch() = Choice(configuration.dispatch);
  if (options.machine.core().front_end() == machine::v1::Core::IBUFFER) {
    *result.mutable_fetch() = Choice(configuration.fetch);
  }
  if (HasDataCache(options.machine)) *result.mutable_memory() = Choice(configuration.memory);
  for (const std::string& note : ValidityNotes(reader, launches)) result.add_note(note);
  for (const std::string& note : RegisterNotes(options, launches)) result.add_note(note);
  for (std::string& note : UniformValueNotes(launch_results)) result.add_note(std::move(note));
  if (std::any_of(launch_results.begin(), launch_results.end(),
                  [](const auto& one) { return one.without_scoreboard(); })) {
    result.add_note(WithoutScoreboardNote(configuration.divergence.name()));
  }
  result.mutable_total();
  for (result::v1::LaunchResult& launch : launch_results) {
    AddToTotals(launch, options.machine.core().warp_size(), *result.mutable_total());
    *result.add_launch() = std::move(launch);
  }
  if (options.launch_rule == LaunchRule::kInOrder) return result;
  AddStreams(result);
  // The launches' cycles overlap; those of the stretches follow one another.
  result::v1::Totals& total = *result.mutable_total();
  total.set_cycles(0);
  total.clear_ipc();
  for (result::v1::Stretch& stretch : results.stretches) {
    total.set_cycles(total.cycles() + stretch.cycles());
    *result.mutable_side_by_side()->add_stretch() = std::move(stretch);
  }
  if (total.cycles() != 0) {
    total.set_ipc(static_cast<double>(total.thread_instructions()) / static_cast<double>(total.cycles()));
  }
  return result;
}

absl::StatusOr<std::vector<result::v1::Result>> Replay(const trace::TraceReader& reader,
                                                       const std::vector<CheckedConfiguration>& configurations,
                                                       const ReplayOptions& options) {
  const trace::TraceReader* const traces[] = {&reader};
  HEDDLE_ASSIGN_OR_RETURN(RunOutcomes outcomes, ReplayEach(traces, configurations, options));
  HEDDLE_ASSIGN_OR_RETURN(auto results, AllOrError(std::move(outcomes)));
  return std::move(results.front());
}

absl::StatusOr<RunOutcomes> ReplayEach(std::span<const trace::TraceReader* const> traces,
                                       const std::vector<CheckedConfiguration>& configurations,
                                       const ReplayOptions& options) {
  HEDDLE_RETURN_IF_ERROR(CheckMachine(options.machine));
  HEDDLE_RETURN_IF_ERROR(CheckLaunchRule(options));
  for (const CheckedConfiguration& configuration : configurations) {
    HEDDLE_RETURN_IF_ERROR(CheckFrontEnd(configuration, options.machine));
  }
  std::vector<TraceRuns> runs;
  for (const trace::TraceReader* reader : traces) {
    HEDDLE_ASSIGN_OR_RETURN(std::vector<const trace::LaunchView*> launches, SelectLaunches(*reader, options.kernels));
    runs.push_back({reader, std::move(launches)});
  }
  std::vector<TraceResults> launch_results = RunAll(runs, configurations, options);

  RunOutcomes outcomes(runs.size());
  for (size_t t = 0; t < runs.size(); ++t) {
    for (size_t i = 0; i < configurations.size(); ++i) {
      auto& launches = launch_results[t][i];
      if (!launches.ok()) {
        outcomes[t].emplace_back(launches.status());
      } else {
        outcomes[t].emplace_back(
            MakeResult(*runs[t].reader, runs[t].launches, configurations[i], options, *std::move(launches)));
      }
    }
  }
  return outcomes;
}

absl::StatusOr<std::vector<result::v1::Result>> Replay(const trace::TraceReader& reader,
                                                       const std::vector<Configuration>& configurations,
                                                       const ReplayOptions& options) {
  const trace::TraceReader* const traces[] = {&reader};
  HEDDLE_ASSIGN_OR_RETURN(auto results, ReplayTraces(traces, configurations, options));
  return std::move(results.front());
}

absl::StatusOr<RunOutcomes> ReplayEach(std::span<const trace::TraceReader* const> traces,
                                       const std::vector<Configuration>& configurations, const ReplayOptions& options) {
  HEDDLE_RETURN_IF_ERROR(CheckMachine(options.machine));
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<CheckedConfiguration> checked, CheckConfigurations(configurations));
  return ReplayEach(traces, checked, options);
}

absl::StatusOr<std::vector<std::vector<result::v1::Result>>> ReplayTraces(
    std::span<const trace::TraceReader* const> traces, const std::vector<Configuration>& configurations,
    const ReplayOptions& options) {
  HEDDLE_ASSIGN_OR_RETURN(RunOutcomes outcomes, ReplayEach(traces, configurations, options));
  return AllOrError(std::move(outcomes));
}

}  // namespace heddle::replay
