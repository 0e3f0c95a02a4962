// `heddle trace repack`.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/heddle/trace/new_trace.h"
#include "tools/inputs/trace_file.h"
#include "traces/format/container/byte_source.h"
#include "traces/format/edit/copy.h"
#include "traces/format/edit/recover.h"

namespace heddle::tools {
namespace {

using trace::TraceReader;
using trace::TraceWriter;

constexpr char kRepackFooter[] =
    "\nWithout --chunk and --encode the records stay byte for byte, and with them the digest. With them the threads "
    "stay\n"
    "(`heddle trace diff` shows it), but chunks are other records, so the trace has another digest. --recover takes a\n"
    "file that was cut off or damaged, keeps exactly the records that are complete, and tells what is missing.";

struct RepackArguments {
  std::string trace;
  TraceOutput output;
  uint64_t chunk = 0;    // thread-instructions of a chunk; 0 = chunks stay
  bool encode = false;   // chunks are encoded anew
  bool recover = false;  // the trace is damaged: keep what is whole
};

int Recover(const RepackArguments& arguments) {
  struct stat info;
  if (stat(arguments.trace.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    const auto missing = OpenTrace(arguments.trace);  // tells what is wrong, with the nearest name
    return ReportError(TraceErrorStatus(missing.status()), missing.status());
  }
  absl::StatusOr<std::unique_ptr<trace::ByteSource>> source = trace::OpenFile(arguments.trace);
  if (!source.ok()) return ReportError(kFailed, source.status());
  const uint64_t bytes = (*source)->size();
  const absl::StatusOr<trace::RecoveryReport> report =
      trace::RecoverTrace(*std::move(source), arguments.trace, arguments.output.path, WriterOptionsOf(arguments.output),
                          RemoveWhenInterrupted);
  RemoveWhenInterrupted("");
  if (!report.ok()) return ReportError(kFailed, report.status());
  std::string text = absl::StrCat(arguments.trace, ": ", WithThousands(report->records), " complete records; ",
                                  report->missing.empty() ? "nothing is missing" : "what is missing:", "\n");
  for (const std::string& sentence : report->missing) absl::StrAppend(&text, "  ", sentence, "\n");
  if (const absl::Status written = WriteStandardOutput(text); !written.ok()) return ReportError(kFailed, written);
  return ReportNewTrace(arguments.output.path, bytes);
}

// The same trace in other bytes.
int Repack(const RepackArguments& arguments) {
  if (const absl::Status status = CheckTraceOutput(arguments.output.path, {arguments.trace}); !status.ok()) {
    return ReportError(kWrongUsage, status);
  }
  if (arguments.recover) return Recover(arguments);
  const auto reader = OpenTrace(arguments.trace);
  if (!reader.ok()) return ReportError(TraceErrorStatus(reader.status()), reader.status());
  Progress progress("Repacking", true);
  const auto update = [&progress](uint64_t done, uint64_t total) { progress.Update(done, total); };
  absl::Status status;
  if (arguments.chunk == 0 && !arguments.encode) {
    status = trace::RecompressTrace(**reader, arguments.output.path, WriterOptionsOf(arguments.output).zstd_level,
                                    RemoveWhenInterrupted, update);
    RemoveWhenInterrupted("");
  } else {
    const TraceReader* input = reader->get();
    absl::StatusOr<trace::MergedHeader> header = trace::MergeHeaders(std::span(&input, 1), kNewTraceProducer);
    if (!header.ok()) return ReportError(kFailed, header.status());
    status = WriteTrace(arguments.output, arguments.chunk, header->header, [&](TraceWriter& writer) {
      return trace::TraceCopier(writer, true).Add(*input, {}, header->source_file[0], update);
    });
  }
  progress.Clear();
  if (!status.ok()) return ReportError(kFailed, status);
  return ReportNewTrace(arguments.output.path, (*reader)->file_bytes());
}

class TraceRepack final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("TRACE", arguments_.trace, "Trace file")->required();
    AddTraceOutput(command, arguments_.output);
    CLI::Option* chunk =
        command.add_option("--chunk", arguments_.chunk, "Close chunks at this many thread-instructions (1048576)");
    chunk->check(WholeNumberFromTo(1, uint64_t{4} << 20));
    CLI::Option* encode =
        command.add_flag("--encode", arguments_.encode, "Encode all chunks anew, as capture does today");
    command.add_flag("--recover", arguments_.recover, "Keep what is complete of a damaged file")
        ->excludes(chunk)
        ->excludes(encode);
  }

  int Run() override { return Repack(arguments_); }

 private:
  RepackArguments arguments_;
};

HEDDLE_COMMAND(TraceRepack, .name = "trace repack", .place = 6,
               .summary = "Write a trace again: other compression, other chunks; recover", .footer = kRepackFooter);

}  // namespace
}  // namespace heddle::tools
