// The limit studies against the engine and against plain counting, on random programs.
#include "replay/analysis/limit_study.h"

#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/logged_runs.h"
#include "tests/conformance/random_case.h"
#include "tests/reference/thread_expansion.h"
#include "tests/replay/lane_activity_oracle.h"

namespace heddle::replay {
namespace {

std::vector<LaunchLimits> Limits(const RandomCase& random_case, LimitOptions options) {
  options.warp_size = random_case.machine.core().warp_size();
  const auto limits = StudyLimits(*random_case.reader, options);
  EXPECT_TRUE(limits.ok()) << limits.status();
  return limits.ok() ? *limits : std::vector<LaunchLimits>();
}

// What the study says of warps that never rejoin, and of those that rejoin at post-dominators, is what a replay does.
TEST(LimitStudy, CountsTheIssuesOfNrecAndPdom) {
  size_t gains = 0;
  size_t greedy = 0;
  for (const uint64_t seed : Seeds(760'001, 150)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    const auto logs = LogsOf(*random_case.reader, random_case.machine, {"nrec", "pdom"}, "fifo");
    uint64_t nrec = 0;
    uint64_t pdom = 0;
    for (const LaunchLimits& launch : Limits(random_case, {})) {
      nrec += launch.nrec_issues;
      pdom += launch.pdom_issues;
      EXPECT_LE(launch.optimal_issues, launch.pdom_issues);
      EXPECT_LE(launch.pdom_issues, launch.nrec_issues);
      EXPECT_LE(launch.lane_activity_issues, launch.optimal_issues);
      gains += launch.optimal_issues < launch.pdom_issues;
      greedy += launch.heuristic_warps;
    }
    EXPECT_EQ(nrec, logs[0].size());
    EXPECT_EQ(pdom, logs[1].size());
    if (HasFailure()) return;
  }
  EXPECT_GT(gains, 0);
  EXPECT_GT(greedy, 0);
}

TEST(LimitStudy, LaneActivityIsThatOfPlainCounting) {
  for (const uint64_t seed : Seeds(770'001, 60)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    for (int variant = 0; variant < 8; ++variant) {
      LimitOptions options;
      options.reconvergence = false;
      options.lane_fixed = (variant & 1) == 0;
      options.swizzle = (variant & 2) != 0;
      options.scope_is_block = (variant & 4) == 0;
      LaneActivityOracle::Options plain;
      plain.warp_size = random_case.machine.core().warp_size();
      plain.lane_fixed = options.lane_fixed;
      plain.swizzle_even_odd = options.swizzle;
      plain.scope_is_block = options.scope_is_block;
      const std::vector<LaunchLimits> limits = Limits(random_case, options);
      for (size_t i = 0; i < limits.size(); ++i) {
        LaneActivityOracle oracle(plain);
        const auto blocks = ExpandWalk(*random_case.reader, random_case.reader->launches()[i]);
        ASSERT_TRUE(blocks.ok()) << blocks.status();
        for (const ExpandedBlock& block : *blocks) {
          for (uint32_t thread = 0; thread < block.threads.size(); ++thread) {
            for (const ScriptStep& step : block.threads[thread]) oracle.Add(block.block, thread, step.pc, step.depth);
          }
        }
        EXPECT_EQ(limits[i].lane_activity_issues, oracle.warps()) << "variant " << variant;
        EXPECT_EQ(limits[i].thread_instructions, oracle.thread_instructions());
      }
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
