// `heddle sweep plan`.
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

class SweepPlan final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("SPEC", spec_, "Specification, NAME.textproto (proto/sweep.proto)")->required();
    command.add_option("-o,--output", folder_, "Folder of the sweep; results that are there stay")
        ->required()
        ->check(NotEmpty());
    // The plan keeps where they are and what is in them; code of theirs runs only where they are named again.
    AddPolicyLibraryOption(command, libraries_);
  }

  int Run() override {
    if (const absl::Status loaded = LoadPolicyLibraries(libraries_); !loaded.ok()) {
      return ReportError(kWrongUsage, loaded);
    }
    return PlanCommand(spec_, folder_);
  }

 private:
  std::string spec_;
  std::string folder_;
  std::vector<std::string> libraries_;
};

HEDDLE_COMMAND(SweepPlan, .name = "sweep plan", .place = 1,
               .summary = "Expand a specification into a folder of points");

}  // namespace
}  // namespace heddle::tools::sweep
