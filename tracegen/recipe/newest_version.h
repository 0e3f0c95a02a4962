// Traces that turn out to hold more than their header says.
#ifndef HEDDLE_TRACEGEN_RECIPE_NEWEST_VERSION_H_
#define HEDDLE_TRACEGEN_RECIPE_NEWEST_VERSION_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// Completes the trace at `path` and begins it anew with the newest minor version in its header, which stands first in
// the file; everything that has been written so far is taken over, and more may follow. No launch may be open. Programs
// that the old writer has returned are gone. Errors: those of reading and writing the file.
absl::StatusOr<std::unique_ptr<trace::TraceWriter>> BeginAtNewestVersion(std::unique_ptr<trace::TraceWriter> writer,
                                                                         const std::string& path,
                                                                         const trace::WriterOptions& options);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_RECIPE_NEWEST_VERSION_H_
