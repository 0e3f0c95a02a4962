// `heddle trace extract`.
#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/command.h"
#include "tools/console/output.h"
#include "tools/console/terminal.h"
#include "tools/heddle/trace/new_trace.h"
#include "tools/heddle/trace/selection.h"
#include "tools/inputs/trace_file.h"
#include "traces/format/edit/copy.h"

namespace heddle::tools {
namespace {

using trace::TraceReader;
using trace::TraceWriter;

constexpr char kExtractFooter[] =
    "\nLaunches are numbered anew. Transfers and annotations stay; an annotation says what was taken from which "
    "trace. ";

struct ExtractArguments {
  std::string trace;
  TraceOutput output;
  TraceSelection selection;
};

// Some launches, kernels or blocks as a trace of their own.
int Extract(const ExtractArguments& arguments) {
  if (const absl::Status status = CheckTraceOutput(arguments.output.path, {arguments.trace}); !status.ok()) {
    return ReportError(kWrongUsage, status);
  }
  const auto reader = OpenTrace(arguments.trace);
  if (!reader.ok()) return ReportError(TraceErrorStatus(reader.status()), reader.status());
  const absl::StatusOr<SelectedParts> parts = ReadSelection(arguments.selection, **reader);
  if (!parts.ok()) return ReportError(kWrongUsage, parts.status());
  const TraceReader* input = reader->get();
  absl::StatusOr<trace::MergedHeader> header = trace::MergeHeaders(std::span(&input, 1), kNewTraceProducer);
  if (!header.ok()) return ReportError(kFailed, header.status());
  std::vector<std::string> launches;
  bool uses_warps = false;
  for (size_t i = 0; i < parts->launches.size(); ++i) {
    if (!parts->launches[i]) continue;
    launches.push_back(absl::StrCat(i));
    uses_warps |= input->launches()[i].program->proto().uses_warp_operations();
  }
  if (!uses_warps) header->header.set_warp_width(0);
  Progress progress("Extracting", true);
  const absl::Status status = WriteTrace(arguments.output, 0, header->header, [&](TraceWriter& writer) {
    trace::CopySelection selection{parts->launches, parts->blocks};
    absl::Status copied = trace::TraceCopier(writer, false)
                              .Add(*input, selection, header->source_file[0],
                                   [&progress](uint64_t done, uint64_t total) { progress.Update(done, total); });
    if (!copied.ok()) return copied;
    return AddAnnotation(
        writer, "heddle.extract",
        absl::StrCat("from trace ", input->digest(), ": launches ", absl::StrJoin(launches, ","),
                     arguments.selection.blocks.empty() ? "" : "; blocks ", arguments.selection.blocks));
  });
  progress.Clear();
  if (!status.ok()) return ReportError(ExitStatusOfNewTrace(status), status);
  return ReportNewTrace(arguments.output.path, input->file_bytes());
}

class TraceExtract final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("TRACE", arguments_.trace, "Trace file")->required();
    AddTraceOutput(command, arguments_.output);
    AddLaunchOptions(command, arguments_.selection);
  }

  int Run() override { return Extract(arguments_); }

 private:
  ExtractArguments arguments_;
};

HEDDLE_COMMAND(TraceExtract, .name = "trace extract", .place = 7,
               .summary = "Make a trace of some launches, kernels or blocks",
               .footer = std::string(kExtractFooter) + kRanges);

}  // namespace
}  // namespace heddle::tools
