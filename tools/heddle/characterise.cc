// `heddle characterise`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
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
#include "tools/inputs/trace_pairs.h"
#include "tools/show/characterisation.h"
#include "tools/show/comparison.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

// Calls `work(i)` for each number below `count`, `jobs` at a time.
void ForEach(size_t count, uint32_t jobs, Progress& progress, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::atomic<size_t> done = 0;
  const auto loop = [&](bool tells) {
    for (size_t i = next++; i < count; i = next++) {
      work(i);
      ++done;
      if (tells) progress.Update(done, count);
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t job = 1; job < jobs; ++job) threads.emplace_back(loop, false);
  loop(true);
  for (std::thread& thread : threads) thread.join();
  progress.Clear();
}

absl::StatusOr<Characterisation> One(const std::string& path, const CharacterisationOptions& options) {
  HEDDLE_ASSIGN_OR_RETURN(const std::unique_ptr<trace::TraceReader> reader, OpenTrace(path));
  absl::StatusOr<Characterisation> one = Characterise(*reader, options);
  // Errors of the file name it already.
  if (one.ok() || absl::StartsWith(one.status().message(), absl::StrCat(path, ":"))) return one;
  return absl::Status(one.status().code(), absl::StrCat(path, ": ", one.status().message()));
}

absl::StatusOr<std::vector<Characterisation>> All(const std::vector<std::string>& paths,
                                                  const CharacterisationOptions& options, uint32_t jobs,
                                                  Progress& progress) {
  std::vector<absl::StatusOr<Characterisation>> found(paths.size(), absl::UnknownError("not looked at"));
  ForEach(paths.size(), jobs, progress, [&](size_t i) { found[i] = One(paths[i], options); });
  std::vector<Characterisation> all;
  for (absl::StatusOr<Characterisation>& one : found) {
    if (!one.ok()) return one.status();
    all.push_back(*std::move(one));
  }
  return all;
}

bool IsFolder(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_directory(path, none);
}

absl::StatusOr<Comparison> ComparePair(const TracePair& pair, const std::optional<machine::v1::Machine>& machine) {
  HEDDLE_ASSIGN_OR_RETURN(const std::unique_ptr<trace::TraceReader> a, OpenTrace(pair.a));
  HEDDLE_ASSIGN_OR_RETURN(const std::unique_ptr<trace::TraceReader> b, OpenTrace(pair.b));
  HEDDLE_ASSIGN_OR_RETURN(Comparison comparison, CompareRecordings(*a, *b, machine));
  for (ComparedKernel& kernel : comparison.kernels) kernel.trace = pair.name;
  for (MissingPart& part : comparison.missing) part.trace = pair.name;
  return comparison;
}

absl::StatusOr<Comparison> CompareFolders(const std::string& a, const std::string& b,
                                          const std::optional<machine::v1::Machine>& machine, uint32_t jobs) {
  HEDDLE_ASSIGN_OR_RETURN(const TracePairs pairs, PairTraces(a, b));
  std::vector<absl::StatusOr<Comparison>> found(pairs.both.size(), absl::UnknownError("not looked at"));
  Progress progress(
      absl::StrCat("comparing ", found.size(), found.size() == 1 ? " pair of traces" : " pairs of traces"), true);
  ForEach(found.size(), jobs, progress, [&](size_t i) { found[i] = ComparePair(pairs.both[i], machine); });
  Comparison all;
  for (absl::StatusOr<Comparison>& one : found) {
    HEDDLE_RETURN_IF_ERROR(one.status());
    std::ranges::move(one->kernels, std::back_inserter(all.kernels));
    std::ranges::move(one->missing, std::back_inserter(all.missing));
  }
  for (const std::string& name : pairs.only_a) all.missing.push_back({name, "", true});
  for (const std::string& name : pairs.only_b) all.missing.push_back({name, "", false});
  return all;
}

class Characterise final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("TRACE", traces_, "Trace files; with --compare two, or two folders of traces")->required();
    CLI::Option* compare = command.add_flag("--compare", compare_,
                                            "Two recordings of one program side by side, A and B, kernel by kernel");
    command.add_option("--machine", machine_, "Machine for what needs one, replayed with pdom and lrr")
        ->capture_default_str();
    command.add_flag("--no-timing", no_timing_, "Only what needs no machine");
    command.add_flag("--csv", csv_,
                     "Comma-separated values instead of a table: Markdown, or on a terminal what fits it");
    command.add_flag("--json", json_, "All numbers of --compare as JSON, on one line")
        ->needs(compare)
        ->excludes("--csv");
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
    if (compare_ && traces_.size() != 2) {
      return ReportError(kWrongUsage,
                         absl::StrCat("--compare: two traces or two folders are compared, not ", traces_.size()));
    }
    absl::StatusOr<OutputFile> file = OutputFile::Create(output_);
    if (!file.ok()) {
      return ReportError(absl::IsInvalidArgument(file.status()) ? kWrongUsage : kFailed, file.status());
    }
    const absl::StatusOr<std::string> text = compare_ ? Compared(options) : Described(options);
    if (!text.ok()) return ReportError(TraceErrorStatus(text.status()), text.status());
    absl::Status written = file->Write(*text);
    if (written.ok()) written = file->Commit();
    return written.ok() ? kSuccess : ReportError(kFailed, written);
  }

 private:
  std::optional<size_t> Width() const { return output_ == "-" ? TerminalWidth() : std::nullopt; }

  absl::StatusOr<std::string> Described(const CharacterisationOptions& options) const {
    Progress progress(absl::StrCat("characterising ", traces_.size(), traces_.size() == 1 ? " trace" : " traces"),
                      true);
    HEDDLE_ASSIGN_OR_RETURN(const std::vector<Characterisation> all, All(traces_, options, jobs_, progress));
    if (csv_) return CharacterisationCsv(all);
    const std::optional<size_t> width = Width();
    return width.has_value() ? CharacterisationText(all, *width) : CharacterisationMarkdown(all);
  }

  absl::StatusOr<std::string> Compared(const CharacterisationOptions& options) const {
    Comparison comparison;
    if (IsFolder(traces_[0]) && IsFolder(traces_[1])) {
      HEDDLE_ASSIGN_OR_RETURN(comparison, CompareFolders(traces_[0], traces_[1], options.machine, jobs_));
    } else {
      HEDDLE_ASSIGN_OR_RETURN(comparison, ComparePair({"", traces_[0], traces_[1]}, options.machine));
    }
    const ComparedSides sides{traces_[0], traces_[1], options.machine.has_value() ? machine_ : ""};
    return json_  ? ComparisonJson(comparison, sides)
           : csv_ ? ComparisonCsv(comparison)
                  : ComparisonText(comparison, sides, Width());
  }

  std::vector<std::string> traces_;
  std::string machine_ = "baws_gtx480";
  std::string output_ = "-";
  bool no_timing_ = false;
  bool csv_ = false;
  bool compare_ = false;
  bool json_ = false;
  uint32_t jobs_ = 1;
};

HEDDLE_COMMAND(
    Characterise, .name = "characterise", .place = 3,
    .summary = "What recorded programs are like: divergence, memory, barriers",
    .footer =
        "\nSIMD % Wn: active lanes of warps of n threads that reconverge at post-dominators; bound: the most that any\n"
        "regrouping within thread blocks can reach. Classes are those of the papers, docs/reference/workloads.md "
        "explains them.\n--compare: launches are matched by kernel and order. docs/how-to/comparing.md explains the "
        "numbers.");

}  // namespace
}  // namespace heddle::tools
