// What a trace tells about reads of data that another thread block has written (`heddle capture --record-writers`).
#ifndef HEDDLE_TOOLS_SHOW_WRITERS_REPORT_H_
#define HEDDLE_TOOLS_SHOW_WRITERS_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/console/json.h"
#include "traces/format/columns/last_writers.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// Reads by one instruction of what another one had written, in a launch.
struct WriterPair {
  uint32_t launch = 0;
  uint32_t program = 0;
  trace::Pc reader = 0;
  trace::Pc writer = 0;
  std::string reader_text;  // opcode and PC
  std::string writer_text;
  std::string reader_place;  // source line
  std::string writer_place;
  uint64_t reads = 0;
  uint64_t least_distance = 0;  // between the numbers of the two blocks
};

// What a chunk lists; nothing if the trace has no such columns. Errors: they are malformed.
absl::Status ReadLastWriters(const trace::TraceReader& reader, const trace::LaunchView& launch,
                             const trace::v1::ChunkReference& reference, std::vector<trace::WrittenRead>& reads);

// All pairs, by launch, reading and writing instruction. Reads every chunk if the trace has such columns.
absl::StatusOr<std::vector<WriterPair>> CountWriters(const trace::TraceReader& reader);

// A table, by launch or with the sums over all launches of a kernel; empty if there is nothing to tell.
std::string WritersText(const std::vector<WriterPair>& pairs, bool per_launch);

// The pairs of one launch.
nlohmann::ordered_json WritersJson(const std::vector<WriterPair>& pairs, uint32_t launch);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_WRITERS_REPORT_H_
