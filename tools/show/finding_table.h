// Tables of what certificates of a trace say.
#ifndef HEDDLE_TOOLS_SHOW_FINDING_TABLE_H_
#define HEDDLE_TOOLS_SHOW_FINDING_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/trace.pb.h"
#include "tools/console/table.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// Rows that tables of certificates show; `MoreRows` tells of those behind.
inline constexpr size_t kMostFindings = 200;
std::string MoreRows(size_t rows);

// "ld.global.u32 at 128".
std::string InstructionName(const trace::Program& program, trace::Pc pc);

// What an instruction does to what another one has stored: "loaded", "overwritten" or "updated".
const char* UseOfStored(trace::v1::OpClass op);

// One table: rows by launch, or summed up over the launches of a program. Of a sum, what stands beside the count is
// that of the first launch.
class FindingTable {
 public:
  // `columns` without the first one, which is the launch, or how many there are. `counted`: the column, among these, in
  // which the count goes.
  FindingTable(bool per_launch, std::vector<Table::Column> columns, size_t counted);

  // Findings of the same `what` in a program are the same.
  void Add(const trace::LaunchView& launch, const std::string& what, uint64_t count, std::vector<std::string> cells);
  // Empty without rows.
  std::string Text(absl::string_view heading) const;

 private:
  struct Row {
    uint64_t number = 0;  // of the launch, or how many there are
    uint64_t count = 0;
    std::vector<std::string> cells;  // without these two
  };

  const bool per_launch_;
  std::vector<Table::Column> columns_;
  const size_t counted_;
  std::vector<Row> rows_;
  std::map<std::pair<uint64_t, std::string>, size_t> place_of_;
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_FINDING_TABLE_H_
