// How a run went over time, as text.
#ifndef HEDDLE_TOOLS_SHOW_SERIES_REPORT_H_
#define HEDDLE_TOOLS_SHOW_SERIES_REPORT_H_

#include <string>

#include "proto/result.pb.h"
#include "tools/show/counters/policy_counters_report.h"

namespace heddle::tools {

// For every launch of a run with a time series (of many, the longest few), one line per quantity: its course in 60
// characters from the smallest (a blank: 0) to its maximum, and the maximum. Empty without series (--bins). `counters`:
// which of the policies' own are among them.
std::string SeriesReport(const result::v1::Result& result, const std::string& run, const CounterChoice& counters);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_SERIES_REPORT_H_
