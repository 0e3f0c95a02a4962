// Where TBC, TBC+, CAPRI and PDOM have to agree: on random programs and random machines, issue for issue.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/logged_runs.h"
#include "tests/conformance/random_case.h"
#include "tests/random/random.h"
#include "tests/random/random_machine.h"
#include "tests/random/random_trace.h"

namespace heddle::replay {
namespace {

// All of the policies issue the same warps in the same cycles.
void ExpectSameLogs(const trace::TraceReader& reader, const machine::v1::Machine& machine,
                    const std::vector<std::string>& divergence, const std::string& scheduler) {
  const auto logs = LogsOf(reader, machine, divergence, scheduler);
  for (size_t c = 1; c < logs.size(); ++c) {
    EXPECT_EQ(Difference(logs[c], logs[0]), "") << divergence[c] << " against " << divergence[0] << ", " << scheduler;
  }
}

TEST(BlockWideEquivalence, CapriThatAlwaysStallsIsTbcWithoutWaitingAtJumps) {
  for (const uint64_t seed : Seeds(1, 150)) {
    const RandomCase random_case = MakeRandomCase(MixAll({seed, 501}));
    SCOPED_TRACE(random_case.Text());
    const std::string wcu = seed % 2 == 0 ? "wcu_cycles_per_warp=0," : "";
    ExpectSameLogs(*random_case.reader, random_case.machine,
                   {"tbc_plus:" + wcu + "uniform_branches=false", "capri:" + wcu + "prediction=always_stall",
                    "tbc:" + wcu + "sync_on_same_target=false"},
                   seed % 3 == 0 ? "gto" : "lrr");
    if (HasFailure()) return;
  }
}

// A block of one warp has nothing to compact with and nobody to wait for.
TEST(BlockWideEquivalence, BlocksOfOneWarpRunAsUnderPdom) {
  for (const uint64_t seed : Seeds(1, 150)) {
    Random random(MixAll({seed, 502}));
    const uint32_t warp_size = random.OneOf({2u, 4u, 8u, 8u, 32u});
    KernelShape shape = RandomShape(MixAll({seed, 503}), warp_size);
    shape.threads_per_block = static_cast<uint32_t>(random.In(1, warp_size));
    const RandomKernel kernel = MakeRandomKernel(shape);
    const auto reader = WriteAndOpen({&kernel});
    MachineNeeds needs;
    needs.warp_size = warp_size;
    needs.threads_per_block = shape.threads_per_block;
    needs.instructions = static_cast<uint32_t>(kernel.program.instruction_size());
    const machine::v1::Machine machine = RandomMachine(seed, needs);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", machine { " << machine.ShortDebugString() << " }");
    std::vector<std::string> policies = {"pdom"};
    for (const char* block_wide :
         {"tbc:", "tbc_plus:", "capri:", "capri:history=1bS,", "capri:history=2b,", "capri:prediction=always_stall,",
          "capri:prediction=never_stall,", "capri:capt_entries=1,", "capri:run_ahead_blocks=0,",
          "capri:prediction=never_stall,run_ahead_into_rpc=false,limit_jumps=false,second_side=recompact,"}) {
      policies.push_back(std::string(block_wide) + "wcu_cycles_per_warp=0");
    }
    for (const char* scheduler : {"fifo", "lrr", "gto"}) ExpectSameLogs(*reader, machine, policies, scheduler);
    if (HasFailure()) return;
  }
}

// Compaction at every branch makes the fewest warps that these reconvergence points allow; leaving it out can only cost
// issues, and static warps, PDOM's, are one way of leaving it out.
TEST(BlockWideEquivalence, NobodyIssuesLessThanTbc) {
  uint64_t saved = 0;
  for (const uint64_t seed : Seeds(1, 150)) {
    const RandomCase random_case = MakeRandomCase(MixAll({seed, 504}));
    SCOPED_TRACE(random_case.Text());
    const auto logs = LogsOf(*random_case.reader, random_case.machine,
                             {"tbc", "pdom", "capri:prediction=never_stall", "capri", "capri:history=2b"}, "lrr");
    ASSERT_EQ(logs.size(), 5);
    for (const auto& log : logs) EXPECT_GE(log.size(), logs[0].size());
    saved += logs[2].size() - logs[0].size();
    if (HasFailure()) return;
  }
  EXPECT_GT(saved, 0);
}

}  // namespace
}  // namespace heddle::replay
