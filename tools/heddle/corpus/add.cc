// `heddle corpus add`.
#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/exchange/corpus/corpus.h"
#include "tools/heddle/exchange_text.h"

namespace heddle::tools::corpus {
namespace {

int Add(const std::string& folder, const AddRequest& request) {
  const auto added = AddToCorpus(folder, std::span(&request, 1));
  if (!added.ok()) return ReportFailure(added.status());
  std::string text;
  for (const std::string& path : *added) absl::StrAppend(&text, "data/", path, "\n");
  return Print(text);
}

class CorpusAdd final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("DIR", folder_, "Folder of the corpus")->required();
    command.add_option("FILE", request_.files, "Traces (to data/traces/) and other files");
    command.add_option("--under", request_.under, "Folder in data/ of files that are no traces")->capture_default_str();
    command.add_option("--license", request_.license, "SPDX name or address; else the corpus's")->check(NotEmpty());
    command
        .add_option("--sources", request_.sources, "A folder with what the traces were made from: copied as a whole")
        ->check(NotEmpty());
    command
        .add_option("--recipe", request_.recipe,
                    "The recipe in it, so that `heddle corpus build` can make the trace again")
        ->check(NotEmpty());
  }

  int Run() override { return Add(folder_, request_); }

 private:
  std::string folder_;
  AddRequest request_;
};

HEDDLE_COMMAND(CorpusAdd, .name = "corpus add", .place = 2, .summary = "Copy files into a corpus, and describe them");

}  // namespace
}  // namespace heddle::tools::corpus
