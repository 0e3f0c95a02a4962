// What the policies that reorder a warp's splits are equal to, on random programs.
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/logged_runs.h"
#include "tests/conformance/random_case.h"

namespace heddle::replay {
namespace {

// One path at a time, the latest first: the same issues in the same cycles.
TEST(SplitEquivalences, OnePathAtATimeIsPdom) {
  size_t issues = 0;
  for (const uint64_t seed : Seeds(730'001, 150)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    const std::vector<std::string> policies = {"pdom", "its", "dpe:paths=1",
                                               "dws:branch=none,memory=none,pc_reconvergence=false",
                                               "subwarp_interleaving:subwarps=1,yield=false"};
    const auto logs = LogsOf(*random_case.reader, random_case.machine, policies, "fifo");
    for (size_t i = 1; i < policies.size(); ++i) EXPECT_TRUE(logs[i] == logs[0]) << policies[i];
    issues += logs[0].size();
    if (HasFailure()) return;
  }
  EXPECT_GT(issues, 100 * Programs(150));
}

// Whatever the order of the paths, they meet at the same reconvergence points, so the same threads issue together.
TEST(SplitEquivalences, TheOrderOfPathsDoesNotChangeWhoIssuesTogether) {
  size_t reordered = 0;
  const std::vector<std::string> policies = {"pdom",
                                             "its:yield=backward_branch",
                                             "its:yield=block_end",
                                             "its:yield=long_latency",
                                             "its:taken_first=false",
                                             "dpe",
                                             "subwarp_interleaving:select=any,yield=false",
                                             "subwarp_interleaving:select=any,subwarps=2,switch_cycles=0",
                                             "subwarp_interleaving:scoreboard=thread",
                                             "dws:branch=always,memory=none,pc_reconvergence=false",
                                             "dws:short_block=2,memory=none,pc_reconvergence=false"};
  for (const uint64_t seed : Seeds(740'001, 100)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    const auto logs = LogsOf(*random_case.reader, random_case.machine, policies, "fifo");
    const IssuesWithoutOrder expected = WithoutOrder(logs[0]);
    for (size_t i = 1; i < policies.size(); ++i) {
      EXPECT_TRUE(WithoutOrder(logs[i]) == expected) << policies[i];
      reordered += !(logs[i] == logs[0]);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(reordered, Programs(100));
}

// Where threads rejoin is apart from the order of the paths: with the same points the same threads issue together.
// Fewer points never save an issue.
TEST(SplitEquivalences, TheSameReconvergencePointsGiveTheSameIssues) {
  size_t more = 0;
  const std::vector<std::string> policies = {
      "pdom",
      "pdom:reconvergence=compiler_barrier",
      "its:reconvergence=compiler_barrier",
      "its:reconvergence=compiler_barrier,yield=block_end",
      "dpe:reconvergence=compiler_barrier",
      "dws:reconvergence=compiler_barrier,branch=always,memory=none,pc_reconvergence=false"};
  for (const uint64_t seed : Seeds(760'001, 100)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    const auto logs = LogsOf(*random_case.reader, random_case.machine, policies, "fifo");
    EXPECT_GE(logs[1].size(), logs[0].size());
    more += logs[1].size() > logs[0].size();
    const IssuesWithoutOrder expected = WithoutOrder(logs[1]);
    for (size_t i = 2; i < policies.size(); ++i) EXPECT_TRUE(WithoutOrder(logs[i]) == expected) << policies[i];
    if (HasFailure()) return;
  }
  EXPECT_GT(more, 0);
}

bool HasBarriers(const RandomCase& random_case) {
  return std::ranges::any_of(random_case.kernels, [](const RandomKernel& kernel) {
    return std::ranges::any_of(kernel.program.instruction(),
                               [](const auto& instruction) { return instruction.op() == trace::v1::OP_BARRIER; });
  });
}

// Meeting as early as the layout allows never costs an issue on structured programs, and saves some where paths exit.
// (With barriers on diverged paths the paths do not run in the order of their PCs; such programs are left out.)
TEST(SplitEquivalences, ThreadFrontiersIssueNoMoreThanPdom) {
  size_t fewer = 0;
  size_t compared = 0;
  for (const uint64_t seed : Seeds(750'001, 300)) {
    const RandomCase random_case = MakeRandomCase(seed);
    if (HasBarriers(random_case)) continue;
    SCOPED_TRACE(random_case.Text());
    const auto logs =
        LogsOf(*random_case.reader, random_case.machine, {"pdom", "thread_frontiers", "sbi_swi:co_issue=swi"}, "fifo");
    EXPECT_LE(logs[1].size(), logs[0].size());
    EXPECT_LE(logs[2].size(), logs[1].size());
    fewer += logs[1].size() < logs[0].size();
    ++compared;
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, Programs(300) / 10);
  EXPECT_GT(fewer, 0);
}

// Paths that run in the order of their PCs and may meet at post-dominators only never do better than those that may
// meet anywhere, and sometimes worse. (Nor are they the stack's: threads of different branches may meet at one's
// post-dominator, and those that are back at a loop's start go on before the others of their iteration.)
TEST(SplitEquivalences, FewerReconvergencePointsNeverHelpThreadFrontiers) {
  size_t compared = 0;
  size_t more = 0;
  for (const uint64_t seed : Seeds(770'001, 200)) {
    const RandomCase random_case = MakeRandomCase(seed);
    if (HasBarriers(random_case)) continue;
    SCOPED_TRACE(random_case.Text());
    const std::vector<std::string> policies = {"thread_frontiers", "thread_frontiers:reconvergence=post_dominator"};
    const auto logs = LogsOf(*random_case.reader, random_case.machine, policies, "fifo");
    EXPECT_LE(logs[0].size(), logs[1].size());
    more += logs[0].size() < logs[1].size();
    ++compared;
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, Programs(200) / 10);
  EXPECT_GT(more, 0);
}

}  // namespace
}  // namespace heddle::replay
