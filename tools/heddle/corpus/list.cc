// `heddle corpus list`.
#include <CLI/CLI.hpp>
#include <string>

#include "tools/console/command.h"
#include "tools/console/table.h"
#include "tools/exchange/corpus/corpus.h"
#include "tools/heddle/exchange_text.h"

namespace heddle::tools::corpus {
namespace {

int List(const std::string& folder) {
  const auto crate = ReadCrate(folder);
  if (!crate.ok()) return ReportFailure(crate.status());
  Table table({{"trace", Table::Align::kLeft},
               {"launches"},
               {"threads"},
               {"thread-instructions"},
               {"digest", Table::Align::kLeft},
               {"licence", Table::Align::kLeft},
               {"recipe", Table::Align::kLeft}});
  for (const DescribedTrace& trace : crate->Traces()) {
    table.AddRow({trace.path, WithThousands(trace.launches), WithThousands(trace.threads),
                  WithThousands(trace.thread_instructions), trace.digest.substr(0, 12),
                  trace.license.substr(trace.license.rfind('/') + 1), trace.recipe.empty() ? "-" : trace.recipe});
  }
  return Print(table.Text());
}

class CorpusList final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("DIR", folder_, "Folder of the corpus")->required();
  }

  int Run() override { return List(folder_); }

 private:
  std::string folder_;
};

HEDDLE_COMMAND(CorpusList, .name = "corpus list", .place = 5, .summary = "The traces of a corpus");

}  // namespace
}  // namespace heddle::tools::corpus
