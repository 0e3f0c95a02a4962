#include "tools/heddle/characterise_options.h"

#include <CLI/CLI.hpp>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "tools/console/option_checks.h"
#include "tools/console/output.h"
#include "tools/console/terminal.h"
#include "tools/inputs/trace_file.h"
#include "tools/show/characterisation.h"

namespace heddle::tools {

struct CharacteriseOptions::Arguments {
  CLI::App* command = nullptr;
  std::vector<std::string> traces;
  std::string machine = "baws_gtx480";
  std::string output = "-";
  bool no_timing = false;
  bool csv = false;
  uint32_t jobs = 1;
};

CharacteriseOptions::CharacteriseOptions(CLI::App& app) : arguments_(std::make_unique<Arguments>()) {
  Arguments& a = *arguments_;
  a.command = app.add_subcommand("characterise", "What recorded programs are like: divergence, memory, barriers");
  a.command->add_option("TRACE", a.traces, "Trace files")->required();
  a.command->add_option("--machine", a.machine, "Machine for what needs one, replayed with pdom and lrr")
      ->capture_default_str();
  a.command->add_flag("--no-timing", a.no_timing, "Only what needs no machine");
  a.command->add_flag("--csv", a.csv,
                      "Comma-separated values instead of a table: Markdown, or on a terminal what fits it");
  a.command->add_option("-o,--output", a.output, "File for the table; - is standard output")->capture_default_str();
  a.command->add_option("--jobs", a.jobs, "Traces that are looked at side by side")
      ->check(WholeNumberFromTo(1, 1024))
      ->capture_default_str();
  a.command->footer(
      "\nSIMD % Wn: active lanes of warps of n threads that reconverge at post-dominators; bound: the most that any\n"
      "regrouping within thread blocks can reach. Classes are those of the papers, docs/reference/workloads.md "
      "explains them.");
}

CharacteriseOptions::~CharacteriseOptions() = default;

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

}  // namespace

bool CharacteriseOptions::Run(int& status) const {
  const Arguments& a = *arguments_;
  if (!a.command->parsed()) return false;
  CharacterisationOptions options;
  if (!a.no_timing) {
    absl::StatusOr<machine::v1::Machine> machine = replay::LoadMachine(a.machine);
    if (!machine.ok()) {
      status = ReportError(kWrongUsage, absl::StrCat("--machine: ", machine.status().message()));
      return true;
    }
    options.machine = *std::move(machine);
  }
  absl::Status same = CheckNotAnInput("-o", a.output, a.traces, "the trace itself");
  if (a.machine.ends_with(".textproto")) {
    same.Update(CheckNotAnInput("-o", a.output, {a.machine}, "the machine's file"));
  }
  if (!same.ok()) {
    status = ReportError(kWrongUsage, same);
    return true;
  }
  absl::StatusOr<OutputFile> file = OutputFile::Create(a.output);
  if (!file.ok()) {
    status = ReportError(absl::IsInvalidArgument(file.status()) ? kWrongUsage : kFailed, file.status());
    return true;
  }
  Progress progress(absl::StrCat("characterising ", a.traces.size(), a.traces.size() == 1 ? " trace" : " traces"),
                    true);
  const absl::StatusOr<std::vector<Characterisation>> all = All(a.traces, options, a.jobs, progress);
  if (!all.ok()) {
    status = ReportError(TraceErrorStatus(all.status()), all.status());
    return true;
  }
  const std::optional<size_t> width = a.output == "-" ? TerminalWidth() : std::nullopt;
  absl::Status written = file->Write(a.csv               ? CharacterisationCsv(*all)
                                     : width.has_value() ? CharacterisationText(*all, *width)
                                                         : CharacterisationMarkdown(*all));
  if (written.ok()) written = file->Commit();
  status = written.ok() ? kSuccess : ReportError(kFailed, written);
  return true;
}

}  // namespace heddle::tools
