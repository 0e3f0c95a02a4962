// All results of a sweep as one table.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_COLLECT_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_COLLECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/study/sweep/folder.h"

namespace heddle::tools::sweep {

struct ResultColumn {
  std::string name;
  enum class Type { kText, kInteger, kReal } type = Type::kText;
};

// One row per point that has a result, in the order of the points; or one per launch of it. Columns:
//   key                                       of the point
//   trace kernels machine divergence scheduler dispatch fetch memory seed    as in the plan
//   set.NAME                                  value or level of each parameter
//   launch kernel                             only with a row per launch
//   launches                                  that the row is about
//   cycles warp_instructions thread_instructions ipc lane_activity    as Totals in proto/result.proto
//   everything else                           integer fields of LaunchResult by their path there, ascending: sums over
//                                             launches (blocks_per_sm* and registers_per_thread: the largest)
// A cell is empty where the result has no such number. Cells are texts as they stand in the CSV, without quotes.
struct ResultTable {
  std::vector<ResultColumn> columns;
  std::vector<std::vector<std::string>> rows;
  uint64_t points = 0;
  uint64_t results = 0;
  uint64_t failures = 0;
};

struct CollectOptions {
  bool per_launch = false;
  uint32_t jobs = 1;  // threads that read; the table does not depend on it
};

// Refuses results that are damaged, of another schema, or not of the point that their name says.
absl::StatusOr<ResultTable> Collect(const SweepFolder& folder, const CollectOptions& options);

// Comma-separated values (RFC 4180, lines end with a line feed): a line of names, then the rows.
std::string CsvText(const ResultTable& table);

// A new database with the table `results`, in a file or where OutputFile goes besides ("-", pipes). Twice the table's
// memory. Unimplemented in a build without SQLite; InvalidArgument as OutputFile::Create.
absl::Status WriteSqlite(const ResultTable& table, const std::string& path);

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_COLLECT_H_
