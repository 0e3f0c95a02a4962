#include "replay/engine/replay.h"

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

result::v1::PolicyChoice Choice(const PolicyInfo& info, const Parameters& parameters) {
  result::v1::PolicyChoice choice;
  choice.set_name(info.name);
  for (const auto& [key, value] : parameters.values()) (*choice.mutable_parameter())[key] = value;
  return choice;
}

// Adds a policy whose code the model's version does not cover.
void AddLibrary(const PolicyOrigin& origin, const std::string& policy, result::v1::Provenance& provenance) {
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
  library->add_policy(policy);
}

result::v1::Provenance ProvenanceOf(const trace::TraceReader& reader, const Configuration& configuration,
                                    const CheckedConfiguration& checked, const ReplayOptions& options) {
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
  AddLibrary(checked.divergence->origin, checked.divergence->info.name, provenance);
  AddLibrary(checked.scheduler->origin, checked.scheduler->info.name, provenance);
  AddLibrary(checked.dispatch->origin, checked.dispatch->info.name, provenance);
  if (options.machine.core().front_end() == machine::v1::Core::IBUFFER) {
    AddLibrary(checked.fetch->origin, checked.fetch->info.name, provenance);
  }
  return provenance;
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

absl::Status CheckFrontEnd(const Configuration& configuration, const CheckedConfiguration& checked,
                           const machine::v1::Machine& machine) {
  if (machine.core().front_end() == machine::v1::Core::IBUFFER) {
    if (!checked.divergence->info.traits.mixed_pcs) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("divergence policy '", configuration.divergence.name, "' does not go with machine ",
                     machine.name(), ": an issue of it holds several PCs, which a buffer of one warp's instructions ",
                     "cannot feed; it runs under core.front_end = THESIS"));
  }
  if (configuration.fetch.name == Configuration().fetch.name && configuration.fetch.parameters.empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("fetch policy '", configuration.fetch.name, "' does not go with machine ", machine.name(),
                   ": under core.front_end = THESIS the scheduler is fetch; choose a machine with IBUFFER"));
}

result::v1::Result MakeResult(const trace::TraceReader& reader, const std::vector<const trace::LaunchView*>& launches,
                              const Configuration& configuration, const CheckedConfiguration& checked,
                              const ReplayOptions& options, std::vector<result::v1::LaunchResult> launch_results) {
  result::v1::Result result;
  result.set_schema(kResultSchema);
  *result.mutable_provenance() = ProvenanceOf(reader, configuration, checked, options);
  *result.mutable_divergence() = Choice(checked.divergence->info, checked.divergence_parameters);
  *result.mutable_scheduler() = Choice(checked.scheduler->info, checked.scheduler_parameters);
  *result.mutable_dispatch() = Choice(checked.dispatch->info, checked.dispatch_parameters);
  if (options.machine.core().front_end() == machine::v1::Core::IBUFFER) {
    *result.mutable_fetch() = Choice(checked.fetch->info, checked.fetch_parameters);
  }
  for (const std::string& note : ValidityNotes(reader, launches)) result.add_note(note);
  result.mutable_total();
  for (result::v1::LaunchResult& launch : launch_results) {
    AddToTotals(launch, options.machine.core().warp_size(), *result.mutable_total());
    *result.add_launch() = std::move(launch);
  }
  return result;
}

PolicySpec PolicySpec::FromText(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

absl::StatusOr<CheckedConfiguration> CheckConfiguration(const Configuration& configuration) {
  CheckedConfiguration checked;
  HEDDLE_ASSIGN_OR_RETURN(auto divergence,
                          DivergenceRegistry::Get().Find("divergence policy", configuration.divergence.name));
  HEDDLE_ASSIGN_OR_RETURN(auto scheduler, SchedulerRegistry::Get().Find("scheduler", configuration.scheduler.name));
  HEDDLE_ASSIGN_OR_RETURN(auto dispatch, DispatchRegistry::Get().Find("dispatcher", configuration.dispatch.name));
  HEDDLE_ASSIGN_OR_RETURN(auto fetch, FetchRegistry::Get().Find("fetch policy", configuration.fetch.name));
  checked.divergence = divergence;
  checked.scheduler = scheduler;
  checked.dispatch = dispatch;
  checked.fetch = fetch;

  auto parameters = Parameters::Parse(checked.divergence->info, configuration.divergence.parameters);
  if (!parameters.ok()) return parameters.status();
  checked.divergence_parameters = *std::move(parameters);
  parameters = Parameters::Parse(checked.scheduler->info, configuration.scheduler.parameters);
  if (!parameters.ok()) return parameters.status();
  checked.scheduler_parameters = *std::move(parameters);
  parameters = Parameters::Parse(checked.dispatch->info, configuration.dispatch.parameters);
  if (!parameters.ok()) return parameters.status();
  checked.dispatch_parameters = *std::move(parameters);
  parameters = Parameters::Parse(checked.fetch->info, configuration.fetch.parameters);
  if (!parameters.ok()) return parameters.status();
  checked.fetch_parameters = *std::move(parameters);

  const PolicyTraits& scheduler_traits = checked.scheduler->info.traits;
  if (scheduler_traits.needs_regrouping && !checked.divergence->info.traits.regroups_every_instruction) {
    return absl::InvalidArgumentError(
        absl::StrCat("scheduler '", configuration.scheduler.name, "' does not go with divergence policy '",
                     configuration.divergence.name, "': ", scheduler_traits.needs_regrouping_reason));
  }
  const PolicyTraits& dispatch_traits = checked.dispatch->info.traits;
  if (dispatch_traits.by_warp && !checked.divergence->info.traits.static_warps) {
    return absl::InvalidArgumentError(
        absl::StrCat("dispatcher '", configuration.dispatch.name, "' does not go with divergence policy '",
                     configuration.divergence.name,
                     "': it gives an SM single warps, so there is no whole block whose threads could be put together"));
  }
  if (dispatch_traits.waits_for_siblings && scheduler_traits.holds_back) {
    return absl::InvalidArgumentError(absl::StrCat(
        "dispatcher '", configuration.dispatch.name, "' does not go with scheduler '", configuration.scheduler.name,
        "': its warps wait for others of their block elsewhere than at barriers, and the scheduler might "
        "hold back those that they wait for"));
  }
  return checked;
}

absl::Status Validate(const Configuration& configuration, const machine::v1::Machine* machine) {
  HEDDLE_ASSIGN_OR_RETURN(const CheckedConfiguration checked, CheckConfiguration(configuration));
  return machine == nullptr ? absl::OkStatus() : CheckFrontEnd(configuration, checked, *machine);
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
  std::vector<CheckedConfiguration> checked;
  for (const Configuration& configuration : configurations) {
    HEDDLE_ASSIGN_OR_RETURN(CheckedConfiguration one, CheckConfiguration(configuration));
    HEDDLE_RETURN_IF_ERROR(CheckFrontEnd(configuration, one, options.machine));
    checked.push_back(std::move(one));
  }
  std::vector<TraceRuns> runs;
  for (const trace::TraceReader* reader : traces) {
    HEDDLE_ASSIGN_OR_RETURN(std::vector<const trace::LaunchView*> launches, SelectLaunches(*reader, options.kernels));
    runs.push_back({reader, std::move(launches)});
  }
  std::vector<TraceResults> launch_results = RunAll(runs, configurations, checked, options);

  RunOutcomes outcomes(runs.size());
  for (size_t t = 0; t < runs.size(); ++t) {
    for (size_t i = 0; i < configurations.size(); ++i) {
      auto& launches = launch_results[t][i];
      if (!launches.ok()) {
        outcomes[t].emplace_back(launches.status());
      } else {
        outcomes[t].emplace_back(MakeResult(*runs[t].reader, runs[t].launches, configurations[i], checked[i], options,
                                            *std::move(launches)));
      }
    }
  }
  return outcomes;
}

absl::StatusOr<std::vector<std::vector<result::v1::Result>>> ReplayTraces(
    std::span<const trace::TraceReader* const> traces, const std::vector<Configuration>& configurations,
    const ReplayOptions& options) {
  HEDDLE_ASSIGN_OR_RETURN(RunOutcomes outcomes, ReplayEach(traces, configurations, options));
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

}  // namespace heddle::replay
