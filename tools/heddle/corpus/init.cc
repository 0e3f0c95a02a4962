// `heddle corpus init`.
#include <CLI/CLI.hpp>
#include <string>

#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/exchange/corpus/corpus.h"
#include "tools/exchange/corpus/date.h"
#include "tools/heddle/exchange_text.h"

namespace heddle::tools::corpus {
namespace {

class CorpusInit final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("DIR", folder_, "Its folder")->required();
    command.add_option("--name", about_.name, "Names its archive too")->required();
    command.add_option("--description", about_.description, "One sentence")->required();
    command.add_option("--license", about_.license, "SPDX name or address; of files that have no other")->required();
    command.add_option("--author", about_.author, "Who publishes it")->required();
    command.add_option("--date", about_.date, "Of publication, YYYY-MM-DD; today")->check(CalendarDay());
  }

  int Run() override {
    absl::Status status = AddDate(about_);
    if (status.ok()) status = InitCorpus(folder_, about_);
    return status.ok() ? kSuccess : ReportFailure(status);
  }

 private:
  std::string folder_;
  Crate::About about_;
};

HEDDLE_COMMAND(CorpusInit, .name = "corpus init", .place = 1, .summary = "A new, empty corpus");

}  // namespace
}  // namespace heddle::tools::corpus
