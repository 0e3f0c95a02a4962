#include "tools/study/report/report_options.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/option_checks.h"

namespace heddle::tools {

ReportOptions::ReportOptions(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("report", "Results as a page to look at, or as figures for a paper");
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
  command.footer(
      "\nWhat the results have is shown: hot instructions if they were made with --per-instruction, the course over "
      "time\nwith --bins, warps with --warp-phases. Results of several machines, traces and runs may be mixed.");
  command_ = &command;
}

bool ReportOptions::Run(int& status) const {
  if (!command_->parsed()) return false;
  status = ReportCommand(arguments_);
  return true;
}

}  // namespace heddle::tools
