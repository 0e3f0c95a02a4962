// `heddle trace repack`, `extract` and `merge`: new traces from old ones.
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/heddle/trace_commands.h"
#include "tools/heddle/trace_selection.h"
#include "tools/inputs/trace_file.h"
#include "traces/base/status_macros.h"
#include "traces/format/container/byte_source.h"
#include "traces/format/container/replaceable.h"
#include "traces/format/edit/copy.h"
#include "traces/format/edit/recover.h"

namespace heddle::tools {
namespace {

using trace::TraceReader;
using trace::TraceWriter;
using trace::WriterOptions;

constexpr char kProducer[] = "heddle " HEDDLE_VERSION;

// Refuses an output that is one of the inputs, or cannot be a trace, or would cost a file that is none.
absl::Status CheckOutput(const std::string& output, const std::vector<std::string>& inputs) {
  if (output == "-") return absl::InvalidArgumentError("-o -: a trace needs a file, it cannot go to standard output");
  struct stat info;
  if (stat(output.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "-o ", output, ": is ", S_ISDIR(info.st_mode) ? "a folder" : "a device or a pipe", ", not a regular file"));
  }
  HEDDLE_RETURN_IF_ERROR(CheckNotAnInput("-o", output, inputs, "the trace itself"));
  return trace::CheckReplaceable(output);
}

WriterOptions OptionsOf(const TraceOutput& output, uint64_t chunk = 0) {
  WriterOptions options;
  if (output.level.has_value()) options.zstd_level = *output.level;
  options.chunk_thread_instructions = chunk;
  options.join_parts = true;
  options.threads = trace::UsualThreads();
  return options;
}

absl::Status Annotate(TraceWriter& writer, const std::string& key, const std::string& value) {
  trace::v1::Annotation annotation;
  annotation.set_key(key);
  annotation.set_value(value);
  return writer.AddAnnotation(annotation);
}

// One line about the new trace.
int TellResult(const std::string& path, uint64_t bytes_before) {
  const auto reader = OpenTrace(path);
  if (!reader.ok()) return ReportError(kFailed, reader.status());
  const TraceReader& result = **reader;
  const absl::Status written = WriteStandardOutput(absl::StrCat(
      path, ": ", WithThousands(result.file_bytes()), " bytes (before: ", WithThousands(bytes_before), "), ",
      result.launches().size(), result.launches().size() == 1 ? " launch, " : " launches, ",
      WithThousands(result.index().thread_instructions()), " thread-instructions, digest ", result.digest(), "\n"));
  return written.ok() ? kSuccess : ReportError(kFailed, written);
}

// Runs `copy` between creation and completion of a trace.
absl::Status WriteTrace(const TraceOutput& output, uint64_t chunk, trace::v1::FileHeader header,
                        const std::function<absl::Status(TraceWriter&)>& copy) {
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<TraceWriter> writer,
                          TraceWriter::Create(output.path, std::move(header), OptionsOf(output, chunk)));
  RemoveWhenInterrupted(writer->temporary_file());
  absl::Status status = copy(*writer);
  if (status.ok()) status = writer->Finish();
  writer.reset();  // removes the temporary file
  RemoveWhenInterrupted("");
  return status;
}

int ExitStatus(const absl::Status& status) { return absl::IsInvalidArgument(status) ? kWrongUsage : kFailed; }

int Recover(const RepackArguments& arguments) {
  struct stat info;
  if (stat(arguments.trace.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    const auto missing = OpenTrace(arguments.trace);  // tells what is wrong, with the nearest name
    return ReportError(TraceErrorStatus(missing.status()), missing.status());
  }
  absl::StatusOr<std::unique_ptr<trace::ByteSource>> source = trace::OpenFile(arguments.trace);
  if (!source.ok()) return ReportError(kFailed, source.status());
  const uint64_t bytes = (*source)->size();
  const absl::StatusOr<trace::RecoveryReport> report = trace::RecoverTrace(
      *std::move(source), arguments.trace, arguments.output.path, OptionsOf(arguments.output), RemoveWhenInterrupted);
  RemoveWhenInterrupted("");
  if (!report.ok()) return ReportError(kFailed, report.status());
  std::string text = absl::StrCat(arguments.trace, ": ", WithThousands(report->records), " complete records; ",
                                  report->missing.empty() ? "nothing is missing" : "what is missing:", "\n");
  for (const std::string& sentence : report->missing) absl::StrAppend(&text, "  ", sentence, "\n");
  if (const absl::Status written = WriteStandardOutput(text); !written.ok()) return ReportError(kFailed, written);
  return TellResult(arguments.output.path, bytes);
}

}  // namespace

int TraceRepackCommand(const RepackArguments& arguments) {
  if (const absl::Status status = CheckOutput(arguments.output.path, {arguments.trace}); !status.ok()) {
    return ReportError(kWrongUsage, status);
  }
  if (arguments.recover) return Recover(arguments);
  const auto reader = OpenTrace(arguments.trace);
  if (!reader.ok()) return ReportError(TraceErrorStatus(reader.status()), reader.status());
  Progress progress("Repacking", true);
  const auto update = [&progress](uint64_t done, uint64_t total) { progress.Update(done, total); };
  absl::Status status;
  if (arguments.chunk == 0 && !arguments.encode) {
    status = trace::RecompressTrace(**reader, arguments.output.path, OptionsOf(arguments.output).zstd_level,
                                    RemoveWhenInterrupted, update);
    RemoveWhenInterrupted("");
  } else {
    const TraceReader* input = reader->get();
    absl::StatusOr<trace::MergedHeader> header = trace::MergeHeaders(std::span(&input, 1), kProducer);
    if (!header.ok()) return ReportError(kFailed, header.status());
    status = WriteTrace(arguments.output, arguments.chunk, header->header, [&](TraceWriter& writer) {
      return trace::TraceCopier(writer, true).Add(*input, {}, header->source_file[0], update);
    });
  }
  progress.Clear();
  if (!status.ok()) return ReportError(kFailed, status);
  return TellResult(arguments.output.path, (*reader)->file_bytes());
}

int TraceExtractCommand(const ExtractArguments& arguments) {
  if (const absl::Status status = CheckOutput(arguments.output.path, {arguments.trace}); !status.ok()) {
    return ReportError(kWrongUsage, status);
  }
  const auto reader = OpenTrace(arguments.trace);
  if (!reader.ok()) return ReportError(TraceErrorStatus(reader.status()), reader.status());
  const absl::StatusOr<SelectedParts> parts = ReadSelection(arguments.selection, **reader);
  if (!parts.ok()) return ReportError(kWrongUsage, parts.status());
  const TraceReader* input = reader->get();
  absl::StatusOr<trace::MergedHeader> header = trace::MergeHeaders(std::span(&input, 1), kProducer);
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
    return Annotate(writer, "heddle.extract",
                    absl::StrCat("from trace ", input->digest(), ": launches ", absl::StrJoin(launches, ","),
                                 arguments.selection.blocks.empty() ? "" : "; blocks ", arguments.selection.blocks));
  });
  progress.Clear();
  if (!status.ok()) return ReportError(ExitStatus(status), status);
  return TellResult(arguments.output.path, input->file_bytes());
}

int TraceMergeCommand(const MergeArguments& arguments) {
  if (arguments.traces.size() < 2) {
    return ReportError(kWrongUsage, "merge needs two traces or more; see `heddle trace merge --help`");
  }
  if (const absl::Status status = CheckOutput(arguments.output.path, arguments.traces); !status.ok()) {
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
  absl::StatusOr<trace::MergedHeader> header = trace::MergeHeaders(inputs, kProducer);
  if (!header.ok()) return ReportError(ExitStatus(header.status()), header.status());
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
    return Annotate(writer, "heddle.merge", absl::StrJoin(parts, "; "));
  });
  progress.Clear();
  if (!status.ok()) return ReportError(ExitStatus(status), status);
  return TellResult(arguments.output.path, bytes);
}

}  // namespace heddle::tools
