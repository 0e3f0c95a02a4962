#include "tests/conformance/checked_replay.h"

#include <utility>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "tests/conformance/issue_log.h"
#include "tests/conformance/rules.h"

namespace heddle::replay {

void ExpectRulesKept(const trace::TraceReader& reader, const machine::v1::Machine& machine,
                     const std::vector<AcceptedConfiguration>& configurations,
                     std::map<std::string, uint64_t>* counters) {
  std::vector<std::vector<ExpandedBlock>> expanded;
  std::vector<const trace::LaunchView*> launches;
  for (const trace::LaunchView& launch : reader.launches()) {
    if (!launch.launch.recorded()) continue;
    auto blocks = ExpandWalk(reader, launch);
    ASSERT_TRUE(blocks.ok()) << blocks.status();
    expanded.push_back(*std::move(blocks));
    launches.push_back(&launch);
  }
  std::vector<Configuration> plain;
  for (const AcceptedConfiguration& checked : configurations) plain.push_back(checked.configuration);
  SortedIssueLog log(plain.size());
  ReplayOptions options;
  options.machine = machine;
  options.observer = &log;
  const trace::TraceReader* const traces[] = {&reader};
  const auto outcomes = ReplayEach(traces, plain, options);
  ASSERT_TRUE(outcomes.ok()) << outcomes.status();
  for (size_t c = 0; c < plain.size(); ++c) {
    const auto& outcome = outcomes->front()[c];
    if (configurations[c].may_not_fit && absl::IsFailedPrecondition(outcome.status())) continue;
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    NoteChecked(plain[c]);
    const result::v1::Result& result = *outcome;
    ASSERT_EQ(result.launch_size(), static_cast<int>(launches.size()));
    for (size_t l = 0; l < launches.size(); ++l) {
      LoggedLaunch run;
      run.configuration = &configurations[c];
      run.machine = &machine;
      run.program = launches[l]->program;
      run.blocks = &expanded[l];
      for (const IssueEntry& issue : log.Sorted(c)) {
        if (issue.launch == launches[l]->launch.id()) run.issues.push_back(issue);
      }
      run.result = &result.launch(static_cast<int>(l));
      EXPECT_EQ(CheckAll(run), "") << configurations[c].Text() << ", launch " << l;
      if (counters == nullptr) continue;
      for (const auto& [name, value] : run.result->divergence_counter()) {
        (*counters)[result.divergence().name() + "." + name] += value;
      }
      for (const auto& [name, value] : run.result->scheduler_counter()) {
        (*counters)[result.scheduler().name() + "." + name] += value;
      }
      for (const auto& [name, value] : run.result->dispatch_counter()) {
        (*counters)[result.dispatch().name() + "." + name] += value;
      }
    }
  }
}

}  // namespace heddle::replay
