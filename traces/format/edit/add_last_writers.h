// Adds the column of last writers to a trace (`heddle capture --record-writers`).
#ifndef HEDDLE_TRACES_FORMAT_EDIT_ADD_LAST_WRITERS_H_
#define HEDDLE_TRACES_FORMAT_EDIT_ADD_LAST_WRITERS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace heddle::trace {

// What was added.
struct LastWriterSummary {
  uint64_t reads = 0;                // that have a writer
  uint64_t overflowed_launches = 0;  // that write more memory than writers are kept of
};

// Replaces the file by one with the column (docs/reference/format.md, section 4), compressed at `zstd_level`; what is
// written does not depend on `threads`. The blocks of a launch must have run in their order, one after the other: all
// that is known then follows from paths and addresses, so that this is a pass over the complete trace, chunk by chunk.
// Columns that are there already are made anew. Errors: FailedPrecondition if several blocks of a launch were live at
// once; those of reading and writing. After an error the file is as it was.
absl::StatusOr<LastWriterSummary> AddLastWriters(const std::string& path, int zstd_level, unsigned threads);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_EDIT_ADD_LAST_WRITERS_H_
