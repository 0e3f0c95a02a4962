// The one command: `heddle capture | trace | characterise | replay | sweep | reproduce | report | corpus | policies |
// machines`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/option_checks.h"
#include "tools/console/output.h"
#include "tools/console/terminal.h"
#include "tools/console/usage_errors.h"
#include "tools/exchange/accelsim/accelsim_options.h"
#include "tools/exchange/corpus/corpus_options.h"
#include "tools/heddle/characterise_options.h"
#include "tools/heddle/commands.h"
#include "tools/heddle/new_policy_command.h"
#include "tools/heddle/policy_cost_command.h"
#include "tools/heddle/preset.h"
#include "tools/heddle/trace_options.h"
#include "tools/inputs/policy_library.h"
#include "tools/study/report/report_options.h"
#include "tools/study/reproduce/reproduce_command.h"
#include "tools/study/sweep/sweep_options.h"
#include "traces/base/suggest.h"

namespace heddle::tools {
namespace {

constexpr char kExamples[] = R"(
Examples:
  heddle capture -o bfs.htrace traces/kernels/bfs/bfs.textproto
  heddle capture -o program.htrace -- ./program arguments
  heddle trace info bfs.htrace
  heddle replay bfs.htrace --divergence nrec,pdom,dwf,mimd --scheduler lrr,gto
  heddle replay bfs.htrace --divergence pdom --set core.schedulers=1 -o result.json
  heddle report result.json -o report.html
  heddle policies dwf
  heddle machines import gpgpusim.config -o mine.textproto

Exit status: 0 success, 1 the run failed, 2 wrong usage.)";

constexpr char kReplayFooter[] = R"(
Lists are separated by commas; the runs are their product, and the trace is decoded once. Parameters follow a colon:
--divergence pdom,dwf:lane_aware=false,swizzle=none,nrec are three policies: a piece with '=' and without ':' is a
further parameter of the policy before it. Combinations that do not go together are skipped with a note.)";

constexpr char kSetFooter[] = R"(
--set names a field as `heddle machines NAME` shows it: core.schedulers=1, memory.hierarchy.dram.timing.cl=14. Entries of a
list are named, core.units.timing[INT_DIV].latency=20, or counted from 0; masks may be hexadecimal. The machine as it was
run is part of every result.)";

struct Arguments {
  ReplayArguments replay;
  ImportArguments import;
  std::string name;
  std::vector<std::string> libraries;  // with policies
  std::string seam;                    // of the new policy
  std::string folder = ".";
  bool cost = false;
  std::string cost_machine = "fermi_fixed";
  bool json = false;
};

void AddReplay(CLI::App& app, Arguments& arguments) {
  ReplayArguments& replay = arguments.replay;
  CLI::App& command = *app.add_subcommand("replay", "Replay traces under chosen policies on a machine");
  command.footer(absl::StrCat(kReplayFooter, "\n", kSetFooter));
  command.add_option("TRACE", replay.traces, "Trace files")->required();
  command.add_option("--machine", replay.machine, "Machine name (`heddle machines`) or FILE.textproto")
      ->capture_default_str();
  command
      .add_option("--preset", replay.preset,
                  absl::StrCat("A paper's machine and policies in one word, or FILE.preset; the options below go "
                               "before it:\n",
                               absl::StrJoin(PresetNames(), ", ")))
      ->check(NotEmpty());
  command.add_option("--divergence", replay.policies.divergence, "How warps are formed and split; or all")
      ->capture_default_str();
  command.add_option("--scheduler", replay.policies.scheduler, "Which warp issues; or all")->capture_default_str();
  command.add_option("--dispatch", replay.policies.dispatch, "Which thread block enters which SM; or all")
      ->capture_default_str();
  command.add_option("--fetch", replay.policies.fetch, "Which warp is fetched for (machines with IBUFFER); or all")
      ->capture_default_str();
  command
      .add_option("--kernels", replay.kernels,
                  "Only kernels whose name has a match of this regular expression (POSIX extended)")
      ->check(NotEmpty());
  command
      .add_option("--set", replay.overrides, "Field of the machine as PATH=VALUE, such as core.schedulers=1; repeat")
      ->expected(1)
      ->take_all();
  command.add_option("--max-cycles", replay.max_cycles, "Stop with an error when a launch takes more cycles")
      ->check(PositiveWholeNumber());
  command
      .add_option("--jobs", replay.jobs,
                  "Threads that run traces, pairs of policies, and launches that are independent;\n"
                  "the results do not depend on it")
      ->check(WholeNumberFromTo(1, 1024))
      ->capture_default_str();
  command.add_option("--trace-memory", replay.trace_memory, kTraceMemoryHelp)
      ->check(WholeNumberFromTo(1, kMostTraceMemory))
      ->capture_default_str();
  command
      .add_option("--jitter", replay.jitter,
                  "Run everything so many times with a little noise on the memory's latencies, and mark differences\n"
                  "that it explains")
      ->check(WholeNumberFromTo(2, 1000));
  command.add_flag("--force-regrouping", replay.force_regrouping,
                   "Also policies that regroup threads of kernels that rely on warps in lockstep");
  command
      .add_option("-o,--output", replay.output, "File for the results, one line of JSON per run; - is standard output")
      ->check(NotEmpty());
  command.add_flag("--json", replay.json, "Print the results as JSON instead of the table");
  command.add_flag("--per-launch", replay.per_launch, "A table for every launch, too");
  command.add_flag("--per-instruction", replay.metrics.per_instruction,
                   "Where cycles, divergence and transactions arise: the hottest instructions, and all in the JSON");
  command.add_flag("--check-order", replay.check_order,
                   "Reads that a run lets overtake the thread block whose data they read; traces captured with\n"
                   "--record-writers");
  command
      .add_option("--bins", replay.metrics.bin_cycles,
                  "Counters over time, in bins of so many cycles (wider ones in long launches)")
      ->check(WholeNumberFromTo(1, uint64_t{1} << 40));
  command
      .add_option("--warp-phases", replay.metrics.timeline_blocks,
                  "When the warps of the first so many thread blocks of each launch ran and waited at barriers; JSON")
      ->check(PositiveWholeNumber());
  CLI::Option& draw =
      *command.add_option("--draw", replay.draw.output, "SVG file with a drawing of one run: who issued, who waited");
  draw.check(NotEmpty());
  command
      .add_option("--draw-cycles", replay.draw.cycles,
                  "Cycles of the drawing, FIRST-LAST; 240 from the SM's first issue on")
      ->check(NotEmpty())
      ->needs(&draw);
  command.add_option("--draw-sm", replay.draw.sm, "SM of the drawing")
      ->check(WholeNumberFromTo(0, 1'000'000))
      ->capture_default_str()
      ->needs(&draw);
  command
      .add_option("--draw-launch", replay.draw.launch,
                  "Launch of the drawing, by number; the first in which the SM issues")
      ->check(WholeNumberFromTo(0, 1'000'000'000))
      ->needs(&draw);
  command
      .add_option("--draw-show", replay.draw.show,
                  "Issue slots by lane, warps over time, or both; or how far the threads are, over the whole launch")
      ->check(CLI::IsMember({"lanes", "warps", "both", "progress"}))
      ->capture_default_str()
      ->needs(&draw);
  CLI::Option& timeline =
      *command.add_option("--timeline", replay.timeline.output,
                          "File for Perfetto (.pftrace): what warps and ports of one run did, cycle by cycle");
  timeline.check(NotEmpty());
  command.add_option("--timeline-cycles", replay.timeline.cycles, "Cycles of it in each launch, FIRST-LAST; all")
      ->check(NotEmpty())
      ->needs(&timeline);
  command.add_option("--sm", replay.timeline.sms, "SMs of it, such as 0,4-7; all")->check(NotEmpty())->needs(&timeline);
  command.add_flag("--quiet", replay.quiet, "No table, notes or progress");
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

int WrongUsage(const CLI::App& app, const CLI::ParseError& error) {
  std::string command = "heddle";
  for (const CLI::App* parsed = &app; !parsed->get_subcommands().empty();) {
    parsed = parsed->get_subcommands().front();
    absl::StrAppend(&command, " ", parsed->get_name());
  }
  return ReportError(kWrongUsage, absl::StrCat(UsageMessage(app, error), "; see `", command, " --help`"));
}

int Run(int argc, char** argv) {
  // Everything behind `capture` belongs to the program that does it, --help and signals included.
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words[0] == "capture") return CaptureCommand({words.begin() + 1, words.end()});
  HandleSignals();

  Arguments arguments;
  CLI::App app(
      "Heddle records what every thread of a GPU kernel does, without a GPU, and replays the recording through\n"
      "interchangeable ways of forming and scheduling warps.",
      "heddle");
  app.set_version_flag("--version", "heddle " HEDDLE_VERSION);
  app.footer(kExamples);
  app.require_subcommand(1);

  app.add_subcommand("capture",
                     "Record the kernels of a program, or one kernel from a recipe (see `heddle capture --help`)");
  const TraceOptions trace(app);
  const accelsim::AccelSimOptions exchange(app);
  const CharacteriseOptions characterise(app);
  AddReplay(app, arguments);
  const ReportOptions report(app);
  const sweep::SweepOptions sweep(app);
  const corpus::CorpusOptions corpus(app);
  const reproduce::ReproduceOptions reproduce(app);
  CLI::App& policies = *app.add_subcommand("policies", "What there is behind the seams, with parameters and sources");
  policies.add_option("NAME", arguments.name, "Everything about this policy");
  CLI::Option& cost = *policies.add_flag(
      "--cost", arguments.cost,
      "The storage of NAME in hardware, as its paper tabulates it; parameters and lists as for replay:\n"
      "dwf:resources=limited,dmaj");
  policies.add_option("--machine", arguments.cost_machine, "Machine whose core --cost is for")
      ->capture_default_str()
      ->needs(&cost);
  CLI::App& machines = *app.add_subcommand("machines", "The machines there are");
  machines.add_option("NAME", arguments.name, "Print this machine, with the source of every value");
  CLI::App& import =
      *machines.add_subcommand("import", "Make a machine file of a configuration of GPGPU-Sim or Accel-Sim");
  import.add_option("FILE", arguments.import.files, "gpgpusim.config, and what comes with it (trace.config)")
      ->required();
  import.add_option("--name", arguments.import.name, "Name of the machine; else that of the first file")
      ->check(NotEmpty());
  import.add_option("-o,--output", arguments.import.output, "File for the machine, such as mine.textproto")
      ->check(NotEmpty());
  import.footer(
      "\nValues carry the line that they come from. What is not represented, or in another way, is listed on top of "
      "the\n"
      "file with its line; docs/how-to/from-accel-sim.md has the map.");
  for (CLI::App* command : {&policies, app.get_subcommand("replay")}) {
    AddPolicyLibraryOption(*command, arguments.libraries);
  }
  CLI::App& new_policy =
      *app.add_subcommand("new-policy", "Write a starting file for a policy of your own, and its test");
  new_policy.add_option("SEAM", arguments.seam, "divergence, scheduler, fetch or dispatch")->required();
  new_policy.add_option("NAME", arguments.name, "Name of the policy: lower-case letters, digits and _")->required();
  new_policy.add_option("--folder", arguments.folder, "Where to write NAME.cc and NAME_test.cc")->capture_default_str();
  for (CLI::App* command : {&policies, &machines}) command->add_flag("--json", arguments.json, "Print JSON");

  // CLI11 would say only that the argument was not expected.
  const std::vector<std::string> commands = CommandNames(app);
  if (!words.empty() && !words[0].starts_with("-") && std::ranges::find(commands, words[0]) == commands.end()) {
    return ReportError(kWrongUsage,
                       absl::StrCat(UnknownNameMessage("command", words[0], commands), "; see `heddle --help`"));
  }
  try {  // CLI11 throws, we do not
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const absl::Status written = WriteStandardOutput(app.help());  // of the command that was asked for
    return written.ok() ? kSuccess : ReportError(kFailed, written);
  } catch (const CLI::CallForVersion& version) {
    const absl::Status written = WriteStandardOutput(absl::StrCat(version.what(), "\n"));
    return written.ok() ? kSuccess : ReportError(kFailed, written);
  } catch (const CLI::ParseError& error) {
    return WrongUsage(app, error);
  }

  if (int status = kSuccess; trace.Run(status) || exchange.Run(status) || characterise.Run(status) ||
                             report.Run(status) || sweep.Run(status) || corpus.Run(status) || reproduce.Run(status)) {
    return status;
  }
  if (new_policy.parsed()) return NewPolicyCommand(arguments.seam, arguments.name, arguments.folder);
  if (const absl::Status loaded = LoadPolicyLibraries(arguments.libraries); !loaded.ok()) {
    return ReportError(kWrongUsage, loaded);
  }
  arguments.replay.libraries = arguments.libraries;
  if (policies.parsed() && arguments.cost) {
    return PolicyCostCommand(arguments.name, arguments.cost_machine, arguments.json);
  }
  if (policies.parsed()) return PoliciesCommand(arguments.name, arguments.json);
  if (import.parsed()) return ImportCommand(arguments.import);
  if (machines.parsed()) return MachinesCommand(arguments.name, arguments.json);
  if (!arguments.replay.preset.empty()) {
    const CLI::App& command = *app.get_subcommand("replay");
    const absl::StatusOr<std::string> parts = ApplyPreset(arguments.replay, [&command](const std::string& option) {
      return command.get_option("--" + option)->count() != 0;
    });
    if (!parts.ok()) return ReportError(kWrongUsage, parts.status());
    if (!arguments.replay.quiet) Note(*parts);
  }
  return ReplayCommand(arguments.replay);
}

}  // namespace
}  // namespace heddle::tools

int main(int argc, char** argv) { return heddle::tools::Run(argc, argv); }
