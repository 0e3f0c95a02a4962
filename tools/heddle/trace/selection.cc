#include "tools/heddle/trace/selection.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/option_checks.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_pattern.h"

namespace heddle::tools {
namespace {

absl::Status ReadRanges(const std::string& text, absl::string_view option, NumberRanges& out) {
  if (text.empty()) return absl::OkStatus();
  HEDDLE_ASSIGN_OR_RETURN(NumberRanges ranges, NumberRanges::Parse(text, option));
  out = std::move(ranges);
  return absl::OkStatus();
}

absl::Status SelectKernels(const std::string& expression, const trace::TraceReader& reader,
                           std::vector<bool>& launches) {
  if (expression.empty()) return absl::OkStatus();
  std::set<std::string> names;
  const absl::StatusOr<trace::KernelPattern> pattern = trace::KernelPattern::Parse(expression);
  if (!pattern.ok()) return absl::InvalidArgumentError(absl::StrCat("--kernels ", pattern.status().message()));
  for (const trace::LaunchView& launch : reader.launches()) {
    names.insert(launch.program->name());
    if (!pattern->Matches(launch.program->name())) launches[launch.launch.id()] = false;
  }
  if (std::find(launches.begin(), launches.end(), true) != launches.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--kernels \"", expression, "\": none of the selected launches runs ",
                                                 "such a kernel; the trace has ", absl::StrJoin(names, ", ")));
}

}  // namespace

absl::StatusOr<SelectedParts> ReadSelection(const TraceSelection& selection, const trace::TraceReader& reader) {
  SelectedParts out;
  NumberRanges launches;
  for (const absl::Status& status :
       {ReadRanges(selection.launches, "--launches", launches), ReadRanges(selection.blocks, "--blocks", out.blocks),
        ReadRanges(selection.threads, "--threads", out.threads),
        ReadRanges(selection.instructions, "--instructions", out.instructions)}) {
    if (!status.ok()) return status;
  }
  const size_t count = reader.launches().size();
  if (count == 0) return absl::InvalidArgumentError(absl::StrCat(reader.name(), ": the trace has no launches"));
  if (launches.CountWithin(0, count - 1) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("--launches ", selection.launches, ": the trace has ", count,
                                                   count == 1 ? " launch, number 0" : " launches, 0 to ",
                                                   count == 1 ? "" : absl::StrCat(count - 1)));
  }
  for (size_t i = 0; i < count; ++i) out.launches.push_back(launches.Holds(i));
  HEDDLE_RETURN_IF_ERROR(SelectKernels(selection.kernels, reader, out.launches));
  uint32_t most_threads = 0;
  for (size_t i = 0; i < count; ++i) {
    if (out.launches[i]) most_threads = std::max(most_threads, reader.launches()[i].threads_per_block);
  }
  if (out.threads.CountWithin(0, most_threads - 1) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("--threads ", selection.threads, ": a block has ", most_threads,
                                                   " threads, 0 to ", most_threads - 1));
  }
  return out;
}

void AddLaunchOptions(CLI::App& command, TraceSelection& selection) {
  command.add_option("--launches", selection.launches, "Only these launches")->check(NotEmpty());
  CLI::Option* kernels =
      command.add_option("--kernels", selection.kernels,
                         "Only kernels whose name has a match of this regular expression (POSIX extended)");
  kernels->check(NotEmpty());
  command.add_option("--blocks", selection.blocks, "Only these thread blocks, by linear index in the grid")
      ->check(NotEmpty());
}

}  // namespace heddle::tools
