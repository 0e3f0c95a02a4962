// `heddle trace merge`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/command.h"
#include "tools/console/output.h"
#include "tools/console/terminal.h"
#include "tools/heddle/trace/new_trace.h"
#include "tools/inputs/trace_file.h"
#include "traces/format/edit/copy.h"

namespace heddle::tools {
namespace {

using trace::TraceReader;
using trace::TraceWriter;

constexpr char kMergeFooter[] =
    "\nThe launches of the traces follow one another and are numbered anew; equal programs are shared. Traces must "
    "have\n"
    "been compiled for the same target in the same way.";

struct MergeArguments {
  std::vector<std::string> traces;
  TraceOutput output;
};

// Several traces as one.
int Merge(const MergeArguments& arguments) {
  if (arguments.traces.size() < 2) {
    return ReportError(kWrongUsage, "merge needs two traces or more; see `heddle trace merge --help`");
  }
  if (const absl::Status status = CheckTraceOutput(arguments.output.path, arguments.traces); !status.ok()) {
    return ReportError(kWrongUsage, status);
  }
  std::vector<std::unique_ptr<TraceReader>> readers;
  std::vector<const TraceReader*> inputs;
  uint64_t bytes = 0;
  for (const std::string& path : arguments.traces) {
    auto reader = OpenTrace(path);
    if (!reader.ok()) return ReportError(TraceErrorStatus(reader.status()), reader.status());
    bytes += (*reader)->file_bytes();
    inputs.push_back(reader->get());
    readers.push_back(*std::move(reader));
  }
  absl::StatusOr<trace::MergedHeader> header = trace::MergeHeaders(inputs, kNewTraceProducer);
  if (!header.ok()) return ReportError(ExitStatusOfNewTrace(header.status()), header.status());
  Progress progress("Merging", true);
  const absl::Status status = WriteTrace(arguments.output, 0, header->header, [&](TraceWriter& writer) {
    trace::TraceCopier copier(writer, false);
    std::vector<std::string> parts;
    size_t launches = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      absl::Status copied = copier.Add(*inputs[i], {}, header->source_file[i], [&](uint64_t done, uint64_t total) {
        progress.Update(i * total + std::min(done, total), inputs.size() * total);
      });
      if (!copied.ok()) return copied;
      parts.push_back(absl::StrCat("launches from ", launches, " on are those of trace ", inputs[i]->digest()));
      launches += inputs[i]->launches().size();
    }
    return AddAnnotation(writer, "heddle.merge", absl::StrJoin(parts, "; "));
  });
  progress.Clear();
  if (!status.ok()) return ReportError(ExitStatusOfNewTrace(status), status);
  return ReportNewTrace(arguments.output.path, bytes);
}

class TraceMerge final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("TRACE", arguments_.traces, "Trace files, in order")->required();
    AddTraceOutput(command, arguments_.output);
  }

  int Run() override { return Merge(arguments_); }

 private:
  MergeArguments arguments_;
};

HEDDLE_COMMAND(TraceMerge, .name = "trace merge", .place = 8, .summary = "Make one trace of several",
               .footer = kMergeFooter);

}  // namespace
}  // namespace heddle::tools
