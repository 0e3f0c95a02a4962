#include "tools/heddle/replay_report.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tools/console/terminal.h"
#include "tools/show/report.h"
#include "tools/show/traces_report.h"

namespace heddle::tools {

std::string ReplayReport(const std::vector<std::vector<result::v1::Result>>& results,
                         const std::vector<const trace::TraceReader*>& traces, bool per_launch,
                         const std::optional<correlate::HardwareIntervals>& intervals) {
  const auto report = [&](const std::vector<result::v1::Result>& of_trace) {
    std::string text = ResultReport(of_trace, per_launch);
    const std::string told = intervals.has_value() ? correlate::IntervalText(*intervals, of_trace) : "";
    return told.empty() ? text : absl::StrCat(text, "\n", told);
  };
  if (traces.size() == 1) return report(results[0]);
  std::string text;
  std::vector<std::string> names;
  bool alike = true;
  for (size_t i = 0; i < traces.size(); ++i) {
    alike &= results[i].size() == results[0].size();
    // Two files of one name are told apart by their folders.
    const auto stem = [](const trace::TraceReader* trace) { return std::filesystem::path(trace->name()).stem(); };
    const bool twice = std::ranges::count(traces, stem(traces[i]), stem) > 1;
    names.push_back(twice ? traces[i]->name() : stem(traces[i]).string());
    if (!results[i].empty()) {
      absl::StrAppend(&text, names.back(), ": ", report(results[i]), "\n");
    }
  }
  return alike ? text + TracesReport(results, names) : text;
}

std::optional<correlate::HardwareIntervals> MeasuredIntervals(const std::string& name,
                                                              const machine::v1::Machine& machine, bool quiet) {
  absl::StatusOr<correlate::HardwareIntervals> intervals = correlate::IntervalsFor(name, machine);
  if (intervals.ok()) return *std::move(intervals);
  if (!quiet && !absl::IsNotFound(intervals.status())) Note(std::string(intervals.status().message()));
  return std::nullopt;
}

}  // namespace heddle::tools
