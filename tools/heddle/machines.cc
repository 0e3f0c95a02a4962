// `heddle machines`.
#include <CLI/CLI.hpp>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "tools/console/command.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"

namespace heddle::tools {
namespace {

// All machines, or the text of one file.
int ShowMachines(const std::string& name, bool json) {
  std::vector<std::string> names = replay::ListMachines();
  if (!name.empty()) names = {name};
  if (names.empty()) {
    return ReportError(kFailed, absl::StrCat("no machine files in ", replay::MachinesDirectory(),
                                             ": set HEDDLE_MACHINES_DIR to a folder that has them"));
  }
  std::vector<machine::v1::Machine> machines;
  for (const std::string& machine_name : names) {
    auto machine = replay::LoadMachine(machine_name);
    if (!machine.ok()) return ReportError(kWrongUsage, machine.status());
    machines.push_back(*std::move(machine));
  }
  std::string text;
  if (json) {
    for (const machine::v1::Machine& machine : machines) absl::StrAppend(&text, JsonLine(ToJson(machine)), "\n");
  } else if (!name.empty()) {
    // As it is: its comments give the source of every value.
    const bool is_path = name.ends_with(".textproto");
    std::ifstream file(is_path ? name : absl::StrCat(replay::MachinesDirectory(), "/", name, ".textproto"));
    std::ostringstream contents;
    contents << file.rdbuf();
    text = contents.str();
  } else {
    Table table({{"machine", Table::Align::kLeft}, {"description", Table::Align::kLeft}});
    for (size_t i = 0; i < names.size(); ++i) table.AddRow({names[i], machines[i].description()});
    text = absl::StrCat(table.Text(),
                        "\n`heddle machines NAME` prints one with the source of every value; `heddle replay --machine "
                        "FILE.textproto` takes a file of your own.\n");
  }
  const absl::Status written = WriteStandardOutput(text);
  return written.ok() ? kSuccess : ReportError(kFailed, written);
}

class Machines final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("NAME", name_, "Print this machine, with the source of every value");
    command.add_flag("--json", json_, "Print JSON");
  }

  int Run() override { return ShowMachines(name_, json_); }

 private:
  std::string name_;
  bool json_ = false;
};

HEDDLE_COMMAND(Machines, .name = "machines", .place = 11, .summary = "The machines there are");

}  // namespace
}  // namespace heddle::tools
