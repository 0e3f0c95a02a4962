// `heddle machines fit`: a machine from the micro-benchmarks of a card.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/console/output.h"
#include "tools/console/terminal.h"
#include "tools/exchange/card/fit.h"
#include "tools/inputs/hardware_files.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

struct FitArguments {
  std::string hardware;  // --hardware: one visit
  std::string base = "volta_v100";
  std::string output;  // -o: NAME.textproto
};

// Writes the machine, and beside it what is known of its fit.
absl::Status WriteFit(const FitArguments& arguments, const FittedMachine& fitted) {
  HEDDLE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(arguments.output));
  HEDDLE_RETURN_IF_ERROR(file.Write(PrintableText(FitText(fitted))));  // it quotes the visit
  HEDDLE_RETURN_IF_ERROR(file.Commit());
  // As it will be read: sources are comments, and 0 may stand for a value that is not there.
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Machine machine, replay::LoadMachine(arguments.output));
  hardware::v1::MachineRecord record;
  record.set_schema(1);
  record.set_machine(machine.name());
  record.set_machine_digest(MachineDigest(machine));
  *record.mutable_fit() = fitted.fit;
  return WriteMachineRecord(MachineRecordFile(arguments.output), record);
}

int Fit(const FitArguments& arguments) {
  if (!arguments.output.ends_with(".textproto")) {
    return ReportError(kWrongUsage, "-o: needs a file that ends in .textproto, such as mine.textproto");
  }
  const absl::StatusOr<machine::v1::Machine> base = replay::LoadMachine(arguments.base);
  if (!base.ok()) return ReportError(kWrongUsage, absl::StrCat("--base: ", base.status().message()));
  const absl::StatusOr<HardwareVisit> visit = ReadVisit(arguments.hardware);
  if (!visit.ok()) return ReportError(kWrongUsage, absl::StrCat("--hardware: ", visit.status().message()));
  absl::Status status =
      CheckNotAnInput("-o", arguments.output, {arguments.hardware, arguments.base}, "one of the inputs");
  if (!status.ok()) return ReportError(kWrongUsage, status);
  const std::string name = std::filesystem::path(arguments.output).stem().string();
  const absl::StatusOr<FittedMachine> fitted = FitMachine(*base, name, *visit);
  if (!fitted.ok()) {
    return ReportError(kFailed, absl::Status(fitted.status().code(),
                                             absl::StrCat(arguments.hardware, ": ", fitted.status().message())));
  }
  status = WriteFit(arguments, *fitted);
  if (!status.ok()) return ReportError(absl::IsInvalidArgument(status) ? kWrongUsage : kFailed, status);
  for (const std::string& note : fitted->notes) Note(note);
  return kSuccess;
}

class MachinesFit final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command
        .add_option("--hardware", arguments_.hardware,
                    "What a visit to the card measured: CARD/DATE.json or DATE.json.gz")
        ->required()
        ->check(NotEmpty());
    command.add_option("--base", arguments_.base, "Machine that all other values are from: a name or FILE.textproto")
        ->capture_default_str();
    command
        .add_option("-o,--output", arguments_.output,
                    "File for the machine, NAME.textproto; NAME.hardware.json beside it says what it was fitted to")
        ->required()
        ->check(NotEmpty());
  }

  int Run() override { return Fit(arguments_); }

 private:
  FitArguments arguments_;
};

HEDDLE_COMMAND(
    MachinesFit, .name = "machines fit", .place = 2, .summary = "Make a machine file of the micro-benchmarks of a card",
    .footer =
        "\nLatencies: the model runs the same chains of dependent instructions, and its fields are changed "
        "until both take the\nsame time. No kernel is used: `heddle correlate` judges the machine by kernels. "
        "docs/how-to/correlating.md shows it.");

}  // namespace
}  // namespace heddle::tools
