#include "tools/heddle/replay_run.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/engine/replay.h"
#include "replay/engine/same_runs.h"
#include "replay/engine/validity.h"
#include "replay/engine/wait_check.h"
#include "replay/machine/machine.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/drawing/replay_drawing.h"
#include "tools/drawing/replay_timeline.h"
#include "tools/heddle/replay_checks.h"
#include "tools/heddle/replay_report.h"
#include "tools/inputs/register_counts.h"
#include "tools/inputs/trace_file.h"
#include "tools/study/correlate/hardware_interval.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_pattern.h"

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
    HEDDLE_RETURN_IF_ERROR(replay::Override(*machine, assignment));
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
std::vector<replay::CheckedConfiguration> WithSeeds(const std::vector<replay::CheckedConfiguration>& runs,
                                                    uint32_t jitter) {
  if (jitter == 0) return runs;
  std::vector<replay::CheckedConfiguration> seeded;
  for (const replay::CheckedConfiguration& run : runs) {
    for (uint32_t seed = 1; seed <= jitter; ++seed) {
      seeded.push_back(run);
      seeded.back().seed = seed;
    }
  }
  return seeded;
}

// The traces of the command line, open.
struct Traces {
  std::vector<std::unique_ptr<trace::TraceReader>> open;
  std::vector<const trace::TraceReader*> replayed;
  std::vector<std::string> skipped;  // paths of those without a kernel that is asked for
};

absl::StatusOr<std::vector<std::string>> RecordedKernels(const trace::TraceReader& trace) {
  std::vector<std::string> names;
  for (const trace::LaunchView& launch : trace.launches()) {
    if (!launch.launch.recorded()) continue;
    if (std::find(names.begin(), names.end(), launch.program->name()) == names.end()) {
      names.push_back(launch.program->name());
    }
  }
  if (!names.empty()) return names;
  return absl::FailedPreconditionError(
      absl::StrCat(trace.name(), ": no launch was recorded, there is nothing to replay"));
}

// Of the traces, those that have a kernel which matches. A wrong expression, or one that nothing matches, is told
// before anything runs.
absl::Status SelectTraces(const std::string& expression, Traces& traces) {
  std::vector<std::string> known;
  const absl::StatusOr<trace::KernelPattern> pattern = trace::KernelPattern::Parse(expression);
  if (!pattern.ok()) return absl::InvalidArgumentError(absl::StrCat("--kernels ", pattern.status().message()));
  for (size_t i = 0; i < traces.open.size(); ++i) {
    HEDDLE_ASSIGN_OR_RETURN(const std::vector<std::string> kernels, RecordedKernels(*traces.open[i]));
    if (std::ranges::any_of(kernels, [&pattern](const std::string& name) { return pattern->Matches(name); })) {
      traces.replayed.push_back(traces.open[i].get());
    } else {
      traces.skipped.push_back(traces.open[i]->name());
      known.insert(known.end(), kernels.begin(), kernels.end());
    }
  }
  if (!traces.replayed.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--kernels \"", expression, "\": matches none of the ",
                                                 traces.open.size() == 1 ? "trace's" : "traces'",
                                                 " kernels: ", absl::StrJoin(known, ", ")));
}

std::string RunText(const replay::CheckedConfiguration& run) {
  std::string text = absl::StrCat(PolicyText(run.divergence.written), " with ", PolicyText(run.scheduler.written));
  const replay::Configuration usual;
  if (PolicyText(run.dispatch.written) != PolicyText(usual.dispatch)) {
    absl::StrAppend(&text, ", dispatch ", PolicyText(run.dispatch.written));
  }
  if (PolicyText(run.fetch.written) != PolicyText(usual.fetch)) {
    absl::StrAppend(&text, ", fetch ", PolicyText(run.fetch.written));
  }
  if (PolicyText(run.memory.written) != PolicyText(usual.memory)) {
    absl::StrAppend(&text, ", memory ", PolicyText(run.memory.written));
  }
  return text;
}

// Takes out of the plan what cannot be replayed with what is known of the traces. FailedPrecondition if nothing is
// left.
absl::Status SkipUnfit(const Traces& traces, const replay::ReplayOptions& options, RunPlan& plan) {
  std::vector<replay::CheckedConfiguration> fit;
  for (const replay::CheckedConfiguration& run : plan.runs) {
    absl::Status status;
    for (const trace::TraceReader* trace : traces.replayed) {
      status.Update(CheckLockstep(*trace, run, options));
      status.Update(CheckWarpLocks(*trace, run, options));
    }
    if (status.ok()) {
      fit.push_back(run);
    } else {
      plan.skipped.push_back({run, std::string(status.message())});
    }
  }
  plan.runs = std::move(fit);
  return plan.runs.empty() ? absl::FailedPreconditionError(plan.skipped.back().reason) : absl::OkStatus();
}

// Assignments of --set that a later one to the same field takes the place of.
void ReportReplaced(const std::vector<std::string>& overrides) {
  const auto field = [](const std::string& assignment) { return assignment.substr(0, assignment.find('=')); };
  for (auto one = overrides.begin(); one != overrides.end(); ++one) {
    const auto later = std::find_if(std::next(one), overrides.end(),
                                    [&](const std::string& other) { return field(other) == field(*one); });
    if (later != overrides.end()) Note(absl::StrCat("--set ", *one, " has no effect: --set ", *later, " is behind it"));
  }
}

// A few with their reasons; of many only the first.
void ReportSkipped(const std::vector<SkippedRun>& skipped) {
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

int UsageOrFailure(const absl::Status& status) { return absl::IsInvalidArgument(status) ? kWrongUsage : kFailed; }

// That no output replaces an input, or another one.
absl::Status CheckOutputs(const ReplayArguments& arguments) {
  const std::vector<NamedOutput> outputs = {{"-o", arguments.output},
                                            {"--json", arguments.json ? "-" : ""},
                                            {"--draw", arguments.draw.output},
                                            {"--timeline", arguments.timeline.output}};
  for (const NamedOutput& output : outputs) {
    if (output.path.empty()) continue;
    absl::Status status = CheckNotAnInput(output.option, output.path, arguments.traces, "the trace itself");
    if (arguments.machine.ends_with(".textproto")) {
      status.Update(CheckNotAnInput(output.option, output.path, {arguments.machine}, "the machine's file"));
    }
    if (arguments.preset.ends_with(".preset")) {
      status.Update(CheckNotAnInput(output.option, output.path, {arguments.preset}, "the preset's file"));
    }
    status.Update(CheckNotAnInput(output.option, output.path, arguments.libraries, "a library of policies"));
    if (!status.ok()) return status;
  }
  for (const char* picture : {".png", ".pdf", ".jpg", ".jpeg"}) {
    if (!arguments.draw.output.ends_with(picture)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--draw ", arguments.draw.output, ": the drawing is SVG; call it .svg"));
  }
  // Results on standard output that are asked for twice are still there once.
  if (arguments.output == "-") return CheckDifferentOutputs({outputs[0], outputs[2], outputs[3]});
  return CheckDifferentOutputs(outputs);
}

// Runs that are declared to be the same, before they are run: one line, with the reason.
void ReportDeclaredSame(const std::vector<replay::CheckedConfiguration>& runs, const machine::v1::Machine& machine) {
  std::set<std::string> reasons;
  std::map<std::string, const replay::CheckedConfiguration*> first;
  std::vector<std::string> pairs;
  for (const replay::CheckedConfiguration& run : runs) {
    const replay::RunMeaning meaning = replay::MeaningOf(run, machine);
    reasons.insert(meaning.reasons.begin(), meaning.reasons.end());
    const auto [known, added] = first.emplace(meaning.text, &run);
    if (!added) pairs.push_back(absl::StrCat(RunText(run), " is the same run as ", RunText(*known->second)));
  }
  for (const std::string& reason : reasons) Note(absl::StrCat("on machine ", machine.name(), " ", reason));
  if (pairs.empty()) return;
  Note(absl::StrCat(pairs[0], pairs.size() == 1 ? "" : absl::StrCat("; and ", pairs.size() - 1, " more like this")));
}

// Runs that are not declared to be the same, and came to the same in every counter on every trace: one line, however
// many there are. `results`: by trace, then by run of `runs`.
void ReportFoundSame(const std::vector<std::vector<result::v1::Result>>& results,
                     const std::vector<replay::CheckedConfiguration>& runs, const machine::v1::Machine& machine) {
  std::vector<std::string> meanings;
  meanings.reserve(runs.size());
  for (const replay::CheckedConfiguration& run : runs) meanings.push_back(replay::MeaningOf(run, machine).text);
  std::vector<std::vector<size_t>> groups;
  std::vector<bool> seen(runs.size(), false);
  for (size_t i = 0; i < runs.size(); ++i) {
    if (seen[i]) continue;
    std::vector<size_t> group = {i};
    for (size_t j = i + 1; j < runs.size(); ++j) {
      if (seen[j] || meanings[i] == meanings[j]) continue;
      if (std::ranges::all_of(results, [&](const auto& one) { return replay::HaveSameCounters(one[i], one[j]); })) {
        group.push_back(j);
        seen[j] = true;
      }
    }
    if (group.size() > 1) groups.push_back(std::move(group));
  }
  if (groups.empty()) return;
  constexpr size_t kMost = 3;  // groups, and members of each
  std::string text;
  for (size_t i = 0; i < std::min(groups.size(), kMost); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : "; ");
    for (size_t k = 0; k < std::min(groups[i].size(), kMost); ++k) {
      absl::StrAppend(&text, k == 0 ? "" : " = ", RunText(runs[groups[i][k]]));
    }
    if (groups[i].size() > kMost) absl::StrAppend(&text, " = ", groups[i].size() - kMost, " more");
  }
  if (groups.size() > kMost) absl::StrAppend(&text, "; and ", groups.size() - kMost, " more groups");
  Note(absl::StrCat("the same in every counter but those of policies",
                    results.size() == 1 ? "" : absl::StrCat(", on all ", results.size(), " traces"), ": ", text));
}

// What came of the runs: those that ended, by trace, and what is told of the others.
struct Finished {
  std::vector<std::vector<result::v1::Result>> results;
  std::vector<std::vector<uint32_t>> numbers;  // of the results: which configuration
  std::vector<std::string> errors;             // one line for each trace with runs that failed
  size_t runs = 0;                             // that ended
};

Finished Sort(replay::RunOutcomes outcomes) {
  Finished finished;
  for (auto& of_trace : outcomes) {
    finished.results.emplace_back();
    finished.numbers.emplace_back();
    std::string error;
    size_t failed = 0;
    for (uint32_t i = 0; i < of_trace.size(); ++i) {
      if (of_trace[i].ok()) {
        finished.results.back().push_back(*std::move(of_trace[i]));
        finished.numbers.back().push_back(i);
        ++finished.runs;
      } else if (!absl::IsCancelled(of_trace[i].status()) && failed++ == 0) {
        error = std::string(of_trace[i].status().message());
      }
    }
    if (failed > 1)
      absl::StrAppend(&error, "\n", failed - 1, failed == 2 ? " more run of" : " more runs of", " this trace failed");
    if (failed != 0) finished.errors.push_back(std::move(error));
  }
  return finished;
}

}  // namespace

int ReplayTraces(const ReplayArguments& arguments) {
  replay::ReplayOptions options;
  absl::StatusOr<machine::v1::Machine> machine = EffectiveMachine(arguments);
  if (!machine.ok()) return ReportError(kWrongUsage, machine.status());
  options.machine = *std::move(machine);
  absl::StatusOr<RunPlan> plan = PlanRuns(arguments.policies, &options.machine);
  if (!plan.ok()) return ReportError(kWrongUsage, plan.status());
  options.overrides = arguments.overrides;
  options.kernels = arguments.kernels;
  options.max_cycles = arguments.max_cycles;
  options.launch_rule = replay::LaunchRuleOf(arguments.launches).value_or(replay::LaunchRule::kInOrder);
  options.force_regrouping = arguments.force_regrouping;
  options.jobs = arguments.jobs;
  options.cache_bytes = arguments.trace_memory << 20;
  replay::DecodingCounters decoding;
  options.decoding = &decoding;
  options.metrics = arguments.metrics;

  Traces traces;
  // A wrong name is told before anything runs. A damaged trace is none that others have to wait for.
  std::vector<absl::Status> damaged;
  for (const std::string& path : arguments.traces) {
    absl::StatusOr<std::unique_ptr<trace::TraceReader>> trace = OpenTrace(path);
    if (trace.ok()) {
      traces.open.push_back(*std::move(trace));
    } else if (absl::IsNotFound(trace.status())) {
      return ReportError(kWrongUsage, trace.status());
    } else {
      damaged.push_back(trace.status());
    }
  }
  if (traces.open.empty()) {
    for (const absl::Status& status : damaged) ReportError(kFailed, status);
    return kFailed;
  }
  if (const absl::Status status = SelectTraces(arguments.kernels, traces); !status.ok()) {
    return ReportError(UsageOrFailure(status), status);
  }
  std::set<std::string> kernels;
  for (const trace::TraceReader* trace : traces.replayed) {
    for (const trace::LaunchView& launch : trace->launches()) kernels.insert(launch.program->name());
  }
  absl::Status registers = CheckRegisterNames(arguments.registers, kernels);
  if (registers.ok()) registers = ApplyRegisters(arguments.registers, traces.replayed, options);
  if (!registers.ok()) return ReportError(UsageOrFailure(registers), registers);
  if (const absl::Status status = SkipUnfit(traces, options, *plan); !status.ok()) return ReportError(kFailed, status);

  const bool of_one_launch = !arguments.draw.output.empty() || !arguments.timeline.output.empty() ||
                             arguments.check_order || options.metrics.bin_cycles + options.metrics.timeline_blocks != 0;
  if (options.launch_rule != replay::LaunchRule::kInOrder && of_one_launch) {
    return ReportError(kWrongUsage,
                       absl::StrCat("--launches ", arguments.launches,
                                    " goes with neither --draw, --timeline, --check-order, --bins nor --warp-phases, "
                                    "which are of the time of one launch; use in_order"));
  }
  if (arguments.check_order || !arguments.check_convergence.empty()) {
    if (!arguments.draw.output.empty() || !arguments.timeline.output.empty()) {
      return ReportError(kWrongUsage, absl::StrCat(arguments.check_order ? "--check-order" : "--check-convergence",
                                                   " goes with neither --draw nor --timeline"));
    }
  }
  if (arguments.check_order) {
    if (!arguments.check_convergence.empty()) {
      return ReportError(kWrongUsage, "--check-order and --check-convergence do not go together");
    }
    for (const trace::TraceReader* trace : traces.replayed) {
      if (const absl::Status status = CheckHasLastWriters(*trace); !status.ok()) return ReportError(kFailed, status);
    }
  }

  const absl::StatusOr<CounterChoice> counters = ChooseCounters(arguments.counters, plan->runs);
  if (!counters.ok()) return ReportError(kWrongUsage, counters.status());
  if (const absl::Status status = CheckOutputs(arguments); !status.ok()) return ReportError(kWrongUsage, status);
  const bool json_on_output = arguments.json || arguments.output == "-";
  const bool table_on_output =
      !arguments.quiet && !json_on_output && arguments.draw.output != "-" && arguments.timeline.output != "-";
  std::optional<OutputFile> file;
  if (!arguments.output.empty() && arguments.output != "-") {
    absl::StatusOr<OutputFile> created = OutputFile::Create(arguments.output);
    if (!created.ok()) return ReportError(UsageOrFailure(created.status()), created.status());
    file.emplace(*std::move(created));
  }
  if (!arguments.quiet) {
    ReportReplaced(arguments.overrides);
    for (const std::string& assignment : arguments.overrides) {
      if (const std::string why = replay::WithoutEffect(options.machine, assignment); !why.empty()) {
        Note(absl::StrCat("--set ", why));
      }
    }
    for (const std::string& why : plan->without_effect) Note(why);
    ReportDeclaredSame(plan->runs, options.machine);
    ReportSkipped(plan->skipped);
    for (const std::string& path : traces.skipped) {
      Note(absl::StrCat("skipped ", path, ": no kernel of it matches --kernels \"", arguments.kernels, "\""));
    }
  }

  const std::vector<replay::CheckedConfiguration> seeded = WithSeeds(plan->runs, arguments.jitter);
  std::unique_ptr<ReplayDrawing> drawing;
  if (!arguments.draw.output.empty()) {
    auto created = ReplayDrawing::Create(arguments.draw, options.machine, seeded, traces.replayed, arguments.kernels);
    if (!created.ok()) return ReportError(UsageOrFailure(created.status()), created.status());
    drawing = *std::move(created);
    options.observer = drawing->observer();
  }
  const size_t runs = seeded.size() * traces.replayed.size();
  std::unique_ptr<ReplayTimeline> timeline;
  if (!arguments.timeline.output.empty()) {
    auto created = ReplayTimeline::Create(arguments.timeline, options, runs);
    if (!created.ok()) return ReportError(UsageOrFailure(created.status()), created.status());
    timeline = *std::move(created);
  }
  Progress progress(absl::StrCat("replaying ", runs, runs == 1 ? " run" : " runs"), !arguments.quiet);
  std::optional<NoteInterrupts> interrupts(std::in_place);
  options.progress = [&](uint64_t done, uint64_t total) {
    progress.Update(done, total);
    return interrupts->status() == 0;
  };
  ReplayChecks checks(arguments.check_order, arguments.check_convergence, options.machine.core().warp_size());
  auto outcomes = checks.any() ? checks.Replay(traces.replayed, seeded, options)
                               : replay::ReplayEach(traces.replayed, seeded, options);
  progress.Clear();
  if (!arguments.quiet) NoteDecoding(decoding, arguments.trace_memory);
  const int interrupted = interrupts->status();
  interrupts.reset();
  if (!outcomes.ok()) return ReportError(kFailed, outcomes.status());
  Finished finished = Sort(*std::move(outcomes));
  for (const absl::Status& status : damaged) ReportError(kFailed, status);
  for (const std::string& error : finished.errors) ReportError(kFailed, error);
  const bool failed = !damaged.empty() || !finished.errors.empty();
  const int status_so_far = interrupted != 0 ? interrupted : failed ? kFailed : kSuccess;
  if (finished.runs == 0) {
    return interrupted == 0 ? kFailed : ReportError(interrupted, "interrupted; nothing was written");
  }
  if (finished.runs == runs && !arguments.quiet && arguments.jitter == 0) {
    ReportFoundSame(finished.results, plan->runs, options.machine);
  }
  if (drawing != nullptr) {
    if (const absl::Status status = drawing->Write(*traces.replayed[0]); !status.ok())
      return ReportError(kFailed, status);
  }
  if (timeline != nullptr) {
    const absl::Status status = timeline->Write(*traces.replayed[0], finished.results[0][0]);
    if (!status.ok()) return ReportError(kFailed, status);
  }

  const std::optional<correlate::HardwareIntervals> intervals =
      MeasuredIntervals(arguments.machine, options.machine, arguments.quiet);
  std::string lines;
  for (size_t t = 0; t < finished.results.size(); ++t) {
    for (size_t i = 0; i < finished.results[t].size(); ++i) {
      nlohmann::ordered_json json = ToJson(finished.results[t][i]);
      if (intervals.has_value()) correlate::AddInterval(*intervals, finished.results[t][i], json);
      checks.AddTo(t, finished.numbers[t][i], json);
      absl::StrAppend(&lines, JsonLine(json), "\n");
    }
  }
  if (file.has_value()) {
    absl::Status status = file->Write(lines);
    if (status.ok()) status = file->Commit();
    if (!status.ok()) return ReportError(kFailed, status);
  }
  absl::Status written;
  if (json_on_output) {
    written = WriteStandardOutput(lines);
  } else if (table_on_output) {
    written = WriteStandardOutput(
        absl::StrCat(ReplayReport(finished.results, traces.replayed, arguments.per_launch, *counters, intervals),
                     checks.Report(traces.replayed, finished.results, finished.numbers)));
  }
  if (!written.ok()) return ReportError(kFailed, written);
  if (status_so_far == kSuccess) return kSuccess;
  const std::string where = file.has_value()  ? absl::StrCat("in ", arguments.output)
                            : json_on_output  ? "on standard output"
                            : table_on_output ? "in the table"
                                              : "complete";
  return ReportError(status_so_far,
                     absl::StrCat(interrupted != 0 ? "interrupted; " : "", WithThousands(finished.runs), " of ",
                                  WithThousands(runs), runs == 1 ? " run is " : " runs are ", where));
}

}  // namespace heddle::tools
