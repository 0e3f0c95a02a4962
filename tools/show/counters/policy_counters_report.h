// What policies count themselves, beside what the engine counts.
#ifndef HEDDLE_TOOLS_SHOW_COUNTERS_POLICY_COUNTERS_REPORT_H_
#define HEDDLE_TOOLS_SHOW_COUNTERS_POLICY_COUNTERS_REPORT_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"
#include "tools/console/table.h"

namespace heddle::tools {

// Names of counters as --counters takes them: "all", or names separated by commas.
struct CounterChoice {
  bool all = false;
  std::vector<std::string> names;

  bool Wants(const std::string& name) const;
  bool empty() const { return !all && names.empty(); }
};

// A heading and a table with a row per result, whose first cells are `cells` below `columns`, and a column per counter
// that is wanted. A run whose policies do not have the counter has "-". With "all", counters that are 0 in all runs are
// left out, and so are runs without any. Empty if nothing is wanted, or none of it is there.
std::string PolicyCountersReport(const std::vector<result::v1::Result>& results, std::vector<Table::Column> columns,
                                 const std::vector<std::vector<std::string>>& cells, const CounterChoice& choice);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_COUNTERS_POLICY_COUNTERS_REPORT_H_
