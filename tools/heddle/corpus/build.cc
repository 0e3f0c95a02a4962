// `heddle corpus build`.
#include "tools/exchange/corpus/build.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/exchange/corpus/date.h"
#include "tools/heddle/exchange_text.h"

namespace heddle::tools::corpus {
namespace {

// Without `kernels` the corpus is compared with what its own sources give, else it is built from those.
int Build(BuildRequest request) {
  std::error_code error;
  std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) program = "heddle";
  request.capture = {program, "capture"};
  Progress progress("recording", true);
  request.progress = [&progress](uint64_t done, uint64_t total) { progress.Update(done, total); };
  const auto built = request.kernels.empty() ? RebuildCorpus(request.folder, request.capture) : BuildCorpus(request);
  progress.Clear();
  if (!built.ok()) return ReportFailure(built.status());
  std::string text;
  bool good = true;
  for (const BuiltTrace& trace : *built) {
    absl::StrAppend(&text, trace.path, ": ", trace.outcome, "\n");
    good = good && (trace.good || !trace.has_recipe);
  }
  return Print(text, good ? kSuccess : kFailed);
}

class CorpusBuild final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    request_.about.license = "Apache-2.0";
    request_.about.author = "The Heddle developers";
    CLI::Option& kernels =
        *command.add_option("--kernels", request_.kernels,
                            "Folder of kernels, such as traces/kernels: record those that are new or "
                            "changed, into a\ncorpus that is made if it is not there");
    const auto with_kernels = [&](CLI::Option& option) { return option.needs(&kernels); };
    with_kernels(
        *command.add_option("--size", request_.size, "Recipes: tiny, small, large or paper")->capture_default_str());
    with_kernels(*command.add_option("--only", request_.only, "Kernels with a match of this regular expression")
                      ->check(NotEmpty()));
    with_kernels(*command.add_option("--jobs", request_.jobs, "Recordings at once")
                      ->check(WholeNumberFromTo(1, 1024))
                      ->capture_default_str());
    with_kernels(*command.add_flag("--again", request_.again, "Record what is up to date, too"));
    with_kernels(
        *command.add_option("--name", request_.about.name, "Of a new corpus; else SIZE-workloads")->check(NotEmpty()));
    with_kernels(*command.add_option("--license", request_.about.license, "Of a new corpus")->capture_default_str());
    with_kernels(*command.add_option("--author", request_.about.author, "Of a new corpus")->capture_default_str());
    with_kernels(
        *command.add_option("--date", request_.about.date, "Of a new corpus, YYYY-MM-DD; $SOURCE_DATE_EPOCH, or today")
             ->check(CalendarDay()));
    command.add_option("DIR", request_.folder, "Folder of the corpus")->required();
  }

  int Run() override {
    if (request_.about.name.empty()) request_.about.name = request_.size + "-workloads";
    request_.about.description =
        absl::StrCat("The kernels of a workload suite, recorded from their ", request_.size, " recipes");
    // Without --kernels no corpus is made, and none needs a date.
    const absl::Status dated = request_.kernels.empty() ? absl::OkStatus() : AddDate(request_.about);
    return dated.ok() ? Build(request_) : ReportFailure(dated);
  }

 private:
  BuildRequest request_;
};

HEDDLE_COMMAND(
    CorpusBuild, .name = "corpus build", .place = 3,
    .summary = "Record every trace that has a recipe again, and compare the digests; with --kernels, fill the corpus");

}  // namespace
}  // namespace heddle::tools::corpus
