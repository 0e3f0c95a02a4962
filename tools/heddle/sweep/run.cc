// `heddle sweep run`.
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

class SweepRun final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("DIR", arguments_.folder, "Folder of the sweep")->required();
    command.add_option("--points", arguments_.points, "Only these points, counted from 0: 0-99, 7,12-, ...")
        ->check(NotEmpty());
    command.add_option("--jobs", arguments_.jobs, "Threads; they share decoded traces")
        ->check(WholeNumberFromTo(1, 1024))
        ->capture_default_str();
    command.add_option("--trace-memory", arguments_.trace_memory, kTraceMemoryHelp)
        ->check(WholeNumberFromTo(1, kMostTraceMemory))
        ->capture_default_str();
    command.add_flag("--retry-failed", arguments_.retry_failed, "Also points that failed before");
    command
        .add_option("--plan", arguments_.plan,
                    "Refuse if the sweep was planned anew: first digits of points_digest in plan.json")
        ->check(NotEmpty());
    command.add_flag("--quiet", arguments_.quiet, "No progress on a terminal");
    // The plan keeps where they are and what is in them; code of theirs runs only where they are named again.
    AddPolicyLibraryOption(command, libraries_);
  }

  int Run() override {
    if (const absl::Status loaded = LoadPolicyLibraries(libraries_); !loaded.ok()) {
      return ReportError(kWrongUsage, loaded);
    }
    return RunCommand(arguments_);
  }

 private:
  RunArguments arguments_;
  std::vector<std::string> libraries_;
};

HEDDLE_COMMAND(SweepRun, .name = "sweep run", .place = 2, .summary = "Run the points that have no result");

}  // namespace
}  // namespace heddle::tools::sweep
