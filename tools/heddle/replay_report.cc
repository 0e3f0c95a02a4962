#include "tools/heddle/replay_report.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/console/terminal.h"
#include "tools/show/report.h"
#include "tools/show/traces_report.h"
#include "traces/base/suggest.h"

namespace heddle::tools {

std::string ReplayReport(const std::vector<std::vector<result::v1::Result>>& results,
                         const std::vector<const trace::TraceReader*>& traces, bool per_launch,
                         const CounterChoice& counters, const std::optional<correlate::HardwareIntervals>& intervals) {
  const auto report = [&](const std::vector<result::v1::Result>& of_trace) {
    std::string text = ResultReport(of_trace, per_launch, counters);
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

absl::StatusOr<CounterChoice> ChooseCounters(const std::string& text,
                                             const std::vector<replay::CheckedConfiguration>& runs) {
  CounterChoice choice;
  if (text.empty()) return choice;
  if (text == "all") {
    choice.all = true;
    return choice;
  }
  std::set<std::string> known;
  for (const replay::CheckedConfiguration& run : runs) {
    for (const replay::PolicyInfo* info :
         {&run.divergence.info(), &run.scheduler.info(), &run.dispatch.info(), &run.fetch.info(), &run.memory.info()}) {
      for (const replay::CounterSpec& counter : info->counters) known.insert(counter.name);
    }
  }
  choice.names = absl::StrSplit(text, ',');
  for (const std::string& name : choice.names) {
    if (known.contains(name)) continue;
    if (known.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("--counters ", name, ": no policy of these runs counts anything"));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "--counters: ", UnknownNameMessage("counter of these policies", name, {known.begin(), known.end()})));
  }
  return choice;
}

std::optional<correlate::HardwareIntervals> MeasuredIntervals(const std::string& name,
                                                              const machine::v1::Machine& machine, bool quiet) {
  absl::StatusOr<correlate::HardwareIntervals> intervals = correlate::IntervalsFor(name, machine);
  if (intervals.ok()) return *std::move(intervals);
  if (!quiet && !absl::IsNotFound(intervals.status())) Note(std::string(intervals.status().message()));
  return std::nullopt;
}

}  // namespace heddle::tools
