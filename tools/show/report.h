// Results of several runs of one trace as a table that people compare.
#ifndef HEDDLE_TOOLS_SHOW_REPORT_H_
#define HEDDLE_TOOLS_SHOW_REPORT_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"
#include "tools/show/counters/policy_counters_report.h"

namespace heddle::tools {

// Runs that follow one another and differ only in the seed of their noise (--jitter) share a row of means.
// Title, one row per run (cycles, IPC, lane activity, depth utilisation, and of several runs the speed-up), what the
// speed-up refers to, and the notes of the results. The speed-up is the ratio of cycles; its base is the first run with
// policy pdom, else the first run. With `per_launch` a table for every launch follows. A number that a run does not
// have is shown as "-". `counters`: which of the policies' own follow the table.
std::string ResultReport(const std::vector<result::v1::Result>& results, bool per_launch,
                         const CounterChoice& counters = {});

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_REPORT_H_
