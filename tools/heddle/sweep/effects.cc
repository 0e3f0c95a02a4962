// `heddle sweep effects`.
#include <CLI/CLI.hpp>
#include <string>

#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/study/sweep/sweep_commands.h"

namespace heddle::tools::sweep {
namespace {

class SweepEffects final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("DIR", folder_, "Folder of the sweep")->required();
    command.add_option("--metric", options_.metric, "A number of the collected table")->capture_default_str();
    command
        .add_option("--baseline", options_.baseline,
                    "Divergence policy that the others are compared with: effects on its metric / theirs, which with "
                    "cycles is the speed-up")
        ->check(NotEmpty());
    command.add_flag("--json", json_, "Print JSON");
  }

  int Run() override { return EffectsCommand(folder_, options_, json_); }

 private:
  std::string folder_;
  EffectsOptions options_;
  bool json_ = false;
};

HEDDLE_COMMAND(SweepEffects, .name = "sweep effects", .place = 6,
               .summary = "Which parameters matter: the effects of a Plackett-Burman design");

}  // namespace
}  // namespace heddle::tools::sweep
