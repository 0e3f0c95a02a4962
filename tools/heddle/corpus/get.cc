// `heddle corpus get`.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/console/table.h"
#include "tools/exchange/corpus/corpus.h"
#include "tools/exchange/corpus/crate.h"
#include "tools/heddle/exchange_text.h"
#include "traces/base/printable.h"

namespace heddle::tools::corpus {
namespace {

// What `get` has brought: it has been verified.
int ReportFetched(const std::string& folder) {
  const auto crate = ReadCrate(folder);
  if (!crate.ok()) return ReportFailure(crate.status());
  const std::vector<DescribedTrace> traces = crate->Traces();
  uint64_t thread_instructions = 0;
  for (const DescribedTrace& trace : traces) thread_instructions += trace.thread_instructions;
  return Print(absl::StrCat(folder, ": corpus ", Printable(crate->name()), ", ", WithThousands(traces.size()),
                            traces.size() == 1 ? " trace, " : " traces, ", WithThousands(thread_instructions),
                            " thread-instructions, verified; `heddle corpus list ", folder, "` shows them\n"));
}

class CorpusGet final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("SOURCE", source_.source, "Folder, tar, or http(s):// or file:// address of a tar")->required();
    command.add_option("-o,--output", source_.folder, "New folder")->required()->check(NotEmpty());
    command.add_option("--sha256", source_.sha256, "That the archive must have")->check(NotEmpty());
    command.add_option("--most-bytes", source_.most_bytes, "Refuse larger ones, packed or unpacked")
        ->check(PositiveWholeNumber())
        ->capture_default_str();
  }

  int Run() override {
    Progress progress("fetching", true);
    source_.progress = [&progress](uint64_t bytes, uint64_t total) {
      if (total != 0) progress.Update(bytes, total);
    };
    const absl::Status result = GetCorpus(source_);
    progress.Clear();
    return result.ok() ? ReportFetched(source_.folder) : ReportFailure(result);
  }

 private:
  GetRequest source_;
};

HEDDLE_COMMAND(CorpusGet, .name = "corpus get", .place = 7,
               .summary = "Fetch a corpus, verify it, and only then put it in its place");

}  // namespace
}  // namespace heddle::tools::corpus
