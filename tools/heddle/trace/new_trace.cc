#include "tools/heddle/trace/new_trace.h"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/console/option_checks.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/inputs/trace_file.h"
#include "traces/base/status_macros.h"
#include "traces/format/container/replaceable.h"

namespace heddle::tools {

using trace::TraceReader;
using trace::TraceWriter;
using trace::WriterOptions;

void AddTraceOutput(CLI::App& command, TraceOutput& output) {
  command.add_option("-o,--output", output.path, "The new trace")->required()->check(NotEmpty());
  CLI::Option* level = command.add_option("--level", output.level, "Zstandard level, 1 to 22 (3)");
  level->check(WholeNumberFromTo(1, 22));
  CLI::Option* fast = command.add_flag_callback("--fast", [&output] { output.level = 1; }, "Quick to write: level 1");
  CLI::Option* small = command.add_flag_callback(
      "--small", [&output] { output.level = 19; }, "To keep and to share: level 19, slow to write");
  level->excludes(fast)->excludes(small);
  fast->excludes(small);
}

absl::Status CheckTraceOutput(const std::string& output, const std::vector<std::string>& inputs) {
  if (output == "-") return absl::InvalidArgumentError("-o -: a trace needs a file, it cannot go to standard output");
  struct stat info;
  if (stat(output.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "-o ", output, ": is ", S_ISDIR(info.st_mode) ? "a folder" : "a device or a pipe", ", not a regular file"));
  }
  HEDDLE_RETURN_IF_ERROR(CheckNotAnInput("-o", output, inputs, "the trace itself"));
  return trace::CheckReplaceable(output);
}

WriterOptions WriterOptionsOf(const TraceOutput& output, uint64_t chunk) {
  WriterOptions options;
  if (output.level.has_value()) options.zstd_level = *output.level;
  options.chunk_thread_instructions = chunk;
  options.join_parts = true;
  options.threads = trace::UsualThreads();
  return options;
}

absl::Status AddAnnotation(TraceWriter& writer, const std::string& key, const std::string& value) {
  trace::v1::Annotation annotation;
  annotation.set_key(key);
  annotation.set_value(value);
  return writer.AddAnnotation(annotation);
}

int ExitStatusOfNewTrace(const absl::Status& status) { return absl::IsInvalidArgument(status) ? kWrongUsage : kFailed; }

int ReportNewTrace(const std::string& path, uint64_t bytes_before) {
  const auto reader = OpenTrace(path);
  if (!reader.ok()) return ReportError(kFailed, reader.status());
  const TraceReader& result = **reader;
  const absl::Status written = WriteStandardOutput(absl::StrCat(
      path, ": ", WithThousands(result.file_bytes()), " bytes (before: ", WithThousands(bytes_before), "), ",
      result.launches().size(), result.launches().size() == 1 ? " launch, " : " launches, ",
      WithThousands(result.index().thread_instructions()), " thread-instructions, digest ", result.digest(), "\n"));
  return written.ok() ? kSuccess : ReportError(kFailed, written);
}

absl::Status WriteTrace(const TraceOutput& output, uint64_t chunk, trace::v1::FileHeader header,
                        const std::function<absl::Status(TraceWriter&)>& copy) {
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<TraceWriter> writer,
                          TraceWriter::Create(output.path, std::move(header), WriterOptionsOf(output, chunk)));
  RemoveWhenInterrupted(writer->temporary_file());
  absl::Status status = copy(*writer);
  if (status.ok()) status = writer->Finish();
  writer.reset();  // removes the temporary file
  RemoveWhenInterrupted("");
  return status;
}

}  // namespace heddle::tools
