// Opening the trace that a command line names.
#ifndef HEDDLE_TOOLS_INPUTS_TRACE_FILE_H_
#define HEDDLE_TOOLS_INPUTS_TRACE_FILE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// Opens a trace. A name that is no readable file gives NotFound, with the trace in the same folder that has the nearest
// name, if one is near; a file that is no valid trace gives the reader's refusal.
absl::StatusOr<std::unique_ptr<trace::TraceReader>> OpenTrace(const std::string& path);

// Exit status for an error of OpenTrace: wrong usage if there is no such file, else a failed run.
int TraceErrorStatus(const absl::Status& status);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_INPUTS_TRACE_FILE_H_
