// `heddle report`.
#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/study/report/report_command.h"

namespace heddle::tools {
namespace {

class Report final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("RESULTS", arguments_.results, "Files of `heddle replay --json`, or folders with such files")
        ->required();
    command
        .add_option("-o,--output", arguments_.output,
                    "The page (one .html file that needs no network), or the figure: .pdf, .svg or .png")
        ->check(NotEmpty());
    command.add_option("--title", arguments_.title, "Title of the page");
    command
        .add_option("--source", arguments_.sources,
                    "Folder with source files of the kernels, whose lines are shown beside the instructions; repeat")
        ->expected(1)
        ->take_all();
    command
        .add_option("--figure", arguments_.figure,
                    absl::StrCat("Draw a figure with matplotlib instead: ", absl::StrJoin(FigureNames(), ", ")))
        ->check(NotEmpty());
    command.add_flag("--json", arguments_.json, "Print what the page shows as JSON instead");
  }

  int Run() override { return ReportCommand(arguments_); }

 private:
  ReportArguments arguments_;
};

HEDDLE_COMMAND(
    Report, .name = "report", .place = 5, .summary = "Results as a page to look at, or as figures for a paper",
    .footer =
        "\nWhat the results have is shown: hot instructions if they were made with --per-instruction, the course over "
        "time\nwith --bins, warps with --warp-phases. Results of several machines, traces and runs may be mixed.");

}  // namespace
}  // namespace heddle::tools
