// `heddle suite run`.
#include <CLI/CLI.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/console/json.h"
#include "tools/console/option_checks.h"
#include "tools/exchange/corpus/date.h"
#include "tools/heddle/exchange_text.h"
#include "tools/study/suite/suite_file.h"
#include "tools/study/suite/suite_run.h"
#include "tools/study/suite/suite_text.h"

namespace heddle::tools::suite {
namespace {

class SuiteRun final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    request_.about.author = "The Heddle developers";
    command.add_option("SUITE", suite_, "Name (`heddle suite list`) or FILE.textproto")->required();
    command.add_option("--source", request_.source, "Folder with the suite's sources; it is only read")
        ->required()
        ->check(NotEmpty());
    command
        .add_option("-o,--output", request_.output,
                    "Folder of traces, results, logs and the corpus; to go on after an interruption, run again")
        ->required()
        ->check(NotEmpty());
    command.add_option("--size", request_.size, "Inputs: tiny, default, or a paper's")
        ->check(NotEmpty())
        ->capture_default_str();
    command.add_option("--only", request_.only, "Programs with a match of this regular expression")->check(NotEmpty());
    command.add_option("--jobs", request_.jobs, "Programs at once")
        ->check(WholeNumberFromTo(1, 1024))
        ->capture_default_str();
    command.add_flag("--again", request_.again, "Run what is up to date, too");
    command.add_option("--author", request_.about.author, "Of the corpus")->capture_default_str();
    command.add_option("--date", request_.about.date, "Of the corpus, YYYY-MM-DD; $SOURCE_DATE_EPOCH, or today")
        ->check(CalendarDay());
    command.add_flag("--json", json_, "Print JSON");
  }

  int Run() override {
    auto suite = ReadSuite(suite_);
    if (!suite.ok()) return ReportFailure(suite.status());
    request_.suite = *std::move(suite);
    if (const absl::Status dated = corpus::AddDate(request_.about); !dated.ok()) return ReportFailure(dated);
    request_.heddle = HEDDLE_VERSION;
    const NoteInterrupts interrupts;
    request_.stop = [&interrupts] { return interrupts.status() != 0; };
    Progress progress("programs", true);
    request_.progress = [&progress](uint64_t done, uint64_t total) { progress.Update(done, total); };
    const auto result = RunSuite(request_);
    progress.Clear();
    if (!result.ok()) return ReportFailure(result.status());
    const bool good = result->wrong() + result->failed() == 0;
    const int printed = Print(json_ ? JsonLine(ToJson(*result)) + "\n" : ResultText(*result, request_.output));
    if (interrupts.status() != 0) {
      Note("interrupted: the same command goes on with the programs that are missing");
      return interrupts.status();
    }
    return printed != kSuccess ? printed : good ? kSuccess : kFailed;
  }

 private:
  std::string suite_;
  SuiteRequest request_;
  bool json_ = false;
};

HEDDLE_COMMAND(SuiteRun, .name = "suite run", .place = 3,
               .summary = "Build, run, check and record programs; ends with a table and a corpus of what was right");

}  // namespace
}  // namespace heddle::tools::suite
