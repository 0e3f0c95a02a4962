// The event-driven engine against the plain reference engine: the same result in every field, and the same issues in
// the same cycles, whatever the program, the policies and the machine.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/conformance/random_case.h"
#include "tests/conformance/small_hierarchy.h"
#include "tests/random/random.h"
#include "tests/random/random_machine.h"
#include "tests/random/random_trace.h"

namespace heddle::replay {
namespace {

TEST(EngineEquality, RandomProgramsOnRandomMachines) {
  for (const uint64_t seed : Seeds(1, 100)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    Random random(MixAll({seed, 5}));
    ComparisonOptions options;
    options.cache_bytes = random.OneOf<uint64_t>({1, 10'000, 256u << 20});
    options.force_tick = random.Chance(30);
    ExpectEqual(*random_case.reader, random_case.machine, DrawConfigurations(random, random_case.machine, 4), options);
    if (HasFailure()) return;
  }
}

TEST(EngineEquality, EveryPairWithDefaultParametersOnTheSamePrograms) {
  for (const uint64_t seed : Seeds(10'001, 4)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    ExpectEqual(*random_case.reader, random_case.machine,
                ForMachine(DefaultConfigurations(Seams::kAll).accepted, random_case.machine));
    if (HasFailure()) return;
  }
}

// Pairs with one parameter changed, some on each program; a thorough run takes every one twice.
TEST(EngineEquality, PairsWithAParameterVaried) {
  const std::vector<AcceptedConfiguration> all = Shuffled(VariedConfigurations(Seams::kAll).accepted);
  if (all.empty()) GTEST_SKIP() << "nothing that is wanted has such a parameter";
  constexpr uint64_t kPerProgram = 60;
  for (const uint64_t seed : Seeds(20'001, 2 * (all.size() + kPerProgram - 1) / kPerProgram)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    std::vector<AcceptedConfiguration> some;
    for (uint64_t i = 0; i < std::min<uint64_t>(kPerProgram, all.size()); ++i) {
      some.push_back(all[((seed - 20'001) * kPerProgram + i) % all.size()]);
    }
    ExpectEqual(*random_case.reader, random_case.machine, ForMachine(some, random_case.machine));
    if (HasFailure()) return;
  }
}

// What fetches, on machines that do; tests/conformance/buffer_equality_test.cc has everything else there.
TEST(EngineEquality, EveryFetchPolicyWithInstructionBuffers) {
  std::vector<AcceptedConfiguration> all = DefaultConfigurations(Seams::kAll).accepted;
  for (AcceptedConfiguration& varied : VariedConfigurations(Seams::kAll).accepted) all.push_back(std::move(varied));
  std::erase_if(all, [](const AcceptedConfiguration& one) {
    return one.configuration.fetch.name == Configuration().fetch.name && one.configuration.fetch.parameters.empty();
  });
  if (all.empty()) GTEST_SKIP() << "no fetch policy is wanted";
  constexpr size_t kPerProgram = 12;
  size_t next = Slice() * Programs(20) * kPerProgram;
  for (const uint64_t seed : Seeds(80'001, 20)) {
    const RandomCase random_case = MakeBufferCase(seed);
    SCOPED_TRACE(random_case.Text());
    const std::vector<AcceptedConfiguration> some = NextOf(all, kPerProgram, next);
    ExpectEqual(*random_case.reader, random_case.machine, ForMachine(some, random_case.machine));
    if (HasFailure()) return;
  }
}

// What the data cache keeps, before caches in which everything is scarce.
TEST(EngineEquality, EveryMemoryPolicyBeforeSmallCaches) {
  std::vector<AcceptedConfiguration> all = MemoryConfigurations(/*varied=*/false).accepted;
  for (AcceptedConfiguration& varied : MemoryConfigurations(/*varied=*/true).accepted) all.push_back(std::move(varied));
  if (all.empty()) GTEST_SKIP() << "no memory policy is wanted";
  all = Shuffled(std::move(all));
  constexpr size_t kPerProgram = 6;
  size_t next = Slice() * Programs(30) * kPerProgram;
  for (const uint64_t seed : Seeds(90'001, 30)) {
    const RandomCase random_case = MakeCacheCase(seed);
    SCOPED_TRACE(random_case.Text());
    const std::vector<AcceptedConfiguration> some = NextOf(all, kPerProgram, next);
    ComparisonOptions options;
    options.force_tick = seed % 3 == 0;
    ExpectEqual(*random_case.reader, random_case.machine, ForMachine(some, random_case.machine), options);
    if (HasFailure()) return;
  }
}

// Kernels of a given size on machines of all kinds: few blocks find stale wake-ups that many blocks hide.
void ExpectEqualOnTinyGrids(uint32_t blocks, uint32_t warps_per_block, uint64_t first_seed, uint64_t full) {
  for (const uint64_t seed : Seeds(first_seed, full)) {
    KernelShape shape = RandomShape(seed, 4);
    shape.blocks = blocks;
    shape.threads_per_block = warps_per_block * 4;
    const RandomKernel kernel = MakeRandomKernel(shape);
    const auto reader = WriteAndOpen({&kernel});
    MachineNeeds needs;
    needs.warp_size = 4;
    needs.threads_per_block = shape.threads_per_block;
    needs.instructions = static_cast<uint32_t>(kernel.program.instruction_size());
    const machine::v1::Machine machine = RandomMachine(seed, needs);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", machine { " << machine.ShortDebugString() << " }");
    Random random(seed);
    ComparisonOptions options;
    options.force_tick = random.Chance(50);
    ExpectEqual(*reader, machine, DrawConfigurations(random, machine, 4), options);
    if (testing::Test::HasFailure()) return;
  }
}

// The comparison itself: a machine that is one cycle slower in one respect gives another result.
TEST(EngineEquality, AComparisonSeesOneCycleMore) {
  KernelShape shape = RandomShape(3, 8);
  shape.memory = true;
  const RandomKernel kernel = MakeRandomKernel(shape);
  const auto reader = WriteAndOpen({&kernel});
  MachineNeeds needs;
  needs.warp_size = 8;
  needs.threads_per_block = shape.threads_per_block;
  ReplayOptions options;
  options.machine = RandomMachine(3, needs);
  const auto first = Replay(*reader, {Configuration()}, options);
  ASSERT_TRUE(first.ok()) << first.status();
  options.machine.mutable_core()->set_pipeline_depth(options.machine.core().pipeline_depth() + 1);
  const auto second = Replay(*reader, {Configuration()}, options);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_NE(Difference((*first)[0].launch(0), (*second)[0].launch(0)), "");
}

TEST(EngineEquality, SevenBlocksOfTwoWarps) { ExpectEqualOnTinyGrids(7, 2, 30'000, 25); }
TEST(EngineEquality, OneBlockOfOneWarp) { ExpectEqualOnTinyGrids(1, 1, 40'000, 25); }
TEST(EngineEquality, TwoBlocksOfOneWarp) { ExpectEqualOnTinyGrids(2, 1, 50'000, 15); }
TEST(EngineEquality, OneBlockOfSixWarps) { ExpectEqualOnTinyGrids(1, 6, 60'000, 15); }

// One run per configuration, none of which stops the others.
std::vector<absl::StatusOr<result::v1::Result>> ReplayEachOn(const RandomCase& random_case,
                                                             const std::vector<Configuration>& configurations,
                                                             bool force_tick, SortedIssueLog& log) {
  ReplayOptions options;
  options.machine = random_case.machine;
  options.observer = &log;
  options.force_tick = force_tick;
  const trace::TraceReader* const traces[] = {random_case.reader.get()};
  auto outcomes = ReplayEach(traces, configurations, options);
  EXPECT_TRUE(outcomes.ok()) << outcomes.status();
  if (!outcomes.ok()) return {};
  return std::move(outcomes->front());
}

TEST(EngineEquality, TicksEveryCycleOrSleepsAlike) {
  for (const uint64_t seed : Seeds(70'001, 40)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    Random random(seed);
    const std::vector<AcceptedConfiguration> drawn = DrawConfigurations(random, random_case.machine, 6);
    std::vector<Configuration> configurations;
    for (const AcceptedConfiguration& one : drawn) configurations.push_back(one.configuration);
    if (configurations.empty()) continue;
    SortedIssueLog sleeping(configurations.size());
    const auto first = ReplayEachOn(random_case, configurations, /*force_tick=*/false, sleeping);
    SortedIssueLog ticking(configurations.size());
    const auto second = ReplayEachOn(random_case, configurations, /*force_tick=*/true, ticking);
    ASSERT_EQ(first.size(), drawn.size());
    ASSERT_EQ(second.size(), drawn.size());
    for (size_t c = 0; c < drawn.size(); ++c) {
      SCOPED_TRACE(drawn[c].Text());
      EXPECT_EQ(first[c].status(), second[c].status());
      // Its dispatcher takes registers, with which the drawn kernel's blocks are too large for the drawn machine.
      if (drawn[c].may_not_fit && absl::IsFailedPrecondition(first[c].status())) continue;
      ASSERT_TRUE(first[c].ok()) << first[c].status();
      NoteChecked(configurations[c]);
      EXPECT_EQ(Difference(*first[c], *second[c]), "");
      EXPECT_EQ(Difference(sleeping.Sorted(c), ticking.Sorted(c)), "");
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
