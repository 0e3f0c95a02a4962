#include "tests/conformance/logged_runs.h"

#include "gtest/gtest.h"
#include "replay/engine/replay.h"

namespace heddle::replay {

std::vector<std::vector<IssueEntry>> LogsOf(const trace::TraceReader& reader, const machine::v1::Machine& machine,
                                            const std::vector<LoggedRun>& runs) {
  std::vector<Configuration> configurations;
  for (const LoggedRun& run : runs) {
    Configuration& configuration = configurations.emplace_back();
    configuration.divergence = PolicySpec::FromText(run.divergence);
    configuration.scheduler = PolicySpec::FromText(run.scheduler);
  }
  SortedIssueLog log(configurations.size());
  ReplayOptions options;
  options.machine = machine;
  options.observer = &log;
  const auto results = Replay(reader, configurations, options);
  EXPECT_TRUE(results.ok()) << results.status();
  std::vector<std::vector<IssueEntry>> logs(runs.size());
  for (size_t c = 0; results.ok() && c < configurations.size(); ++c) logs[c] = log.Sorted(c);
  return logs;
}

std::vector<std::vector<IssueEntry>> LogsOf(const trace::TraceReader& reader, const machine::v1::Machine& machine,
                                            const std::vector<std::string>& divergence, const std::string& scheduler) {
  std::vector<LoggedRun> runs;
  for (const std::string& policy : divergence) runs.push_back({policy, scheduler});
  return LogsOf(reader, machine, runs);
}

IssuesWithoutOrder WithoutOrder(const std::vector<IssueEntry>& log) {
  IssuesWithoutOrder issues;
  for (const IssueEntry& issue : log) {
    std::set<uint32_t> threads;
    for (const LoggedLane& lane : issue.lanes) threads.insert(lane.thread);
    issues.insert({issue.launch, issue.lanes[0].block, issue.lanes[0].pc, threads});
  }
  return issues;
}

}  // namespace heddle::replay
