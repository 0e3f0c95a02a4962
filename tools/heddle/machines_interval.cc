// `heddle machines interval`: what the errors of a measured machine say of results on it.
#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "tools/console/command.h"
#include "tools/console/output.h"
#include "tools/console/terminal.h"
#include "tools/study/correlate/hardware_interval.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

using correlate::FactorInterval;
using correlate::HardwareIntervals;

absl::StatusOr<HardwareIntervals> Intervals(const std::string& name) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Machine machine, replay::LoadMachine(name));
  return correlate::IntervalsFor(name, machine);
}

std::string Line(const std::string& what, const std::optional<FactorInterval>& interval, const char* programs) {
  return absl::StrCat("  ", what, ": ",
                      interval.has_value() ? correlate::FactorText(*interval, programs) : "too few programs", "\n");
}

std::string Head(const HardwareIntervals& intervals) {
  const hardware::v1::Errors& errors = intervals.errors();
  return absl::StrCat(errors.made_up().empty() ? "" : absl::StrCat("THE NUMBERS ARE MADE UP: ", errors.made_up(), "\n"),
                      errors.card(), ", visit of ", errors.date(), ", ", errors.program_size(), " kernels, ",
                      errors.divergence(), " with ", errors.scheduler(), "\n");
}

class MachinesInterval final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("MACHINE", machines_, "A machine that was measured; or two, for ratios between them")
        ->required()
        ->expected(1, 2);
  }

  int Run() override {
    std::vector<HardwareIntervals> all;
    std::string text;
    for (const std::string& name : machines_) {
      absl::StatusOr<HardwareIntervals> intervals = Intervals(name);
      if (!intervals.ok()) return ReportError(kWrongUsage, intervals.status());
      absl::StrAppend(&text, name, ": ", Head(*intervals),
                      Line("cycles on the card by ours", intervals->AnyCycles(), "programs"),
                      Line("ratio of two policies on the card by ours", intervals->AnyRatio(), "pairs of programs"));
      all.push_back(*std::move(intervals));
    }
    if (all.size() == 2) {
      absl::StrAppend(&text, machines_[0], " by ", machines_[1], ":\n",
                      Line("ratio of cycles on the cards by ours", all[0].RatioTo(all[1]), "programs"));
    }
    const absl::Status written = WriteStandardOutput(text);
    return written.ok() ? kSuccess : ReportError(kFailed, written);
  }

 private:
  std::vector<std::string> machines_;
};

HEDDLE_COMMAND(
    MachinesInterval, .name = "machines interval", .place = 4,
    .summary = "How near results on a measured machine are to its card",
    .footer =
        "\nFactors are what a number of ours has to be multiplied by to be the card's, with 90 % confidence. "
        "Only a machine that\n`heddle correlate --keep-errors` has measured has them.");

}  // namespace
}  // namespace heddle::tools
