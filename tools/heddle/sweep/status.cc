// `heddle sweep status`.
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

class SweepStatus final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("DIR", folder_, "Folder of the sweep")->required();
    command.add_flag("--json", json_, "Print JSON");
    // Wanted only if a library was moved: the plan keeps where they are and what is in them.
    AddPolicyLibraryOption(command, libraries_);
  }

  int Run() override {
    if (const absl::Status loaded = LoadPolicyLibraries(libraries_); !loaded.ok()) {
      return ReportError(kWrongUsage, loaded);
    }
    return StatusCommand(folder_, json_);
  }

 private:
  std::string folder_;
  bool json_ = false;
  std::vector<std::string> libraries_;
};

HEDDLE_COMMAND(SweepStatus, .name = "sweep status", .place = 4,
               .summary = "How many points are done, running, waiting, failed and why");

}  // namespace
}  // namespace heddle::tools::sweep
