// `heddle correlate`.
#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/inputs/trace_memory.h"
#include "tools/study/correlate/card_data.h"
#include "tools/study/correlate/correlate_command.h"

namespace heddle::tools {
namespace {

class Correlate final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("TRACE", arguments_.traces, "Trace files of kernels that the card has run")->required();
    command
        .add_option(
            "--hardware", arguments_.hardware,
            "What a visit to the card measured: CARD/DATE.json or DATE.json.gz, or a folder with visits to one card")
        ->required()
        ->check(NotEmpty());
    command.add_option("--machine", arguments_.machine, "Machine name (`heddle machines`) or FILE.textproto")
        ->capture_default_str();
    command
        .add_option("--set", arguments_.overrides,
                    "Field of the machine as PATH=VALUE, such as core.schedulers=1; repeat")
        ->expected(1)
        ->take_all();
    command
        .add_option("--divergence", arguments_.divergence,
                    "How warps diverge; else pdom, and its:reconvergence=compiler for machine code")
        ->check(NotEmpty());
    command.add_option("--scheduler", arguments_.scheduler, "Which warp issues")->capture_default_str();
    command
        .add_option("--code", arguments_.code,
                    absl::StrCat("Whose machine code ran on the card: ", absl::StrJoin(correlate::CodeNames(), ", "),
                                 "; ptx for traces of PTX, cuda for traces of machine code"))
        ->check(NotEmpty());
    command
        .add_option("-o,--output", arguments_.output,
                    "The page: one .html file with scatter plots, which needs no network")
        ->check(NotEmpty());
    command.add_option("--json", arguments_.json, "File for all numbers as JSON; - is standard output")
        ->check(NotEmpty());
    command.add_flag("--keep-errors", arguments_.keep_errors,
                     "Keep the errors beside the machine, so that `heddle replay` tells intervals");
    command
        .add_option("--jobs", arguments_.jobs, "Threads that run traces and launches; the results do not depend on it")
        ->check(WholeNumberFromTo(1, 1024))
        ->capture_default_str();
    command.add_option("--trace-memory", arguments_.trace_memory, kTraceMemoryHelp)
        ->check(WholeNumberFromTo(1, kMostTraceMemory))
        ->capture_default_str();
  }

  int Run() override { return correlate::CorrelateCommand(arguments_); }

 private:
  correlate::CorrelateArguments arguments_;
};

HEDDLE_COMMAND(
    Correlate, .name = "correlate", .place = 9, .summary = "Replays beside what a graphics card measured, rung by rung",
    .footer =
        "\nEvery kernel is replayed and compared on each rung: outputs, instructions, divergence, residency, "
        "coalescing, shared\nmemory, caches, time. docs/how-to/correlating.md shows how, "
        "docs/explanation/hardware.md says what follows.");

}  // namespace
}  // namespace heddle::tools
