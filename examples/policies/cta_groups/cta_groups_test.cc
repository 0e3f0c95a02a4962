// Four blocks of one warp each, whose second instruction is a load of six cycles: groups of two blocks.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tests/replay/scenario.h"

namespace heddle::replay {
namespace {

// Thread blocks in the order of their issues.
class Blocks : public IssueObserver {
 public:
  void Issued(const IssueEvent& event) override { text += std::to_string(event.lanes[0].block); }
  std::string text;
};

std::string IssuesUnder(const std::string& scheduler) {
  Scenario scenario;
  scenario.Block('A', 4, "").Memory('A', 1, trace::v1::SPACE_GLOBAL);
  for (int block = 0; block < 4; ++block) scenario.ThreadBlock(std::vector<std::string>(4, "A"));
  ReplayOptions options;
  options.machine = *LoadMachine("toy");
  options.machine.mutable_memory()->mutable_fixed()->set_global_cycles(6);
  Blocks blocks;
  options.observer = &blocks;
  Configuration configuration;
  configuration.scheduler = PolicySpec::FromText(scheduler);
  const auto results = Replay(*scenario.Trace(), {configuration}, options);
  EXPECT_TRUE(results.ok()) << results.status();
  return blocks.text;
}

// Blocks come in one per cycle. The first group runs until both of its warps wait for memory, then the second.
TEST(CtaGroups, AGroupKeepsTheTurnUntilAllOfItWaits) {
  const std::string issues = IssuesUnder("cta_groups:blocks=2");
  EXPECT_EQ(issues.substr(0, 8), "00112233");
  EXPECT_EQ(issues.size(), 16);
}

TEST(CtaGroups, OneGroupOfAllIsRoundRobin) { EXPECT_EQ(IssuesUnder("cta_groups:blocks=4"), IssuesUnder("lrr")); }

}  // namespace
}  // namespace heddle::replay
