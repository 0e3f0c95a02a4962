// `heddle trace repack --recover`: what is whole in a trace that was cut off or damaged.
#ifndef HEDDLE_TRACES_FORMAT_EDIT_RECOVER_H_
#define HEDDLE_TRACES_FORMAT_EDIT_RECOVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/format/read/reader.h"
#include "traces/format/write/writer.h"

namespace heddle::trace {

struct RecoveryReport {
  uint64_t records = 0;              // whole ones that were found, headers and indices included
  uint64_t launches = 0;             // in the new trace
  uint64_t blocks = 0;               // recorded ones in the new trace
  uint64_t thread_instructions = 0;  // in the new trace
  // What is missing, one sentence each, in order of the file: lost bytes, records whose number does not occur, records
  // that nothing can be done with, blocks by launch. Empty if the file was whole.
  std::vector<std::string> missing;
};

// Writes the complete records of `source` as a new trace to `path`. A record is complete if its frame is, with
// checksum, and for a chunk if it decodes; programs and launches must obey the rules of the format. Chunks are taken
// over as they are; parts of a block only if all parts are there. Launches are numbered anew; what needs a lost record
// (the chunks of a lost launch, the launches of a lost program, certificates of lost launches) is left out and told.
// Launches that lost blocks get the selection rule LISTED.
//
// DataLoss if nothing can be recovered: no frames, or the header is not complete, or not of this major version.
absl::StatusOr<RecoveryReport> RecoverTrace(std::unique_ptr<ByteSource> source, const std::string& name,
                                            const std::string& path, const WriterOptions& options,
                                            const std::function<void(const std::string&)>& temporary_file);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_EDIT_RECOVER_H_
