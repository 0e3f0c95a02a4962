// What LWM is equal to at its limits, on random programs.
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "replay/divergence/divergence_policy.h"
#include "replay/engine/replay.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/conformance/random_case.h"

namespace heddle::replay {
namespace {

// The logs of the case under each divergence policy, first in first out.
std::vector<std::vector<LoggedIssue>> Logs(const RandomCase& random_case, const machine::v1::Machine& machine,
                                           const std::vector<std::string>& policies) {
  std::vector<Configuration> configurations;
  for (const std::string& policy : policies) {
    Configuration& configuration = configurations.emplace_back();
    configuration.divergence = PolicySpec::FromText(policy);
    configuration.scheduler = {"fifo", ""};
  }
  ReplayOptions options;
  options.machine = machine;
  IssueLog log(configurations.size());
  options.observer = &log;
  const auto results = Replay(*random_case.reader, configurations, options);
  EXPECT_TRUE(results.ok()) << results.status();
  std::vector<std::vector<LoggedIssue>> logs;
  for (size_t c = 0; c < configurations.size(); ++c) logs.push_back(log.Sorted(c));
  return logs;
}

// Large warps of one row are warps with a stack each: the same issues in the same cycles, whenever the next instruction
// is fetched.
TEST(LwmEquivalences, LargeWarpsOfOneRowAreThoseOfPdom) {
  size_t issues = 0;
  for (uint64_t seed = 700'001; seed <= 700'000 + Programs(150); ++seed) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    machine::v1::Machine machine = random_case.machine;
    machine.mutable_core()->set_schedulers(1);  // several would share out PDOM's and LWM's warps differently
    const std::string row = "lwm:large_warp_threads=" + std::to_string(machine.core().warp_size());
    const auto logs = Logs(random_case, machine, {"pdom", row, row + ",refetch=first"});
    EXPECT_TRUE(logs[1] == logs[0]) << "refetch=last";
    EXPECT_TRUE(logs[2] == logs[0]) << "refetch=first";
    issues += logs[0].size();
    if (HasFailure()) return;
  }
  EXPECT_GT(issues, 100 * Programs(150));
}

// With the whole block as one large warp that waits for all its sub-warps, packing at every instruction forms the warps
// that thread block compaction forms where threads part and meet.
TEST(LwmEquivalences, OneLargeWarpPerBlockIssuesAsThreadBlockCompaction) {
  size_t issues = 0;
  for (uint64_t seed = 720'001; seed <= 720'000 + Programs(100); ++seed) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    auto logs = Logs(random_case, random_case.machine, {"tbc", "lwm:large_warp_threads=0"});
    ASSERT_EQ(logs[1].size(), logs[0].size());
    issues += logs[0].size();
  }
  EXPECT_GT(issues, 50 * Programs(100));
}

// Larger warps find more threads to pack: never more issues than one row at a time, and on the whole fewer.
TEST(LwmEquivalences, WaitingForAllSubWarpsNeverIssuesMoreThanPdom) {
  size_t fewer = 0;
  for (uint64_t seed = 710'001; seed <= 710'000 + Programs(100); ++seed) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    const auto logs = Logs(random_case, random_case.machine, {"pdom", "lwm", "lwm:large_warp_threads=0"});
    EXPECT_LE(logs[1].size(), logs[0].size());
    EXPECT_LE(logs[2].size(), logs[0].size());
    fewer += logs[2].size() < logs[0].size();
    if (HasFailure()) return;
  }
  EXPECT_GT(fewer, Programs(100) / 5);
}

}  // namespace
}  // namespace heddle::replay
