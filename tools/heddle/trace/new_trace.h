// What the commands share that write a trace: repack, extract, merge.
#ifndef HEDDLE_TOOLS_HEDDLE_TRACE_NEW_TRACE_H_
#define HEDDLE_TOOLS_HEDDLE_TRACE_NEW_TRACE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "traces/format/write/writer.h"

namespace CLI {
class App;
}

namespace heddle::tools {

// The producer that new traces name.
inline constexpr char kNewTraceProducer[] = "heddle " HEDDLE_VERSION;

// The new trace and how it is written.
struct TraceOutput {
  std::string path;          // -o
  std::optional<int> level;  // Zstandard
};

// Adds -o, --level, --fast and --small to a command.
void AddTraceOutput(CLI::App& command, TraceOutput& output);

// Refuses an output that is one of the inputs, or cannot be a trace, or would cost a file that is none.
absl::Status CheckTraceOutput(const std::string& output, const std::vector<std::string>& inputs);

// How the trace is written; `chunk`: thread-instructions of a chunk, 0 = as they come.
trace::WriterOptions WriterOptionsOf(const TraceOutput& output, uint64_t chunk = 0);

absl::Status AddAnnotation(trace::TraceWriter& writer, const std::string& key, const std::string& value);

// Runs `copy` between creation and completion of a trace.
absl::Status WriteTrace(const TraceOutput& output, uint64_t chunk, trace::v1::FileHeader header,
                        const std::function<absl::Status(trace::TraceWriter&)>& copy);

// The exit status of a command that could not write its trace: some words select what is not there.
int ExitStatusOfNewTrace(const absl::Status& status);

// Prints one line about the new trace; returns the exit status.
int ReportNewTrace(const std::string& path, uint64_t bytes_before);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_TRACE_NEW_TRACE_H_
