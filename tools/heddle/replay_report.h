// What `heddle replay` prints of its results.
#ifndef HEDDLE_TOOLS_HEDDLE_REPLAY_REPORT_H_
#define HEDDLE_TOOLS_HEDDLE_REPLAY_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/engine/replay.h"
#include "tools/show/counters/policy_counters_report.h"
#include "tools/study/correlate/hardware_interval.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// A report for every trace, and for several whose runs have all ended a table over all of them. With `intervals`, what
// they say of each trace stands below its report. `counters`: which of the policies' own are shown.
std::string ReplayReport(const std::vector<std::vector<result::v1::Result>>& results,
                         const std::vector<const trace::TraceReader*>& traces, bool per_launch,
                         const CounterChoice& counters, const std::optional<correlate::HardwareIntervals>& intervals);

// Takes --counters apart. InvalidArgument: a name that no policy of the runs has; which there are.
absl::StatusOr<CounterChoice> ChooseCounters(const std::string& text,
                                             const std::vector<replay::CheckedConfiguration>& runs);

// The intervals of the machine that is called `name` on the command line, if it was measured beside a card. Notes,
// unless `quiet`, that it was measured but is another one now, or that its file is damaged.
std::optional<correlate::HardwareIntervals> MeasuredIntervals(const std::string& name,
                                                              const machine::v1::Machine& machine, bool quiet);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_REPLAY_REPORT_H_
