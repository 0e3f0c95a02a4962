// `heddle sweep collect`.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/console/terminal.h"
#include "tools/inputs/policy_library.h"
#include "tools/study/sweep/sweep_commands.h"

namespace heddle::tools::sweep {
namespace {

constexpr char kCollectFooter[] = R"(
Columns: key, trace, kernels, machine, divergence, scheduler, dispatch, fetch, memory, seed; set.NAME for each parameter; launches;
cycles, warp_instructions, thread_instructions, ipc, lane_activity; then all counters of the replay by their path in
proto/result.proto, summed over the launches. Rows are in the order of the points.)";

class SweepCollect final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("DIR", arguments_.folder, "Folder of the sweep")->required();
    command.add_option("-o,--output", arguments_.output, "CSV file; else standard output")->check(NotEmpty());
    command.add_option("--sqlite", arguments_.sqlite, "Also, or only, an SQLite database with the table `results`")
        ->check(NotEmpty());
    command.add_flag("--per-launch", arguments_.per_launch, "A row for every launch of every point");
    command.add_option("--jobs", arguments_.jobs, "Threads that read")
        ->check(WholeNumberFromTo(1, 1024))
        ->capture_default_str();
    // Wanted only if a library was moved: the plan keeps where they are and what is in them.
    AddPolicyLibraryOption(command, libraries_);
  }

  int Run() override {
    if (const absl::Status loaded = LoadPolicyLibraries(libraries_); !loaded.ok()) {
      return ReportError(kWrongUsage, loaded);
    }
    return CollectCommand(arguments_);
  }

 private:
  CollectArguments arguments_;
  std::vector<std::string> libraries_;
};

HEDDLE_COMMAND(SweepCollect, .name = "sweep collect", .place = 5, .summary = "All results as one table",
               .footer = kCollectFooter);

}  // namespace
}  // namespace heddle::tools::sweep
