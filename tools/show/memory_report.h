// What the memory did, as text.
#ifndef HEDDLE_TOOLS_SHOW_MEMORY_REPORT_H_
#define HEDDLE_TOOLS_SHOW_MEMORY_REPORT_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"
#include "tools/console/table.h"

namespace heddle::tools {

// A table with one row per run, over all its launches. `columns` and the cells of each run say which run a row is.
// Empty if no machine has caches. A ratio whose parts a machine does not have, or whose denominator is 0, is "-".
std::string MemoryReport(const std::vector<result::v1::Result>& results, std::vector<Table::Column> columns,
                         const std::vector<std::vector<std::string>>& cells);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_MEMORY_REPORT_H_
