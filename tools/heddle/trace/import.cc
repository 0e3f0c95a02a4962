// `heddle trace import`: from Accel-Sim.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/exchange/accelsim/import_traces.h"
#include "tools/heddle/exchange_text.h"
#include "traces/format/container/replaceable.h"
#include "traces/format/write/writer.h"

namespace heddle::tools {
namespace {

constexpr char kImportFooter[] =
    "\nThe folder holds kernelslist.g and the .traceg or .traceg.xz files that it names, as Accel-Sim's tracer and "
    "its\n"
    "post-traces-processing leave them (versions 3 to 5). Threads are taken apart from the warps' masks; the program "
    "is\n"
    "what was seen to run. docs/how-to/from-accel-sim.md says what such a trace cannot support.";

int Import(const std::string& folder, const std::string& output, int level) {
  if (output == "-") return ReportError(kWrongUsage, "-o -: a trace needs a file, it cannot go to standard output");
  std::vector<std::string> inputs;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    inputs.push_back(it->path().string());
  }
  // A trace of ours may lie among Accel-Sim's, and be made anew.
  std::erase_if(inputs, [](const std::string& path) { return path.ends_with(".htrace"); });
  if (const absl::Status status = CheckNotAnInput("-o", output, inputs, "one of the traces to import"); !status.ok()) {
    return ReportFailure(status);
  }
  if (const absl::Status status = trace::CheckReplaceable(output); !status.ok()) return ReportFailure(status);
  Progress progress("Importing", true);
  const auto summary = accelsim::ImportTraces(folder, output, level,
                                              [&](uint64_t done, uint64_t total) { progress.Update(done, total); });
  progress.Clear();
  if (!summary.ok()) return ReportFailure(summary.status());
  for (const std::string& note : summary->notes) Note(note);
  return Print(absl::StrCat(output, ": ", Count(summary->launches, "launch", "launches"), ", ",
                            WithThousands(summary->thread_instructions), " thread-instructions (",
                            WithThousands(summary->false_guards), " with a false guard) of ",
                            WithThousands(summary->warp_instructions), " warp instructions\n"));
}

class TraceImport final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("--accelsim", folder_, "Folder with kernelslist.g")->required();
    command.add_option("-o,--output", trace_, "The new trace")->required()->check(NotEmpty());
    command.add_option("--level", level_, "Zstandard level, 1 to 22")
        ->check(WholeNumberFromTo(1, 22))
        ->capture_default_str();
  }

  int Run() override { return Import(folder_, trace_, level_); }

 private:
  std::string folder_;
  std::string trace_;
  int level_ = trace::kDefaultLevel;
};

HEDDLE_COMMAND(TraceImport, .name = "trace import", .place = 9, .summary = "Make a trace of Accel-Sim's",
               .footer = kImportFooter);

}  // namespace
}  // namespace heddle::tools
