// `heddle machines calibrate`: the micro-benchmarks on a machine, beside those of a card.
#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/machine/machine.h"
#include "tools/console/command.h"
#include "tools/console/json.h"
#include "tools/console/option_checks.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/exchange/card/measured.h"
#include "tools/exchange/card/model_benchmarks.h"
#include "tools/inputs/hardware_files.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

using Json = nlohmann::ordered_json;

// A benchmark of the model, and the card's if it has the same one.
struct Calibrated {
  ModelBenchmark model;
  std::optional<Measured> card;

  // [%] that the machine has more than the card; nothing without both.
  std::optional<double> Off() const {
    if (!card.has_value() || !model.why.empty()) return std::nullopt;
    return 100 * (model.value / card->median - 1);
  }
};

std::string ValueText(double value) {
  if (value >= 1e6) return absl::StrFormat("%.2fe9", value / 1e9);
  return absl::StrFormat("%.*f", value >= 1000 ? 0 : 1, value);
}

std::string SettingText(const ModelBenchmark& model) {
  std::string text;
  for (const auto& [key, value] : model.parameter) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", key, " ", value);
  }
  return text;
}

std::string CalibrationTable(const std::vector<Calibrated>& rows, bool has_card) {
  using enum Table::Align;
  std::vector<Table::Column> columns = {{"benchmark", kLeft}, {"of", kLeft}, {"unit", kLeft}, {"machine"}};
  if (has_card) columns.insert(columns.end(), {{"card"}, {"off by"}});
  Table table(columns);
  for (const Calibrated& row : rows) {
    std::vector<std::string> cells = {row.model.name, SettingText(row.model), row.model.unit,
                                      row.model.why.empty() ? ValueText(row.model.value) : "-"};
    if (has_card) {
      const std::optional<double> off = row.Off();
      cells.push_back(row.card.has_value() ? ValueText(row.card->median) : "-");
      cells.push_back(off.has_value() ? absl::StrFormat("%+.1f %%", *off) : "-");
    }
    table.AddRow(std::move(cells));
  }
  return table.Text();
}

Json CalibratedJson(const Calibrated& row) {
  Json json = {{"benchmark", row.model.name}, {"parameter", row.model.parameter}, {"unit", row.model.unit}};
  if (row.model.why.empty()) {
    json["machine"] = row.model.value;
  } else {
    json["why"] = row.model.why;
  }
  if (row.card.has_value()) json["card"] = row.card->median;
  return json;
}

class MachinesCalibrate final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("MACHINE", machine_, "A machine: a name or FILE.textproto")->required()->check(NotEmpty());
    command.add_option("--hardware", hardware_,
                       "What a visit to a card measured: CARD/DATE.json or DATE.json.gz; adds its values");
    command.add_option("--set", assignments_, "Override a field of the machine, as in core.schedulers=2");
    command.add_option("--only", only_, "Run these benchmarks: names, separated by commas")->delimiter(',');
    command.add_flag("--json", json_, "Print JSON, an object per line");
  }

  int Run() override {
    const absl::StatusOr<machine::v1::Machine> machine = Machine();
    if (!machine.ok()) return ReportError(kWrongUsage, machine.status());
    std::optional<HardwareVisit> visit;
    if (!hardware_.empty()) {
      absl::StatusOr<HardwareVisit> read = ReadVisit(hardware_);
      if (!read.ok()) return ReportError(kWrongUsage, absl::StrCat("--hardware: ", read.status().message()));
      visit = *std::move(read);
    }
    absl::StatusOr<std::vector<ModelBenchmark>> benchmarks = RunModelBenchmarks(*machine, only_);
    if (!benchmarks.ok()) return ReportError(kWrongUsage, absl::StrCat("--only: ", benchmarks.status().message()));
    std::vector<Calibrated> rows;
    for (ModelBenchmark& model : *benchmarks) {
      std::optional<Measured> card;
      if (visit.has_value()) card = FindMeasured(visit->visit, model.name, model.parameter);
      rows.push_back({std::move(model), std::move(card)});
    }
    const absl::Status written = WriteStandardOutput(PrintableText(json_ ? JsonText(rows) : Text(rows, visit)));
    return written.ok() ? kSuccess : ReportError(kFailed, written);
  }

 private:
  absl::StatusOr<machine::v1::Machine> Machine() const {
    HEDDLE_ASSIGN_OR_RETURN(machine::v1::Machine machine, replay::LoadMachine(machine_));
    for (const std::string& assignment : assignments_) HEDDLE_RETURN_IF_ERROR(replay::Override(machine, assignment));
    HEDDLE_RETURN_IF_ERROR(replay::CheckMachine(machine));
    return machine;
  }

  static std::string JsonText(const std::vector<Calibrated>& rows) {
    std::string text;
    for (const Calibrated& row : rows) absl::StrAppend(&text, JsonLine(CalibratedJson(row)), "\n");
    return text;
  }

  // The table, what the card is, and why values are missing.
  std::string Text(const std::vector<Calibrated>& rows, const std::optional<HardwareVisit>& visit) const {
    std::string text = CalibrationTable(rows, visit.has_value());
    if (visit.has_value()) {
      absl::StrAppend(&text, "\nThe card: ", visit->visit.card().name(), ", ", visit->visit.conditions().date(), "\n");
      const std::string& made_up = visit->visit.made_up();
      if (!made_up.empty()) absl::StrAppend(&text, "THE NUMBERS OF THE CARD ARE MADE UP: ", made_up, "\n");
    }
    std::string before;
    for (const Calibrated& row : rows) {
      if (row.model.why.empty() || row.model.why == before) continue;
      before = row.model.why;
      absl::StrAppend(&text, "No ", row.model.name, ": ", row.model.why, "\n");
    }
    return text;
  }

  std::string machine_;
  std::string hardware_;
  std::vector<std::string> assignments_;
  std::vector<std::string> only_;
  bool json_ = false;
};

HEDDLE_COMMAND(
    MachinesCalibrate, .name = "machines calibrate", .place = 3,
    .summary = "Run the micro-benchmarks of cards on a machine",
    .footer =
        "\nLatencies, rates and bandwidths are what replays of small kernels take, and not what fields say: a "
        "bandwidth "
        "is bounded\nby the narrowest of clocks, queues, banks and networks. docs/how-to/correlating.md shows it.");

}  // namespace
}  // namespace heddle::tools
