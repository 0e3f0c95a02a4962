// `heddle suite list`.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/console/json.h"
#include "tools/console/table.h"
#include "tools/heddle/exchange_text.h"
#include "tools/study/suite/suite_file.h"
#include "tools/study/suite/suite_text.h"
#include "traces/base/printable.h"

namespace heddle::tools::suite {
namespace {

// One line for each suite of the folder; those that are not in order are told.
int ListAll() {
  Table table({{"suite", Table::Align::kLeft}, {"programs"}, {"title", Table::Align::kLeft}});
  for (const std::string& path : SuitesIn(SuitesFolder())) {
    const auto suite = ReadSuite(path);
    if (suite.ok()) {
      table.AddRow({suite->name(), WithThousands(static_cast<uint64_t>(suite->program_size())), suite->title()});
    } else {
      Note(std::string(suite.status().message()));
    }
  }
  return Print(absl::StrCat(table.Text(), "\nfolder: ", Printable(SuitesFolder()), "\n"));
}

class SuiteList final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("SUITE", suite_, "Name or FILE.textproto: list its programs; else all suites");
    command.add_flag("--generators", generators_, "List the inputs that Heddle can make, and their parameters");
    command.add_flag("--json", json_, "Print the suite as JSON");
  }

  int Run() override {
    if (generators_) return Print(GeneratorsText());
    if (suite_.empty()) return ListAll();
    const auto suite = ReadSuite(suite_);
    if (!suite.ok()) return ReportFailure(suite.status());
    return Print(json_ ? JsonLine(ToJson(*suite)) + "\n" : ProgramsText(*suite));
  }

 private:
  std::string suite_;
  bool generators_ = false;
  bool json_ = false;
};

HEDDLE_COMMAND(SuiteList, .name = "suite list", .place = 1,
               .summary = "Suites that come with Heddle, or the programs of one");

}  // namespace
}  // namespace heddle::tools::suite
