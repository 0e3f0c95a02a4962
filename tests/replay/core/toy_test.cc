// The worked examples of the specifications through the whole engine, from a trace file on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tests/replay/scenario.h"

namespace heddle::replay {
namespace {

class Recorder : public IssueObserver {
 public:
  void Issued(const IssueEvent& event) override {
    LoggedIssue issue;
    issue.cycle = event.cycle;
    for (const IssueEvent::Lane& lane : event.lanes) {
      issue.members.push_back({lane.lane, lane.pc, lane.block, lane.thread});
    }
    issues.push_back(std::move(issue));
  }
  std::vector<LoggedIssue> issues;
};

// Fung's thesis, figure 3.1.
Scenario FungFigure31() {
  Scenario scenario;
  scenario.Block('A', 1, "BF", 'G')
      .Block('B', 1, "CD", 'E')
      .Block('C', 1, "E")
      .Block('D', 1, "E")
      .Block('E', 1, "G")
      .Block('F', 1, "G")
      .Block('G', 1, "")
      .ThreadBlock({"ABCEG", "ABDEG", "ABDEG", "AFG"});
  return scenario;
}

std::string RunToy(const Scenario& scenario, const std::string& divergence, const std::string& scheduler,
                   result::v1::Result* out = nullptr) {
  const std::unique_ptr<trace::TraceReader> trace = scenario.Trace();
  ReplayOptions options;
  options.machine = LoadMachine("toy").value();
  Recorder recorder;
  options.observer = &recorder;
  Configuration configuration;
  configuration.divergence = PolicySpec::FromText(divergence);
  configuration.scheduler = PolicySpec::FromText(scheduler);
  const auto results = Replay(*trace, {configuration}, options);
  if (!results.ok()) return results.status().ToString();
  if (out != nullptr) *out = results->at(0);
  return scenario.Format(recorder.issues, 4);
}

TEST(ToyMachine, FollowsFungFigure31UnderPdom) {
  result::v1::Result result;
  EXPECT_EQ(RunToy(FungFigure31(), "pdom", "fifo", &result), "A[0123] B[012-] C[0---] D[-12-] E[012-] F[---3] G[0123]");
  EXPECT_EQ(result.total().cycles(), 7);
  EXPECT_EQ(result.total().warp_instructions(), 7);
  EXPECT_EQ(result.total().thread_instructions(), 18);
}

}  // namespace
}  // namespace heddle::replay
