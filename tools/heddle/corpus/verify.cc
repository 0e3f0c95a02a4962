// `heddle corpus verify`.
#include <CLI/CLI.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/exchange/corpus/corpus.h"
#include "tools/heddle/exchange_text.h"

namespace heddle::tools::corpus {
namespace {

int Verify(const std::string& folder) {
  const auto problems = VerifyCorpus(folder);
  if (!problems.ok()) return ReportFailure(problems.status());
  if (problems->empty()) return Print(absl::StrCat(folder, ": ok\n"));
  std::string text;
  for (const std::string& problem : *problems) absl::StrAppend(&text, problem, "\n");
  absl::StrAppend(&text, folder, ": not ok, ", problems->size(), problems->size() == 1 ? " problem\n" : " problems\n");
  return Print(text, kFailed);
}

class CorpusVerify final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("DIR", folder_, "Folder of the corpus")->required();
  }

  int Run() override { return Verify(folder_); }

 private:
  std::string folder_;
};

HEDDLE_COMMAND(CorpusVerify, .name = "corpus verify", .place = 4,
               .summary = "Checksums, licences, descriptions, and every trace as `trace check` does");

}  // namespace
}  // namespace heddle::tools::corpus
