// `heddle corpus pack`.
#include <CLI/CLI.hpp>
#include <string>

#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/exchange/corpus/corpus.h"
#include "tools/heddle/exchange_text.h"

namespace heddle::tools::corpus {
namespace {

class CorpusPack final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("DIR", folder_, "Folder of the corpus")->required();
    command.add_option("-o,--output", output_, "Folder for the three files")->required()->check(NotEmpty());
  }

  int Run() override {
    const auto tar = PackCorpus(folder_, output_);
    return tar.ok() ? Print(*tar + "\n") : ReportFailure(tar.status());
  }

 private:
  std::string folder_;
  std::string output_;
};

HEDDLE_COMMAND(CorpusPack, .name = "corpus pack", .place = 6,
               .summary = "One tar, the same for the same files, beside its metadata and checksum");

}  // namespace
}  // namespace heddle::tools::corpus
