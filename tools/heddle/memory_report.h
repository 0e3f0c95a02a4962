// What the memory did, as text.
#ifndef HEDDLE_TOOLS_HEDDLE_MEMORY_REPORT_H_
#define HEDDLE_TOOLS_HEDDLE_MEMORY_REPORT_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"

namespace heddle::tools {

// A table with one row per run, over all its launches; `names` says which run a row is. Empty if no machine has caches.
// A ratio whose parts a machine does not have, or whose denominator is 0, is "-".
std::string MemoryReport(const std::vector<result::v1::Result>& results, const std::vector<std::string>& names);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_MEMORY_REPORT_H_
