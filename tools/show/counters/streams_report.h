// Launches side by side, by stream.
#ifndef HEDDLE_TOOLS_SHOW_COUNTERS_STREAMS_REPORT_H_
#define HEDDLE_TOOLS_SHOW_COUNTERS_STREAMS_REPORT_H_

#include <string>

#include "proto/result.pb.h"

namespace heddle::tools {

// A table with a row for each stream of the program, and a line on what it shows; empty where launches ran one after
// the other, or in one stream. `run`: the run's policies, for its title.
std::string StreamsReport(const result::v1::Result& result, const std::string& run);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_COUNTERS_STREAMS_REPORT_H_
