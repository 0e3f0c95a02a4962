#include "replay/engine/replay.h"

#include <algorithm>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/machine.h"
#include "replay/engine/replay_launch.h"
#include "replay/engine/run_progress.h"
#include "replay/engine/run_queue.h"
#include "replay/memory/make_memory_system.h"
#include "replay/stats/sm_counters.h"
#include "replay/trace/chunk_cache.h"

// Given by the build.
#ifndef HEDDLE_VERSION
#define HEDDLE_VERSION "unknown"
#endif

namespace heddle::replay {
namespace {

constexpr uint32_t kResultSchema = 1;

result::v1::PolicyChoice Choice(const PolicyInfo& info, const Parameters& parameters) {
  result::v1::PolicyChoice choice;
  choice.set_name(info.name);
  for (const auto& [key, value] : parameters.values()) (*choice.mutable_parameter())[key] = value;
  return choice;
}

absl::StatusOr<std::vector<const trace::LaunchView*>> SelectLaunches(const trace::TraceReader& reader,
                                                                     const std::string& kernels) {
  std::vector<const trace::LaunchView*> selected;
  std::regex pattern;
  try {
    pattern.assign(kernels, std::regex::extended);
  } catch (const std::regex_error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("the kernel pattern '", kernels, "' is not a regular expression: ", error.what()));
  }
  bool recorded = false;
  for (const trace::LaunchView& launch : reader.launches()) {
    if (!launch.launch.recorded()) continue;
    recorded = true;
    if (kernels.empty() || std::regex_search(launch.program->name(), pattern)) selected.push_back(&launch);
  }
  if (!recorded) return absl::FailedPreconditionError(absl::StrCat(reader.name(), ": no launch is recorded in it"));
  if (selected.empty()) {
    return absl::NotFoundError(absl::StrCat("no recorded kernel of ", reader.name(), " matches '", kernels,
                                            "'; 'heddle trace info' lists them"));
  }
  return selected;
}

// What the trace cannot stand for, as far as it says so itself (decisions.md C).
std::vector<std::string> Notes(const trace::TraceReader& reader,
                               const std::vector<const trace::LaunchView*>& launches) {
  std::vector<std::string> notes;
  for (const trace::LaunchView* launch : launches) {
    if (launch->totals.blocks() != launch->grid_blocks) {
      notes.push_back(absl::StrCat("launch ", launch->launch.id(), " (", launch->program->name(),
                                   "): ", launch->totals.blocks(), " of ", launch->grid_blocks,
                                   " thread blocks were recorded"));
    }
  }
  uint64_t unrecorded = 0;
  for (const trace::LaunchView& launch : reader.launches()) unrecorded += !launch.launch.recorded();
  if (unrecorded != 0) {
    notes.push_back(absl::StrCat(unrecorded, unrecorded == 1 ? " launch" : " launches", " of the run ",
                                 unrecorded == 1 ? "was" : "were", " not recorded"));
  }
  for (const trace::v1::Certificate& certificate : reader.certificates()) {
    uint64_t decisions = 0;
    for (const trace::v1::InstructionVariance& changed : certificate.instruction()) {
      decisions += changed.decisions_changed() != 0;
    }
    if (decisions != 0) {
      notes.push_back(absl::StrCat("launch ", certificate.launch(), ": under ", certificate.runs(),
                                   " other thread and block orders ", decisions,
                                   decisions == 1 ? " branch" : " branches",
                                   " decided differently, so its paths depend on the order of execution"));
    }
  }
  return notes;
}

absl::Status AddPlace(const absl::Status& status, const trace::LaunchView& launch, const Configuration& configuration) {
  return absl::Status(status.code(), absl::StrCat("launch ", launch.launch.id(), " (", launch.program->name(),
                                                  ") under ", configuration.divergence.name, " and ",
                                                  configuration.scheduler.name, ": ", status.message()));
}

// Whether the front end of the machine can run the policies.
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

// What is to be run.
struct Runs {
  const trace::TraceReader& reader;
  const std::vector<Configuration>& configurations;
  const std::vector<CheckedConfiguration>& checked;
  const std::vector<const trace::LaunchView*>& launches;
  const ReplayOptions& options;
};
using LaunchResults = std::vector<std::vector<result::v1::LaunchResult>>;  // by configuration, then by launch

// `memory` is made if it is not there yet.
absl::StatusOr<result::v1::LaunchResult> RunOne(const Runs& runs, const RunQueue::Run& run,
                                                const AddressWindows& windows, std::unique_ptr<MemorySystem>& memory,
                                                ChunkCache& cache, std::function<bool(uint64_t)> report) {
  const ReplayOptions& options = runs.options;
  if (memory == nullptr) {
    auto made =
        MakeMemorySystem(options.machine, windows, runs.configurations[run.configuration].seed, options.force_tick);
    if (!made.ok()) return made.status();
    memory = *std::move(made);
  }
  return ReplayLaunch({runs.reader, *runs.launches[run.launch], runs.checked[run.configuration],
                       static_cast<uint32_t>(run.configuration), options, cache, *memory, std::move(report)});
}

// Every launch under every configuration, on options.jobs threads. A thread has a cache of decoded data of its own.
absl::StatusOr<LaunchResults> RunAll(const Runs& runs) {
  const size_t configurations = runs.configurations.size();
  const ReplayOptions& options = runs.options;
  const AddressWindows windows(runs.reader.header());
  // A memory of fixed latency has no state: launches are independent of one another. An L2 keeps its lines.
  const bool sequential = !options.machine.memory().has_fixed();
  const size_t most = configurations * (sequential ? 1 : runs.launches.size());
  const size_t threads =
      options.observer != nullptr ? 1 : std::clamp<size_t>(options.jobs, 1, std::max<size_t>(most, 1));
  std::vector<std::unique_ptr<MemorySystem>> memories(configurations);
  uint64_t total = 0;
  for (const trace::LaunchView* launch : runs.launches) total += launch->totals.thread_instructions() * configurations;

  LaunchResults results(configurations, std::vector<result::v1::LaunchResult>(runs.launches.size()));
  RunProgress progress(options.progress, total, threads);
  RunQueue queue(runs.launches.size(), configurations, sequential);
  const auto work = [&](size_t thread) {
    ChunkCache cache(runs.reader, options.cache_bytes / threads);
    while (const std::optional<RunQueue::Run> run = queue.Take()) {
      const size_t i = run->configuration;
      const trace::LaunchView& launch = *runs.launches[run->launch];
      std::function<bool(uint64_t)> report;
      if (options.progress) report = [&](uint64_t done) { return progress.Update(thread, done); };
      // Only the thread that has the configuration's launch touches its memory; without state each launch has its own.
      std::unique_ptr<MemorySystem> own;
      absl::StatusOr<result::v1::LaunchResult> result =
          RunOne(runs, *run, windows, sequential ? memories[i] : own, cache, std::move(report));
      absl::Status status;
      if (result.ok()) {
        results[i][run->launch] = *std::move(result);
      } else {
        status = AddPlace(result.status(), launch, runs.configurations[i]);
      }
      progress.Finish(thread, launch.totals.thread_instructions());
      queue.Done(*run, status);
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
    work(0);
  }
  if (!queue.status().ok()) return queue.status();
  return results;
}

}  // namespace

PolicySpec PolicySpec::FromText(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

absl::StatusOr<CheckedConfiguration> CheckConfiguration(const Configuration& configuration) {
  CheckedConfiguration checked;
  auto divergence = DivergenceRegistry::Get().Find("divergence policy", configuration.divergence.name);
  if (!divergence.ok()) return divergence.status();
  auto scheduler = SchedulerRegistry::Get().Find("scheduler", configuration.scheduler.name);
  if (!scheduler.ok()) return scheduler.status();
  auto dispatch = DispatchRegistry::Get().Find("dispatcher", configuration.dispatch.name);
  if (!dispatch.ok()) return dispatch.status();
  auto fetch = FetchRegistry::Get().Find("fetch policy", configuration.fetch.name);
  if (!fetch.ok()) return fetch.status();
  checked.divergence = *divergence;
  checked.scheduler = *scheduler;
  checked.dispatch = *dispatch;
  checked.fetch = *fetch;

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
  const absl::StatusOr<CheckedConfiguration> checked = CheckConfiguration(configuration);
  if (!checked.ok()) return checked.status();
  return machine == nullptr ? absl::OkStatus() : CheckFrontEnd(configuration, *checked, *machine);
}

absl::StatusOr<std::vector<result::v1::Result>> Replay(const trace::TraceReader& reader,
                                                       const std::vector<Configuration>& configurations,
                                                       const ReplayOptions& options) {
  if (absl::Status status = CheckMachine(options.machine); !status.ok()) return status;
  std::vector<CheckedConfiguration> checked;
  for (const Configuration& configuration : configurations) {
    absl::StatusOr<CheckedConfiguration> one = CheckConfiguration(configuration);
    if (!one.ok()) return one.status();
    if (absl::Status status = CheckFrontEnd(configuration, *one, options.machine); !status.ok()) return status;
    checked.push_back(*std::move(one));
  }
  absl::StatusOr<std::vector<const trace::LaunchView*>> launches = SelectLaunches(reader, options.kernels);
  if (!launches.ok()) return launches.status();

  std::vector<result::v1::Result> results(configurations.size());
  for (size_t i = 0; i < results.size(); ++i) {
    result::v1::Result& result = results[i];
    result.set_schema(kResultSchema);
    result::v1::Provenance& provenance = *result.mutable_provenance();
    provenance.set_heddle_version(HEDDLE_VERSION);
    provenance.set_trace_digest(reader.digest());
    provenance.set_abstraction_level(reader.header().abstraction_level());
    provenance.set_trace_producer(reader.header().producer());
    provenance.set_trace_target(reader.header().target());
    provenance.set_trace_optimization(reader.header().optimization());
    *provenance.mutable_machine() = options.machine;
    for (const std::string& assignment : options.overrides) provenance.add_override(assignment);
    provenance.set_seed(configurations[i].seed);
    *result.mutable_divergence() = Choice(checked[i].divergence->info, checked[i].divergence_parameters);
    *result.mutable_scheduler() = Choice(checked[i].scheduler->info, checked[i].scheduler_parameters);
    *result.mutable_dispatch() = Choice(checked[i].dispatch->info, checked[i].dispatch_parameters);
    if (options.machine.core().front_end() == machine::v1::Core::IBUFFER) {
      *result.mutable_fetch() = Choice(checked[i].fetch->info, checked[i].fetch_parameters);
    }
    for (const std::string& note : Notes(reader, *launches)) result.add_note(note);
    result.mutable_total();
  }

  absl::StatusOr<LaunchResults> launch_results = RunAll({reader, configurations, checked, *launches, options});
  if (!launch_results.ok()) return launch_results.status();
  for (size_t i = 0; i < results.size(); ++i) {
    for (result::v1::LaunchResult& result : (*launch_results)[i]) {
      AddToTotals(result, options.machine.core().warp_size(), *results[i].mutable_total());
      *results[i].add_launch() = std::move(result);
    }
  }
  return results;
}

}  // namespace heddle::replay
