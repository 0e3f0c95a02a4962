// `heddle correlate`: from the command line to the report.
#include "tools/study/correlate/correlate_command.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/engine/model_version.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/console/terminal.h"
#include "tools/inputs/hardware_files.h"
#include "tools/inputs/policy_list.h"
#include "tools/inputs/trace_file.h"
#include "tools/study/correlate/card_data.h"
#include "tools/study/correlate/correlation.h"
#include "tools/study/correlate/correlation_report.h"
#include "tools/study/correlate/hardware_interval.h"
#include "tools/study/correlate/ladder.h"
#include "tools/study/report/report_page.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::correlate {
namespace {

// A trace that the card has run.
struct Match {
  std::unique_ptr<trace::TraceReader> trace;
  const CardKernel* kernel = nullptr;
};

absl::StatusOr<machine::v1::Machine> EffectiveMachine(const CorrelateArguments& arguments) {
  absl::StatusOr<machine::v1::Machine> machine = replay::LoadMachine(arguments.machine);
  if (!machine.ok()) {
    return absl::Status(machine.status().code(), absl::StrCat("--machine: ", machine.status().message()));
  }
  for (const std::string& assignment : arguments.overrides) {
    HEDDLE_RETURN_IF_ERROR(replay::Override(*machine, assignment));
  }
  if (const absl::Status status = replay::CheckMachine(*machine); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat("--set: machine ", machine->name(), ": ", status.message()));
  }
  return machine;
}

// No output is an input or another output.
absl::Status CheckOutputs(const CorrelateArguments& arguments, const CardData& card) {
  std::vector<std::string> inputs = arguments.traces;
  for (const HardwareVisit& visit : card.visits) inputs.push_back(visit.file);
  if (absl::EndsWith(arguments.machine, ".textproto")) inputs.push_back(arguments.machine);
  for (const auto& [option, path] : {std::pair("-o", arguments.output), std::pair("--json", arguments.json)}) {
    if (path.empty() || path == "-") continue;
    HEDDLE_RETURN_IF_ERROR(CheckNotAnInput(option, path, inputs, "one of the inputs"));
  }
  if (arguments.keep_errors && !arguments.overrides.empty()) {
    return absl::InvalidArgumentError(
        "--keep-errors: with --set it is another machine; write its values into a file of its own");
  }
  return CheckDifferentOutputs({{"-o", arguments.output}, {"--json", arguments.json}});
}

using Traces = std::vector<std::unique_ptr<trace::TraceReader>>;

absl::StatusOr<Traces> OpenTraces(const std::vector<std::string>& paths) {
  Traces traces;
  for (const std::string& path : paths) {
    HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<trace::TraceReader> trace, OpenTrace(path));
    traces.push_back(std::move(trace));
  }
  return traces;
}

// The option --code, or what all traces are. Errors: traces of PTX beside ones of machine code; machine code beside the
// card's run of the PTX.
absl::StatusOr<std::string> CodeOf(const CorrelateArguments& arguments, const Traces& traces) {
  std::string code = arguments.code;
  for (size_t i = 0; i < traces.size(); ++i) {
    for (const trace::LaunchView& launch : traces[i]->launches()) {
      if (launch.program == nullptr) continue;
      const bool machine_code = launch.program->proto().level() == trace::v1::LEVEL_MACHINE;
      if (code.empty()) code = CodeBeside(machine_code);
      const bool chosen = !arguments.code.empty();
      if (machine_code ? code != CodeBeside(/*machine_code=*/false)
                       : chosen || code == CodeBeside(/*machine_code=*/false))
        continue;
      return absl::InvalidArgumentError(
          absl::StrCat(arguments.traces[i], ": is a trace of ", machine_code ? "machine code" : "PTX", ", ",
                       !chosen ? std::string("those before it are not; compare them apart")
                               : absl::StrCat("beside which --code ", code, " cannot stand; use cuda or cubin")));
    }
  }
  return code.empty() ? CodeBeside(/*machine_code=*/false) : code;
}

// Finds the kernels of the traces. Error: the card has run none of them.
absl::StatusOr<std::vector<Match>> MatchTraces(const CorrelateArguments& arguments, Traces traces, const CardData& card,
                                               Correlation& correlation) {
  std::vector<Match> matches;
  std::vector<const CardKernel*> found;
  for (size_t i = 0; i < traces.size(); ++i) {
    const std::string& path = arguments.traces[i];
    const CardKernel* kernel = KernelOf(card, *traces[i]);
    if (kernel == nullptr) {
      correlation.without_kernel.push_back(std::filesystem::path(path).filename().string());
      continue;
    }
    if (std::ranges::find(found, kernel) != found.end()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": two traces are of kernel ", kernel->name));
    }
    found.push_back(kernel);
    matches.push_back({std::move(traces[i]), kernel});
  }
  for (const CardKernel& kernel : card.kernels) {
    if (std::ranges::find(found, &kernel) == found.end()) correlation.without_trace.push_back(kernel.name);
  }
  if (matches.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(arguments.hardware, ": the card has run none of the traces; a trace is called as the kernel, ",
                     card.kernels.front().name, ".htrace"));
  }
  return matches;
}

bool OfMachineCode(const Traces& traces) {
  return std::ranges::any_of(traces, [](const std::unique_ptr<trace::TraceReader>& trace) {
    return std::ranges::any_of(trace->launches(), [](const trace::LaunchView& launch) {
      return launch.program != nullptr && launch.program->proto().level() == trace::v1::LEVEL_MACHINE;
    });
  });
}

// `divergence`: unless an option says otherwise.
absl::StatusOr<replay::CheckedConfiguration> ConfigurationOf(const CorrelateArguments& arguments,
                                                             const Ladder::Policy& divergence,
                                                             const machine::v1::Machine& machine) {
  PolicyLists lists;
  lists.divergence = arguments.divergence.empty() ? divergence.name : arguments.divergence;
  lists.scheduler = arguments.scheduler;
  HEDDLE_ASSIGN_OR_RETURN(RunPlan plan, PlanRuns(lists, &machine));
  if (plan.runs.size() != 1) {
    return absl::InvalidArgumentError("--divergence and --scheduler: name one policy each, all kernels get the same");
  }
  for (const std::string& why : plan.without_effect) Note(why);
  return std::move(plan.runs.front());
}

// Replays every trace; if `cold`, with an empty L2 at the start of each launch. What fails stays a kernel, with the
// reason.
absl::StatusOr<RunPolicies> ReplayMatches(const CorrelateArguments& arguments, const Ladder& ladder,
                                          const machine::v1::Machine& machine,
                                          const replay::CheckedConfiguration& configuration,
                                          const std::vector<Match>& matches, bool cold, Correlation& correlation) {
  replay::ReplayOptions options;
  options.machine = machine;
  // What the profiler does to the card's caches is a condition of the measurement, not a value of the machine.
  if (cold && machine.memory().has_hierarchy()) {
    options.machine.mutable_memory()->mutable_hierarchy()->set_l2_between_launches(machine::v1::Hierarchy::FLUSH);
  }
  options.overrides = arguments.overrides;
  options.jobs = arguments.jobs;
  options.cache_bytes = arguments.trace_memory << 20;
  options.metrics.per_instruction = true;
  Progress progress(absl::StrCat("replaying ", matches.size(), matches.size() == 1 ? " trace" : " traces"), true);
  options.progress = [&progress](uint64_t done, uint64_t total) {
    progress.Update(done, total);
    return true;
  };
  std::vector<const trace::TraceReader*> traces;
  for (const Match& match : matches) traces.push_back(match.trace.get());
  HEDDLE_ASSIGN_OR_RETURN(const replay::RunOutcomes outcomes, replay::ReplayEach(traces, {configuration}, options));
  progress.Clear();
  RunPolicies policies;
  for (size_t i = 0; i < matches.size(); ++i) {
    const absl::StatusOr<result::v1::Result>& outcome = outcomes[i].front();
    const hardware::v1::Kernel& card = *matches[i].kernel->kernel;
    if (outcome.ok()) {
      policies = PoliciesOf(*outcome);
      correlation.kernels.push_back(Correlate(ladder, card, *matches[i].trace, *outcome, machine));
    } else {
      correlation.kernels.push_back(
          NotReplayed(ladder, card, *matches[i].trace, std::string(outcome.status().message())));
    }
  }
  return policies;
}

absl::Status WriteTo(const std::string& path, const std::string& text) {
  if (path == "-") return WriteStandardOutput(text);
  HEDDLE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  HEDDLE_RETURN_IF_ERROR(file.Write(text));
  return file.Commit();
}

// What is known of exactly this machine; nothing for another one of the same name.
std::optional<hardware::v1::MachineRecord> RecordOf(const CorrelateArguments& arguments,
                                                    const machine::v1::Machine& machine) {
  absl::StatusOr<hardware::v1::MachineRecord> record = ReadMachineRecord(MachineRecordFile(arguments.machine));
  if (!record.ok()) {
    if (!absl::IsNotFound(record.status())) Note(std::string(record.status().message()));
    return std::nullopt;
  }
  if (record->machine_digest() == MachineDigest(machine)) return *std::move(record);
  Note(absl::StrCat("machine ", machine.name(), " is not as it was fitted or measured: another value of some field"));
  return std::nullopt;
}

absl::Status KeepErrors(const CorrelateArguments& arguments, const CorrelationReport& report,
                        std::optional<hardware::v1::MachineRecord> known) {
  hardware::v1::MachineRecord record = std::move(known).value_or(hardware::v1::MachineRecord());
  record.set_schema(1);
  record.set_machine(report.machine.name());
  record.set_machine_digest(MachineDigest(report.machine));
  *record.mutable_errors() = ErrorsOf(report);
  const std::string file = MachineRecordFile(arguments.machine);
  HEDDLE_RETURN_IF_ERROR(WriteMachineRecord(file, record));
  Note(absl::StrCat(file, ": has the errors of ", record.errors().program_size(),
                    " kernels; `heddle replay` tells intervals of them"));
  return absl::OkStatus();
}

absl::Status WriteReport(const CorrelateArguments& arguments, const CorrelationReport& report) {
  const std::string json = JsonLine(CorrelationJson(report));
  if (!arguments.output.empty()) {
    const std::string title = absl::StrCat("Heddle beside ", report.card.visits.front().visit.card().name());
    HEDDLE_ASSIGN_OR_RETURN(const std::string page, ReportPage(ReportTemplate(), json, title));
    HEDDLE_RETURN_IF_ERROR(WriteTo(arguments.output, page));
  }
  if (!arguments.json.empty()) HEDDLE_RETURN_IF_ERROR(WriteTo(arguments.json, json + "\n"));
  if (arguments.json == "-" || arguments.output == "-") return absl::OkStatus();
  return WriteStandardOutput(CorrelationText(report));
}

int UsageOrFailure(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kWrongUsage : kFailed;
}

}  // namespace

int CorrelateCommand(const CorrelateArguments& arguments) {
  const absl::StatusOr<Ladder>& ladder = BuiltInLadder();
  if (!ladder.ok()) return ReportError(kFailed, ladder.status());
  const absl::StatusOr<machine::v1::Machine> machine = EffectiveMachine(arguments);
  if (!machine.ok()) return ReportError(kWrongUsage, machine.status());
  absl::StatusOr<Traces> traces = OpenTraces(arguments.traces);
  if (!traces.ok()) return ReportError(UsageOrFailure(traces.status()), traces.status());
  const Ladder::Policy& divergence = ladder->DivergenceFor(OfMachineCode(*traces));
  const absl::StatusOr<replay::CheckedConfiguration> configuration = ConfigurationOf(arguments, divergence, *machine);
  if (!configuration.ok()) return ReportError(kWrongUsage, configuration.status());
  const absl::StatusOr<std::string> code = CodeOf(arguments, *traces);
  if (!code.ok()) return ReportError(kWrongUsage, code.status());
  const absl::StatusOr<CardData> card = LoadCard(arguments.hardware, *code);
  if (!card.ok()) {
    return ReportError(UsageOrFailure(card.status()),
                       absl::Status(card.status().code(), absl::StrCat("--hardware: ", card.status().message())));
  }
  if (const absl::Status status = CheckOutputs(arguments, *card); !status.ok()) {
    return ReportError(kWrongUsage, status);
  }
  Correlation correlation;
  const absl::StatusOr<std::vector<Match>> matches = MatchTraces(arguments, *std::move(traces), *card, correlation);
  if (!matches.ok()) return ReportError(UsageOrFailure(matches.status()), matches.status());
  for (const std::string& note : card->notes) Note(note);
  std::optional<hardware::v1::MachineRecord> record = RecordOf(arguments, *machine);
  const absl::StatusOr<RunPolicies> policies =
      ReplayMatches(arguments, *ladder, *machine, *configuration, *matches, card->cold, correlation);
  if (!policies.ok()) return ReportError(kFailed, policies.status());
  Summarise(*ladder, correlation);
  const CorrelationReport report{*card,
                                 *ladder,
                                 *machine,
                                 record.has_value() && record->has_fit() ? std::optional(record->fit()) : std::nullopt,
                                 PolicyText(configuration->divergence.written),
                                 divergence.reason,
                                 PolicyText(configuration->scheduler.written),
                                 *policies,
                                 replay::ModelVersion(),
                                 correlation};
  absl::Status status = WriteReport(arguments, report);
  if (status.ok() && arguments.keep_errors) status = KeepErrors(arguments, report, std::move(record));
  return status.ok() ? kSuccess : ReportError(UsageOrFailure(status), status);
}

}  // namespace heddle::tools::correlate
