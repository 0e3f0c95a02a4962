// One table over several traces.
#ifndef HEDDLE_TOOLS_SHOW_TRACES_REPORT_H_
#define HEDDLE_TOOLS_SHOW_TRACES_REPORT_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"

namespace heddle::tools {

// `results`: one list per trace, all of the same runs; `names`: of the traces. The speed-up of every row by trace (as
// in ResultReport), then the least, the geometric mean and the most of them. Beyond a few traces only these three. A
// trace in which the row or its base took no cycles does not count.
std::string TracesReport(const std::vector<std::vector<result::v1::Result>>& results,
                         const std::vector<std::string>& names);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_TRACES_REPORT_H_
