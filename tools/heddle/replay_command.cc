// `heddle replay`: one trace under every combination of the policies that the command line names.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <regex>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/engine/machine.h"
#include "replay/engine/replay.h"
#include "tools/heddle/commands.h"
#include "tools/heddle/json.h"
#include "tools/heddle/output.h"
#include "tools/heddle/report.h"
#include "tools/heddle/terminal.h"
#include "tools/heddle/trace_file.h"

namespace heddle::tools {
namespace {

// Of --jitter, if the machine has none: as few as may move requests past one another. Alameldeen and Wood (Variability
// in Architectural Simulations of Multi-threaded Workloads, HPCA 2003) add up to 4 ns to misses for the same purpose.
constexpr uint32_t kJitterCycles = 4;

absl::StatusOr<machine::v1::Machine> EffectiveMachine(const ReplayArguments& arguments) {
  absl::StatusOr<machine::v1::Machine> machine = replay::LoadMachine(arguments.machine);
  if (!machine.ok())
    return absl::Status(machine.status().code(), absl::StrCat("--machine: ", machine.status().message()));
  for (const std::string& assignment : arguments.overrides) {
    if (const absl::Status status = replay::Override(*machine, assignment); !status.ok()) return status;
  }
  if (const absl::Status status = replay::CheckMachine(*machine); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat("--set: machine ", machine->name(), ": ", status.message()));
  }
  if (arguments.jitter != 0) {
    if (!machine->memory().has_hierarchy()) {
      return absl::InvalidArgumentError(absl::StrCat("--jitter: machine ", machine->name(),
                                                     " has memory.fixed: latencies that do not vary; choose one "
                                                     "with a memory hierarchy, such as baws_gtx480"));
    }
    machine::v1::Hierarchy& memory = *machine->mutable_memory()->mutable_hierarchy();
    if (memory.jitter_cycles() == 0) memory.set_jitter_cycles(kJitterCycles);
  }
  return machine;
}

// Every pair of policies with the seeds 1 to `jitter`, or once as it is.
std::vector<replay::Configuration> WithSeeds(const std::vector<replay::Configuration>& runs, uint32_t jitter) {
  if (jitter == 0) return runs;
  std::vector<replay::Configuration> seeded;
  for (const replay::Configuration& run : runs) {
    for (uint32_t seed = 1; seed <= jitter; ++seed) {
      seeded.push_back(run);
      seeded.back().seed = seed;
    }
  }
  return seeded;
}

// A wrong expression, or one that no recorded kernel matches, is told before anything runs.
absl::Status CheckKernels(const std::string& expression, const trace::TraceReader& trace) {
  std::vector<std::string> names;
  for (const trace::LaunchView& launch : trace.launches()) {
    if (!launch.launch.recorded()) continue;
    if (std::find(names.begin(), names.end(), launch.program->name()) == names.end()) {
      names.push_back(launch.program->name());
    }
  }
  if (names.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(trace.name(), ": no launch was recorded, there is nothing to replay"));
  }
  if (expression.empty()) return absl::OkStatus();
  try {                                                          // the standard library throws, we do not
    const std::regex pattern(expression, std::regex::extended);  // as the replay reads it
    for (const std::string& name : names) {
      if (std::regex_search(name, pattern)) return absl::OkStatus();
    }
  } catch (const std::regex_error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("--kernels \"", expression, "\": not a regular expression: ", error.what()));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--kernels \"", expression, "\": matches none of the trace's kernels: ", absl::StrJoin(names, ", ")));
}

std::string RunText(const replay::Configuration& run) {
  return absl::StrCat(PolicyText(run.divergence), " with ", PolicyText(run.scheduler));
}

// A few with their reasons; of many only the first.
void TellSkipped(const std::vector<SkippedRun>& skipped) {
  constexpr size_t kFew = 3;
  for (const SkippedRun& run : skipped) {
    const std::string text = absl::StrCat("skipped ", RunText(run.configuration), ": ", run.reason);
    if (skipped.size() <= kFew) {
      Note(text);
    } else {
      return Note(absl::StrCat(text, "; and ", skipped.size() - 1,
                               " more combinations that do not go together, see `heddle policies`"));
    }
  }
}

}  // namespace

int ReplayCommand(const ReplayArguments& arguments) {
  replay::ReplayOptions options;
  absl::StatusOr<machine::v1::Machine> machine = EffectiveMachine(arguments);
  if (!machine.ok()) return Complain(kWrongUsage, machine.status());
  options.machine = *std::move(machine);
  const absl::StatusOr<RunPlan> plan = PlanRuns(arguments.policies, &options.machine);
  if (!plan.ok()) return Complain(kWrongUsage, plan.status());
  options.overrides = arguments.overrides;
  options.kernels = arguments.kernels;
  options.max_cycles = arguments.max_cycles;
  options.jobs = arguments.jobs;
  options.metrics = arguments.metrics;

  const auto trace = OpenTrace(arguments.trace);
  if (!trace.ok()) return Complain(TraceErrorStatus(trace.status()), trace.status());
  if (const absl::Status status = CheckKernels(arguments.kernels, **trace); !status.ok()) {
    return Complain(absl::IsInvalidArgument(status) ? kWrongUsage : kFailed, status);
  }

  const bool json_on_output = arguments.json || arguments.output == "-";
  std::optional<OutputFile> file;
  if (!arguments.output.empty() && arguments.output != "-") {
    std::error_code no_such_file;
    if (std::filesystem::equivalent(arguments.output, arguments.trace, no_such_file)) {
      return Complain(kWrongUsage, absl::StrCat("-o ", arguments.output, ": is the trace itself"));
    }
    absl::StatusOr<OutputFile> created = OutputFile::Create(arguments.output);
    if (!created.ok())
      return Complain(absl::IsInvalidArgument(created.status()) ? kWrongUsage : kFailed, created.status());
    file.emplace(*std::move(created));
  }
  if (!arguments.quiet) TellSkipped(plan->skipped);

  const std::vector<replay::Configuration> seeded = WithSeeds(plan->runs, arguments.jitter);
  const size_t runs = seeded.size();
  Progress progress(absl::StrCat("replaying ", runs, runs == 1 ? " run" : " runs"), !arguments.quiet);
  options.progress = [&progress](uint64_t done, uint64_t total) {
    progress.Update(done, total);
    return true;
  };
  const absl::StatusOr<std::vector<result::v1::Result>> results = replay::Replay(**trace, seeded, options);
  progress.Clear();
  if (!results.ok()) return Complain(kFailed, results.status());

  std::string lines;
  for (const result::v1::Result& result : *results) absl::StrAppend(&lines, JsonLine(ToJson(result)), "\n");
  if (file.has_value()) {
    absl::Status status = file->Write(lines);
    if (status.ok()) status = file->Commit();
    if (!status.ok()) return Complain(kFailed, status);
  }
  absl::Status written;
  if (json_on_output) {
    written = WriteStandardOutput(lines);
  } else if (!arguments.quiet) {
    written = WriteStandardOutput(ResultReport(*results, arguments.per_launch));
  }
  return written.ok() ? kSuccess : Complain(kFailed, written);
}

}  // namespace heddle::tools
