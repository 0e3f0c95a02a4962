// `heddle replay`.
#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/console/terminal.h"
#include "tools/heddle/preset.h"
#include "tools/heddle/replay_run.h"
#include "tools/inputs/policy_library.h"
#include "tools/inputs/register_counts.h"

namespace heddle::tools {
namespace {

constexpr char kReplayFooter[] = R"(
Lists are separated by commas; the runs are their product, and the trace is decoded once. Parameters follow a colon:
--divergence pdom,dwf:lane_aware=false,swizzle=none,nrec are three policies: a piece with '=' and without ':' is a
further parameter of the policy before it. Combinations that do not go together are skipped with a note.)";

constexpr char kSetFooter[] = R"(
--set names a field as `heddle machines NAME` shows it: core.schedulers=1, memory.hierarchy.dram.timing.cl=14. Entries of a
list are named, core.units.timing[INT_DIV].latency=20, or counted from 0; masks may be hexadecimal. The machine as it was
run is part of every result.)";

class Replay final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command_ = &command;
    command.add_option("TRACE", arguments_.traces, "Trace files")->required();
    command.add_option("--machine", arguments_.machine, "Machine name (`heddle machines`) or FILE.textproto")
        ->capture_default_str();
    command
        .add_option("--preset", arguments_.preset,
                    absl::StrCat("A paper's machine and policies in one word, or FILE.preset; the options below go "
                                 "before it:\n",
                                 absl::StrJoin(PresetNames(), ", ")))
        ->check(NotEmpty());
    command.add_option("--divergence", arguments_.policies.divergence, "How warps are formed and split; or all")
        ->capture_default_str();
    command.add_option("--scheduler", arguments_.policies.scheduler, "Which warp issues; or all")
        ->capture_default_str();
    command.add_option("--dispatch", arguments_.policies.dispatch, "Which thread block enters which SM; or all")
        ->capture_default_str();
    command
        .add_option("--fetch", arguments_.policies.fetch, "Which warp is fetched for (machines with IBUFFER); or all")
        ->capture_default_str();
    command
        .add_option("--memory", arguments_.policies.memory,
                    "What the L1 data cache keeps (machines that have one); or all")
        ->capture_default_str();
    command
        .add_option("--kernels", arguments_.kernels,
                    "Only kernels whose name has a match of this regular expression (POSIX extended)")
        ->check(NotEmpty());
    command
        .add_option("--launches", arguments_.launches,
                    "How the launches of a trace follow one another: one after the other, or as soon as those that "
                    "they\ndepend on have ended, sharing the SMs: the oldest takes what it can use, or equal shares")
        ->check(CLI::IsMember({"in_order", "fill_first", "spatial_split"}))
        ->capture_default_str();
    command
        .add_option("--set", arguments_.overrides,
                    "Field of the machine as PATH=VALUE, such as core.schedulers=1; repeat")
        ->expected(1)
        ->take_all();
    command.add_option("--registers", arguments_.registers, kRegistersHelp)->expected(1)->take_all()->check(NotEmpty());
    command.add_option("--max-cycles", arguments_.max_cycles, "Stop with an error when a launch takes more cycles")
        ->check(PositiveWholeNumber());
    command
        .add_option("--jobs", arguments_.jobs,
                    "Threads that run traces, pairs of policies, and launches that are independent;\n"
                    "the results do not depend on it")
        ->check(WholeNumberFromTo(1, 1024))
        ->capture_default_str();
    command.add_option("--trace-memory", arguments_.trace_memory, kTraceMemoryHelp)
        ->check(WholeNumberFromTo(1, kMostTraceMemory))
        ->capture_default_str();
    command
        .add_option("--jitter", arguments_.jitter,
                    "Run everything so many times with a little noise on the memory's latencies, and mark differences\n"
                    "that it explains")
        ->check(WholeNumberFromTo(2, 1000));
    command.add_flag(
        "--force-regrouping", arguments_.force_regrouping,
        "Also policies that regroup threads of kernels that rely on warps in lockstep; matrix instructions "
        "of parts of a warp");
    command
        .add_option("-o,--output", arguments_.output,
                    "File for the results, one line of JSON per run; - is standard output")
        ->check(NotEmpty());
    command.add_flag("--json", arguments_.json, "Print the results as JSON instead of the table");
    command.add_flag("--per-launch", arguments_.per_launch, "A table for every launch, too");
    command
        .add_option(
            "--counters", arguments_.counters,
            "A table of what the policies count themselves, with --bins also over time: all, or names of counters")
        ->check(NotEmpty());
    command.add_flag("--per-instruction", arguments_.metrics.per_instruction,
                     "Where cycles, divergence and transactions arise: the hottest instructions, and all in the JSON");
    command.add_flag("--check-order", arguments_.check_order,
                     "Reads that a run lets overtake the thread block whose data they read; traces captured with\n"
                     "--record-writers");
    command
        .add_option("--check-convergence", arguments_.check_convergence,
                    "Which threads of a warp have to execute an instruction together, and what the policies make of\n"
                    "that: by the iterations of cycles (LLVM), or of whole loop constructs (SPIR-V)")
        ->check(CLI::IsMember({"cycle", "construct"}));
    command
        .add_option("--bins", arguments_.metrics.bin_cycles,
                    "Counters over time, in bins of so many cycles (wider ones in long launches)")
        ->check(WholeNumberFromTo(1, uint64_t{1} << 40));
    command
        .add_option("--warp-phases", arguments_.metrics.timeline_blocks,
                    "When the warps of the first so many thread blocks of each launch ran and waited at barriers; JSON")
        ->check(PositiveWholeNumber());
    CLI::Option& draw = *command.add_option("--draw", arguments_.draw.output,
                                            "SVG file with a drawing of one run: who issued, who waited");
    draw.check(NotEmpty());
    command
        .add_option("--draw-cycles", arguments_.draw.cycles,
                    "Cycles of the drawing, FIRST-LAST; 240 from the SM's first issue on")
        ->check(NotEmpty())
        ->needs(&draw);
    command.add_option("--draw-sm", arguments_.draw.sm, "SM of the drawing")
        ->check(WholeNumberFromTo(0, 1'000'000))
        ->capture_default_str()
        ->needs(&draw);
    command
        .add_option("--draw-launch", arguments_.draw.launch,
                    "Launch of the drawing, by number; the first in which the SM issues")
        ->check(WholeNumberFromTo(0, 1'000'000'000))
        ->needs(&draw);
    command
        .add_option("--draw-show", arguments_.draw.show,
                    "Issue slots by lane, warps over time, or both; or how far the threads are, over the whole launch")
        ->check(CLI::IsMember({"lanes", "warps", "both", "progress"}))
        ->capture_default_str()
        ->needs(&draw);
    CLI::Option& timeline =
        *command.add_option("--timeline", arguments_.timeline.output,
                            "File for Perfetto (.pftrace): what warps and ports of one run did, cycle by cycle");
    timeline.check(NotEmpty());
    command.add_option("--timeline-cycles", arguments_.timeline.cycles, "Cycles of it in each launch, FIRST-LAST; all")
        ->check(NotEmpty())
        ->needs(&timeline);
    command.add_option("--sm", arguments_.timeline.sms, "SMs of it, such as 0,4-7; all")
        ->check(NotEmpty())
        ->needs(&timeline);
    command.add_flag("--quiet", arguments_.quiet, "No table, notes or progress");
    AddPolicyLibraryOption(command, arguments_.libraries);
  }

  int Run() override {
    if (const absl::Status loaded = LoadPolicyLibraries(arguments_.libraries); !loaded.ok()) {
      return ReportError(kWrongUsage, loaded);
    }
    if (!arguments_.preset.empty()) {
      const absl::StatusOr<std::string> parts = ApplyPreset(
          arguments_, [this](const std::string& option) { return command_->get_option("--" + option)->count() != 0; });
      if (!parts.ok()) return ReportError(kWrongUsage, parts.status());
      if (!arguments_.quiet) Note(*parts);
    }
    return ReplayTraces(arguments_);
  }

 private:
  const CLI::App* command_ = nullptr;
  ReplayArguments arguments_;
};

HEDDLE_COMMAND(Replay, .name = "replay", .place = 4, .summary = "Replay traces under chosen policies on a machine",
               .footer = absl::StrCat(kReplayFooter, "\n", kSetFooter));

}  // namespace
}  // namespace heddle::tools
