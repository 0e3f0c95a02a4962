// `heddle characterise`.
#include <CLI/CLI.hpp>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/console/output.h"
#include "tools/console/terminal.h"
#include "tools/inputs/trace_file.h"
#include "tools/show/characterisation.h"

namespace heddle::tools {
namespace {

absl::StatusOr<std::vector<Characterisation>> All(const std::vector<std::string>& paths,
                                                  const CharacterisationOptions& options, uint32_t jobs,
                                                  Progress& progress) {
  std::vector<absl::StatusOr<Characterisation>> found(paths.size(), absl::UnknownError("not looked at"));
  std::atomic<size_t> next = 0;
  std::atomic<size_t> done = 0;
  const auto work = [&](bool tells) {
    for (size_t i = next++; i < paths.size(); i = next++) {
      const auto reader = OpenTrace(paths[i]);
      if (reader.ok()) {
        found[i] = Characterise(**reader, options);
        if (!found[i].ok()) {
          const absl::string_view what = found[i].status().message();
          // Errors of the file name it already.
          if (!absl::StartsWith(what, absl::StrCat(paths[i], ":"))) {
            found[i] = absl::Status(found[i].status().code(), absl::StrCat(paths[i], ": ", what));
          }
        }
      } else {
        found[i] = reader.status();
      }
      ++done;
      if (tells) progress.Update(done, paths.size());
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t job = 1; job < jobs; ++job) threads.emplace_back(work, false);
  work(true);
  for (std::thread& thread : threads) thread.join();
  progress.Clear();
  std::vector<Characterisation> all;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (!found[i].ok()) return found[i].status();
    all.push_back(*std::move(found[i]));
  }
  return all;
}

class Characterise final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("TRACE", traces_, "Trace files")->required();
    command.add_option("--machine", machine_, "Machine for what needs one, replayed with pdom and lrr")
        ->capture_default_str();
    command.add_flag("--no-timing", no_timing_, "Only what needs no machine");
    command.add_flag("--csv", csv_,
                     "Comma-separated values instead of a table: Markdown, or on a terminal what fits it");
    command.add_option("-o,--output", output_, "File for the table; - is standard output")->capture_default_str();
    command.add_option("--jobs", jobs_, "Traces that are looked at side by side")
        ->check(WholeNumberFromTo(1, 1024))
        ->capture_default_str();
  }

  int Run() override {
    CharacterisationOptions options;
    if (!no_timing_) {
      absl::StatusOr<machine::v1::Machine> machine = replay::LoadMachine(machine_);
      if (!machine.ok()) {
        return ReportError(kWrongUsage, absl::StrCat("--machine: ", machine.status().message()));
      }
      options.machine = *std::move(machine);
    }
    absl::Status same = CheckNotAnInput("-o", output_, traces_, "the trace itself");
    if (machine_.ends_with(".textproto")) {
      same.Update(CheckNotAnInput("-o", output_, {machine_}, "the machine's file"));
    }
    if (!same.ok()) {
      return ReportError(kWrongUsage, same);
    }
    absl::StatusOr<OutputFile> file = OutputFile::Create(output_);
    if (!file.ok()) {
      return ReportError(absl::IsInvalidArgument(file.status()) ? kWrongUsage : kFailed, file.status());
    }
    Progress progress(absl::StrCat("characterising ", traces_.size(), traces_.size() == 1 ? " trace" : " traces"),
                      true);
    const absl::StatusOr<std::vector<Characterisation>> all = All(traces_, options, jobs_, progress);
    if (!all.ok()) {
      return ReportError(TraceErrorStatus(all.status()), all.status());
    }
    const std::optional<size_t> width = output_ == "-" ? TerminalWidth() : std::nullopt;
    absl::Status written = file->Write(csv_                ? CharacterisationCsv(*all)
                                       : width.has_value() ? CharacterisationText(*all, *width)
                                                           : CharacterisationMarkdown(*all));
    if (written.ok()) written = file->Commit();
    return written.ok() ? kSuccess : ReportError(kFailed, written);
  }

 private:
  std::vector<std::string> traces_;
  std::string machine_ = "baws_gtx480";
  std::string output_ = "-";
  bool no_timing_ = false;
  bool csv_ = false;
  uint32_t jobs_ = 1;
};

HEDDLE_COMMAND(
    Characterise, .name = "characterise", .place = 3,
    .summary = "What recorded programs are like: divergence, memory, barriers",
    .footer =
        "\nSIMD % Wn: active lanes of warps of n threads that reconverge at post-dominators; bound: the most that any\n"
        "regrouping within thread blocks can reach. Classes are those of the papers, docs/reference/workloads.md "
        "explains them.");

}  // namespace
}  // namespace heddle::tools
