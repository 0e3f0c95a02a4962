// The table that compares runs.
#include "tools/show/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

result::v1::Result ResultOf(const std::string& divergence, const std::string& scheduler, uint64_t cycles) {
  result::v1::Result result;
  result.mutable_divergence()->set_name(divergence);
  result.mutable_scheduler()->set_name(scheduler);
  result.mutable_dispatch()->set_name("thread_blocks");
  result.mutable_provenance()->set_trace_digest("0123456789abcdef0123");
  result.mutable_provenance()->mutable_machine()->set_name("toy");
  auto* launch = result.add_launch();
  launch->set_kernel("bfs_level");
  launch->set_cycles(cycles);
  launch->set_blocks(2);
  launch->set_threads(128);
  launch->set_blocks_per_sm(8);
  launch->set_residency_limit("blocks");
  launch->set_blocks_per_sm_fewer_registers(8);
  launch->set_blocks_per_sm_more_registers(8);
  launch->set_depth_utilisation(75);
  launch->mutable_scheduler_cycles()->set_total(cycles);
  auto* total = result.mutable_total();
  total->set_cycles(cycles);
  total->set_thread_instructions(20'000);
  total->set_ipc(20'000.0 / static_cast<double>(cycles));
  total->set_lane_activity(50);
  return result;
}

TEST(ResultReport, ShowsARowPerRunWithSpeedUpOverPdom) {
  EXPECT_EQ(ResultReport({ResultOf("nrec", "lrr", 4000), ResultOf("pdom", "lrr", 2000), ResultOf("pdom", "gto", 1000)},
                         false),
            "Kernel bfs_level (1 launch, 20,000 thread-instructions), machine toy, trace 0123456789ab\n"
            "\n"
            "divergence  scheduler  cycles    IPC  lane activity  depth used  speed-up\n"
            "----------  ---------  ------  -----  -------------  ----------  --------\n"
            "nrec        lrr         4,000   5.00         50.0 %      75.0 %      0.50\n"
            "pdom        lrr         2,000  10.00         50.0 %      75.0 %      1.00\n"
            "pdom        gto         1,000  20.00         50.0 %      75.0 %      2.00\n"
            "\n"
            "Speed-up: cycles of pdom with lrr divided by cycles of the run.\n"
            "\n"
            "Blocks of bfs_level: 8 per SM (bounded by blocks; also with 8 registers more or fewer).\n");
}

// Two launches: counts add up, of the others the largest counts.
TEST(ResultReport, ShowsWhatPoliciesCountIfItIsAskedFor) {
  result::v1::Result dws = ResultOf("dws", "turns", 2000);
  *dws.add_launch() = dws.launch(0);
  dws.mutable_divergence()->add_largest("deepest");
  for (int launch = 0; launch < 2; ++launch) {
    auto& counters = *dws.mutable_launch(launch)->mutable_divergence_counter();
    counters["splits"] = 600 + static_cast<uint64_t>(launch);
    counters["deepest"] = 7 - static_cast<uint64_t>(launch);
    counters["never"] = 0;
    (*dws.mutable_launch(launch)->mutable_scheduler_counter())["splits"] = 1;
  }
  result::v1::Result pdom = ResultOf("pdom", "turns", 2000);
  (*pdom.mutable_launch(0)->mutable_scheduler_counter())["splits"] = 5;
  const std::vector<result::v1::Result> results = {dws, pdom};
  EXPECT_THAT(ResultReport(results, false), Not(HasSubstr("What policies count")));
  EXPECT_THAT(ResultReport(results, false, {.all = true, .names = {}}),
              HasSubstr("What policies count themselves (`heddle policies NAME` says what it is)\n"
                        "divergence  scheduler  deepest  divergence.splits  scheduler.splits\n"
                        "----------  ---------  -------  -----------------  ----------------\n"
                        "dws         turns            7              1,201                 2\n"
                        "pdom        turns            -                  -                 5\n"));
  EXPECT_THAT(ResultReport(results, false, {.all = false, .names = {"never", "deepest"}}),
              HasSubstr("divergence  scheduler  deepest  never\n"
                        "----------  ---------  -------  -----\n"
                        "dws         turns            7      0\n"
                        "pdom        turns            -      -\n"));
  EXPECT_THAT(ResultReport({ResultOf("pdom", "lrr", 1)}, false, {.all = true, .names = {}}),
              HasSubstr("No policy of these runs has counted anything of its own."));
}

TEST(ResultReport, SaysWhoCountedTheRegisters) {
  result::v1::Result result = ResultOf("pdom", "lrr", 2000);
  result.mutable_launch(0)->set_registers_per_thread(20);
  result.mutable_launch(0)->set_code("machine code 8.0 by ptxas for sm_80");
  EXPECT_THAT(ResultReport({result}, true),
              HasSubstr("bounded by blocks; 20 registers per thread by the assembler)\n"));
  result.mutable_launch(0)->set_code("PTX 9.0 by NVVM 13.0 for sm_80");
  EXPECT_THAT(ResultReport({result}, false), HasSubstr("also with 8 registers more or fewer)"));
  result.mutable_provenance()->add_override("registers=assembler:sm_80");
  EXPECT_THAT(ResultReport({result}, false), HasSubstr("20 registers per thread by the assembler for sm_80)"));
  result.mutable_provenance()->add_override("registers=bfs_level=20");
  EXPECT_THAT(ResultReport({result}, false), HasSubstr("20 registers per thread by the command line)"));
}

TEST(ResultReport, OneRunHasNoSpeedUp) {
  EXPECT_THAT(ResultReport({ResultOf("pdom", "lrr", 2000)}, true), Not(HasSubstr("speed-up")));
}

TEST(ResultReport, ShowsDispatchersAndFetchPoliciesThatAreNotTheUsualOnes) {
  std::vector<result::v1::Result> results = {ResultOf("nrec", "lrr", 4000), ResultOf("pdom", "lrr", 2000)};
  for (result::v1::Result& result : results) result.mutable_fetch()->set_name("round_robin");
  EXPECT_THAT(ResultReport(results, false), AllOf(Not(HasSubstr("dispatch")), Not(HasSubstr("fetch"))));
  for (result::v1::Result& result : results) {
    result.mutable_dispatch()->set_name("warps");
    result.mutable_fetch()->set_name("cff");
  }
  EXPECT_THAT(ResultReport(results, false), AllOf(HasSubstr("divergence  scheduler  dispatch  fetch  cycles"),
                                                  HasSubstr("nrec        lrr        warps     cff     4,000")));
}

TEST(ResultReport, TellsHowTheResidencyDependsOnTheRegisters) {
  result::v1::Result result = ResultOf("pdom", "lrr", 1000);
  result.mutable_launch(0)->set_residency_limit("registers");
  result.mutable_launch(0)->set_blocks_per_sm_more_registers(6);
  EXPECT_THAT(
      ResultReport({result}, false),
      HasSubstr("\nBlocks of bfs_level: 8 per SM (bounded by registers; 6 with 8 registers more per thread, 8 with "
                "8 fewer).\n"));
  result.mutable_launch(0)->set_blocks_per_sm_more_registers(0);
  EXPECT_THAT(ResultReport({result}, false), HasSubstr("; none with 8 registers more per thread"));
}

result::v1::Result WithSeed(result::v1::Result result, uint64_t seed) {
  result.mutable_provenance()->set_seed(seed);
  result.mutable_provenance()->mutable_machine()->mutable_memory()->mutable_hierarchy()->set_jitter_cycles(4);
  return result;
}

TEST(ResultReport, RunsThatDifferInTheirSeedAreARowOfMeansWithTheJitter) {
  const std::string text =
      ResultReport({WithSeed(ResultOf("pdom", "lrr", 1000), 1), WithSeed(ResultOf("pdom", "lrr", 1100), 2),
                    WithSeed(ResultOf("nrec", "lrr", 1090), 1), WithSeed(ResultOf("nrec", "lrr", 1200), 2),
                    WithSeed(ResultOf("mimd", "lrr", 800), 1), WithSeed(ResultOf("mimd", "lrr", 820), 2)},
                   false);
  EXPECT_THAT(text, HasSubstr("divergence  scheduler  cycles   jitter    IPC  lane activity  depth used  speed-up\n"));
  EXPECT_THAT(text,
              HasSubstr("\npdom        lrr         1,050  +-4.8 %  19.09         50.0 %      75.0 %      1.00\n"));
  EXPECT_THAT(text,
              HasSubstr("\nnrec        lrr         1,145  +-4.8 %  17.51         50.0 %      75.0 %      0.92  within "
                        "jitter\n"))
      << "1090 to 1200 overlaps with 1000 to 1100";
  EXPECT_THAT(text,
              HasSubstr("\nmimd        lrr           810  +-1.2 %  24.70         50.0 %      75.0 %      1.30\n"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("Means of 2 runs with up to 4 cycles of noise"), HasSubstr("Speed-up: cycles of pdom")));
}

TEST(ResultReport, RunsOfTheSamePoliciesWithoutSeedsAreRowsOfTheirOwn) {
  EXPECT_THAT(ResultReport({ResultOf("pdom", "lrr", 1000), ResultOf("pdom", "lrr", 1000)}, false),
              Not(HasSubstr("jitter")));
}

TEST(ResultReport, WithoutPdomTheFirstRunIsTheBase) {
  EXPECT_THAT(ResultReport({ResultOf("nrec", "lrr", 4000), ResultOf("mimd", "lrr", 1000)}, false),
              AllOf(HasSubstr("     4.00\n"), HasSubstr("cycles of nrec with lrr")));
}

TEST(ResultReport, ShowsTheParametersInWhichRunsDiffer) {
  result::v1::Result a = ResultOf("dwf", "lrr", 10);
  result::v1::Result b = ResultOf("dwf", "lrr", 20);
  (*a.mutable_divergence()->mutable_parameter())["lane_aware"] = "true";
  (*b.mutable_divergence()->mutable_parameter())["lane_aware"] = "false";
  (*a.mutable_divergence()->mutable_parameter())["scope"] = "block";
  (*b.mutable_divergence()->mutable_parameter())["scope"] = "block";
  EXPECT_THAT(ResultReport({a, b}, false),
              AllOf(HasSubstr("dwf:lane_aware=true "), HasSubstr("dwf:lane_aware=false "), Not(HasSubstr("scope"))));
}

TEST(ResultReport, ANumberThatIsNotDefinedIsADash) {
  result::v1::Result run = ResultOf("pdom", "lrr", 0);
  run.mutable_total()->clear_ipc();
  run.mutable_total()->clear_lane_activity();
  run.mutable_launch(0)->clear_depth_utilisation();
  EXPECT_THAT(ResultReport({run, ResultOf("pdom", "gto", 10)}, false),
              HasSubstr("lrr             0        -              -           -         -\n"));
}

TEST(ResultReport, PerLaunchAddsATableForEachLaunch) {
  EXPECT_THAT(ResultReport({ResultOf("pdom", "lrr", 2000)}, true),
              HasSubstr("\nLaunch 0: bfs_level, 2 blocks of 64 threads, 8 per SM (bounded by blocks; also "
                        "with 8 registers more or fewer)\n  divergence  scheduler"));
}

TEST(ResultReport, NotesAreShownOnce) {
  result::v1::Result a = ResultOf("pdom", "lrr", 1);
  result::v1::Result b = ResultOf("nrec", "lrr", 1);
  a.add_note("the trace has 3 of 9 blocks");
  b.add_note("the trace has 3 of 9 blocks");
  const std::string text = ResultReport({a, b}, false);
  const size_t first = text.find("Note: the trace has 3 of 9 blocks\n");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("Note:", first + 1), std::string::npos);
}

}  // namespace
}  // namespace heddle::tools
