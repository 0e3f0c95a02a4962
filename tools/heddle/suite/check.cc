// `heddle suite check`.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/heddle/exchange_text.h"
#include "tools/study/suite/source_digests.h"
#include "tools/study/suite/suite_file.h"
#include "traces/base/printable.h"

namespace heddle::tools::suite {
namespace {

class SuiteCheck final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("SUITE", suite_, "Name or FILE.textproto")->required();
    command
        .add_option("--source", source_,
                    "Folder with the sources: also compare the digests, and print those that the file should have")
        ->check(NotEmpty());
  }

  int Run() override {
    const auto suite = ParseSuite(suite_);
    if (!suite.ok()) return ReportFailure(suite.status());
    std::vector<std::string> broken = BrokenRules(*suite);
    if (!source_.empty()) {
      const auto differing = DifferingSources(*suite, source_);
      if (!differing.ok()) return ReportFailure(differing.status());
      broken.insert(broken.end(), differing->begin(), differing->end());
    }
    std::string text;
    for (const std::string& line : broken) absl::StrAppend(&text, Printable(line), "\n");
    absl::StrAppend(&text, Printable(suite_), ": ", broken.empty() ? "ok" : "not ok", "\n");
    return Print(text, broken.empty() ? kSuccess : kFailed);
  }

 private:
  std::string suite_;
  std::string source_;
};

HEDDLE_COMMAND(SuiteCheck, .name = "suite check", .place = 2,
               .summary = "Everything that is wrong with a suite file; nothing is run");

}  // namespace
}  // namespace heddle::tools::suite
