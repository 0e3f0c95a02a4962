// What LWM is equal to at its limits, on random programs.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/logged_runs.h"
#include "tests/conformance/random_case.h"

namespace heddle::replay {
namespace {

// Large warps of one row are warps with a stack each: the same issues in the same cycles, whenever the next instruction
// is fetched.
TEST(LwmEquivalences, LargeWarpsOfOneRowAreThoseOfPdom) {
  size_t issues = 0;
  for (const uint64_t seed : Seeds(700'001, 150)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    machine::v1::Machine machine = random_case.machine;
    machine.mutable_core()->set_schedulers(1);  // several would share out PDOM's and LWM's warps differently
    const std::string row = "lwm:large_warp_threads=" + std::to_string(machine.core().warp_size());
    const auto logs =
        LogsOf(*random_case.reader, machine, std::vector<std::string>{"pdom", row, row + ",refetch=first"}, "fifo");
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
  for (const uint64_t seed : Seeds(720'001, 100)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    auto logs = LogsOf(*random_case.reader, random_case.machine,
                       std::vector<std::string>{"tbc", "lwm:large_warp_threads=0"}, "fifo");
    ASSERT_EQ(logs[1].size(), logs[0].size());
    issues += logs[0].size();
  }
  EXPECT_GT(issues, 50 * Programs(100));
}

// Larger warps find more threads to pack: never more issues than one row at a time, and on the whole fewer.
TEST(LwmEquivalences, WaitingForAllSubWarpsNeverIssuesMoreThanPdom) {
  size_t fewer = 0;
  for (const uint64_t seed : Seeds(710'001, 100)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    const auto logs = LogsOf(*random_case.reader, random_case.machine,
                             std::vector<std::string>{"pdom", "lwm", "lwm:large_warp_threads=0"}, "fifo");
    EXPECT_LE(logs[1].size(), logs[0].size());
    EXPECT_LE(logs[2].size(), logs[0].size());
    fewer += logs[2].size() < logs[0].size();
    if (HasFailure()) return;
  }
  EXPECT_GT(fewer, Programs(100) / 5);
}

}  // namespace
}  // namespace heddle::replay
