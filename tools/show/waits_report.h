// What a trace tells about threads that waited for one another while they were recorded.
#ifndef HEDDLE_TOOLS_SHOW_WAITS_REPORT_H_
#define HEDDLE_TOOLS_SHOW_WAITS_REPORT_H_

#include <string>

#include "tools/console/json.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// A table with a row per polling instruction, and per launch or for all launches of a kernel; empty if nobody waited.
std::string WaitsReport(const trace::TraceReader& reader, bool per_launch);

// What WaitsReport tells, of one launch: a list, by instruction.
nlohmann::ordered_json WaitsJson(const trace::TraceReader& reader, const trace::LaunchView& launch);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_WAITS_REPORT_H_
