// The rules that every divergence policy keeps with every scheduler, on random structured programs. The policies come
// from the registries; a new policy file is tested without an edit here.
#include <algorithm>
#include <array>
#include <deque>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/engine/replay_launch.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/memory_policy.h"
#include "replay/seams/warp_scheduler.h"
#include "tests/conformance/checked_replay.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/conformance/random_case.h"
#include "tests/conformance/small_hierarchy.h"
#include "tests/random/random.h"
#include "tests/random/random_machine.h"
#include "tests/random/random_trace.h"
#include "tests/reference/thread_expansion.h"

namespace heddle::replay {
namespace {

using testing::HasSubstr;

TEST(Registries, SchedulersThatNeedRegroupingAreRefusedElsewhereWithTheirReason) {
  for (const auto& [divergence, policy] : DivergenceRegistry::Get().entries()) {
    for (const auto& [scheduler, entry] : SchedulerRegistry::Get().entries()) {
      Configuration configuration;
      configuration.divergence = {divergence, ""};
      configuration.scheduler = {scheduler, ""};
      const absl::Status status = Validate(configuration);
      SCOPED_TRACE(absl::StrCat(divergence, " / ", scheduler));
      const std::string& reason = entry.info.traits.needs_regrouping;
      if (!reason.empty() && policy.info.traits.regrouping != Regrouping::kEveryInstruction) {
        ASSERT_FALSE(status.ok());
        const std::string message(status.message());
        EXPECT_THAT(message, HasSubstr(divergence));
        EXPECT_THAT(message, HasSubstr(scheduler));
        EXPECT_THAT(message, HasSubstr(reason));
        EXPECT_THAT(message, testing::Not(HasSubstr("\n")));
        std::cout << "refused: " << message << "\n";
      } else {
        EXPECT_TRUE(status.ok()) << status;
      }
    }
  }
}

TEST(Registries, EveryPolicyAndSchedulerIsInAnAcceptedPair) {
  if (OnlySomeAreWanted()) GTEST_SKIP() << "most pairs are left out";
  std::set<std::string> seen;
  for (const AcceptedConfiguration& checked : DefaultConfigurations().accepted) {
    seen.insert("divergence " + checked.configuration.divergence.name);
    seen.insert("scheduler " + checked.configuration.scheduler.name);
  }
  for (const auto& [name, entry] : DivergenceRegistry::Get().entries())
    EXPECT_TRUE(seen.contains(std::string("divergence ") + name));
  for (const auto& [name, entry] : SchedulerRegistry::Get().entries())
    EXPECT_TRUE(seen.contains(std::string("scheduler ") + name));
  for (const char* name : {"nrec", "pdom", "dwf", "mimd"})
    EXPECT_TRUE(seen.contains(std::string("divergence ") + name));
  for (const char* name : {"lrr", "gto", "fifo"}) EXPECT_TRUE(seen.contains(std::string("scheduler ") + name));
}

constexpr std::array<PolicySpec Configuration::*, 5> kSeams = {&Configuration::divergence, &Configuration::scheduler,
                                                               &Configuration::dispatch, &Configuration::fetch,
                                                               &Configuration::memory};

template <typename Registry>
std::vector<std::string> NamesIn() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registry::Get().entries()) names.push_back(name);
  return names;
}

// Whether some divergence policy and some scheduler go with the two.
bool GoTogether(size_t seam, const std::string& one, size_t other_seam, const std::string& other) {
  for (const std::string& divergence : NamesIn<DivergenceRegistry>()) {
    for (const std::string& scheduler : NamesIn<SchedulerRegistry>()) {
      Configuration configuration;
      configuration.divergence.name = divergence;
      configuration.scheduler.name = scheduler;
      (configuration.*kSeams[seam]).name = one;
      (configuration.*kSeams[other_seam]).name = other;
      if (Validate(configuration).ok()) return true;
    }
  }
  return false;
}

TEST(Registries, EveryTwoPoliciesOfTwoSeamsThatGoTogetherAreInAConfiguration) {
  if (OnlySomeAreWanted()) GTEST_SKIP() << "most pairs are left out";
  const std::array<std::vector<std::string>, 5> policies = {NamesIn<DivergenceRegistry>(), NamesIn<SchedulerRegistry>(),
                                                            NamesIn<DispatchRegistry>(), NamesIn<FetchRegistry>(),
                                                            NamesIn<MemoryRegistry>()};
  std::set<std::tuple<size_t, std::string, size_t, std::string>> seen;
  for (const AllConfigurations& all : {DefaultConfigurations(Seams::kAll), MemoryConfigurations(/*varied=*/false)}) {
    for (const AcceptedConfiguration& one : all.accepted) {
      for (size_t a = 0; a < kSeams.size(); ++a) {
        for (size_t b = a + 1; b < kSeams.size(); ++b) {
          seen.emplace(a, (one.configuration.*kSeams[a]).name, b, (one.configuration.*kSeams[b]).name);
        }
      }
    }
  }
  for (size_t a = 0; a < kSeams.size(); ++a) {
    for (size_t b = a + 1; b < kSeams.size(); ++b) {
      for (const std::string& one : policies[a]) {
        for (const std::string& other : policies[b]) {
          EXPECT_EQ(seen.contains({a, one, b, other}), GoTogether(a, one, b, other)) << one << " and " << other;
        }
      }
    }
  }
}

TEST(PolicyRules, HoldForEveryPairWithDefaultParametersOnRandomPrograms) {
  const std::vector<AcceptedConfiguration> all = DefaultConfigurations(Seams::kAll).accepted;
  for (const uint64_t seed : Seeds(100'001, 200)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    ExpectRulesKept(*random_case.reader, random_case.machine, ForMachine(all, random_case.machine));
    if (HasFailure()) return;
  }
}

TEST(PolicyRules, HoldForEveryPairWithInstructionBuffers) {
  for (const uint64_t seed : Seeds(400'001, 60)) {
    const RandomCase random_case = MakeBufferCase(seed);
    SCOPED_TRACE(random_case.Text());
    ExpectRulesKept(*random_case.reader, random_case.machine,
                    ForMachine(DefaultConfigurations(Seams::kAll).accepted, random_case.machine));
    if (HasFailure()) return;
  }
}

TEST(PolicyRules, HoldForEveryPairWithEveryParameterVariedOnRandomPrograms) {
  const std::vector<AcceptedConfiguration> all = VariedConfigurations(Seams::kAll).accepted;
  for (const uint64_t seed : Seeds(200'001, 40)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    ExpectRulesKept(*random_case.reader, random_case.machine, ForMachine(all, random_case.machine));
    if (HasFailure()) return;
  }
}

TEST(PolicyRules, HoldForEveryMemoryPolicyBeforeSmallCaches) {
  std::vector<AcceptedConfiguration> all = MemoryConfigurations(/*varied=*/false).accepted;
  for (AcceptedConfiguration& varied : MemoryConfigurations(/*varied=*/true).accepted) all.push_back(std::move(varied));
  if (all.empty()) GTEST_SKIP() << "no memory policy is wanted";
  all = Shuffled(std::move(all));
  constexpr size_t kPerProgram = 12;
  std::deque<AcceptedConfiguration> queue(all.begin(), all.end());
  std::ranges::rotate(queue, queue.begin() + static_cast<ptrdiff_t>(Slice() * Programs(60) * kPerProgram % all.size()));
  std::set<std::string> run;
  for (const uint64_t seed : Seeds(500'001, 60)) {
    const RandomCase random_case = MakeCacheCase(seed);
    SCOPED_TRACE(random_case.Text());
    const std::vector<AcceptedConfiguration> some = TakeForMachine(queue, kPerProgram, random_case.machine);
    ExpectRulesKept(*random_case.reader, random_case.machine, some);
    if (HasFailure()) return;
    for (const AcceptedConfiguration& one : some) run.insert(one.Text());
  }
  // A thorough run leaves none out.
  EXPECT_GE(run.size(), std::min(all.size(), Programs(60) * kPerProgram / 2));
}

// Results carry what a policy declares; and the programs are wild enough to make the known policies count.
TEST(PolicyRules, DeclaredCountersAreInTheResultAndCount) {
  if (OnlySomeAreWanted()) GTEST_SKIP() << "is about all policies of the tree";
  const std::vector<std::string> known = {"nrec.splits",
                                          "pdom.divergences",
                                          "pdom.barrier_switches",
                                          "dwf.merges",
                                          "dwf.conflict_splits",
                                          "mimd.distinct_pcs",
                                          "tbc.compactable_branches",
                                          "tbc.incompactable_branches",
                                          "tbc.jumps",
                                          "tbc.barrier_switches",
                                          "tbc.sync_wait_cycles",
                                          "tbc.stall_stall",
                                          "tbc.stall_bypass",
                                          "tbc_plus.uniform_skipped",
                                          "capri.stalled",
                                          "capri.bypassed_uniform",
                                          "capri.bypassed_diverged",
                                          "capri.table_hits",
                                          "capri.trained_adequate",
                                          "capri.trained_inadequate",
                                          "capri.bypass_bypass"};
  std::map<std::string, uint64_t> counters;
  const auto counts = [&](const std::string& name) { return counters[name] > 0; };
  const std::vector<AcceptedConfiguration> configurations = DefaultConfigurations().accepted;
  for (uint64_t seed = 300'001; seed <= 300'090; ++seed) {
    const RandomCase random_case = MakeRandomCase(seed);
    ExpectRulesKept(*random_case.reader, random_case.machine, configurations, &counters);
    if (HasFailure()) return;
    if (std::ranges::all_of(known, counts)) break;
  }
  for (const std::string& name : known) EXPECT_GT(counters[name], 0) << name;
  size_t declared = 0;
  const auto expect_all = [&](const std::string& policy, const std::vector<CounterSpec>& specs) {
    declared += specs.size();
    for (const CounterSpec& spec : specs) EXPECT_TRUE(counters.contains(policy + "." + spec.name)) << policy;
  };
  for (const auto& [name, entry] : DivergenceRegistry::Get().entries()) expect_all(name, entry.info.counters);
  for (const auto& [name, entry] : SchedulerRegistry::Get().entries()) expect_all(name, entry.info.counters);
  EXPECT_EQ(counters.size(), declared);
}

void ExpectTwoRunsAlike(const RandomCase& random_case, const std::vector<AcceptedConfiguration>& everything) {
  std::vector<AcceptedConfiguration> all = ForMachine(everything, random_case.machine);
  std::erase_if(all, [](const AcceptedConfiguration& one) { return one.may_not_fit; });
  std::vector<Configuration> configurations;
  for (const AcceptedConfiguration& checked : all) configurations.push_back(checked.configuration);
  SCOPED_TRACE(random_case.Text());
  ReplayOptions options;
  options.machine = random_case.machine;
  SortedIssueLog first_log(configurations.size());
  options.observer = &first_log;
  const auto first = Replay(*random_case.reader, configurations, options);
  ASSERT_TRUE(first.ok()) << first.status();
  // The second time alone, the other way round, and with a cache that holds nothing.
  for (size_t c = configurations.size(); c-- > 0;) {
    NoteChecked(configurations[c]);
    SortedIssueLog second_log;
    options.observer = &second_log;
    options.cache_bytes = 1;
    const auto second = Replay(*random_case.reader, {configurations[c]}, options);
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_EQ((*first)[c].ShortDebugString(), (*second)[0].ShortDebugString()) << all[c].Text();
    EXPECT_EQ(first_log.Sorted(c), second_log.Sorted()) << all[c].Text();
  }
}

TEST(PolicyRules, TwoRunsAreIdenticalToTheBit) {
  std::vector<AcceptedConfiguration> all = DefaultConfigurations(Seams::kAll).accepted;
  for (const AcceptedConfiguration& varied : VariedConfigurations(Seams::kAll).accepted) all.push_back(varied);
  for (const uint64_t seed : Seeds(400'001, 15)) {
    ExpectTwoRunsAlike(MakeRandomCase(seed), all);
    if (HasFailure()) return;
  }
}

TEST(PolicyRules, TwoRunsWithInstructionBuffersAreIdenticalToTheBit) {
  const std::vector<AcceptedConfiguration> all = DefaultConfigurations(Seams::kAll).accepted;
  for (const uint64_t seed : Seeds(410'001, 4)) {
    ExpectTwoRunsAlike(MakeBufferCase(seed), all);
    if (HasFailure()) return;
  }
}

// Whether threads whose data have come may leave the others of their warp.
bool DividesAtMemory(const AcceptedConfiguration& checked, const DivergenceContext& context) {
  const PolicySpec& spec = checked.configuration.divergence;
  const DivergenceRegistry::Entry& entry = DivergenceRegistry::Get().entries().at(spec.name);
  return (entry.make(context, *Parameters::Parse(entry.info, spec.parameters))->interests() & kLaneReturns) != 0;
}

// Where threads never part, nothing is left to a policy: the same threads issue the same instructions together.
// (Policies that regroup every instruction fill up a partial warp with threads of a full one, so for them all warps are
// full.)
TEST(PolicyRules, UniformProgramsHaveTheSameIssuesUnderAllPoliciesThatKeepLanes) {
  using Issue = std::tuple<uint32_t, uint64_t, Pc, std::set<uint32_t>>;  // launch, block, PC, threads
  std::vector<AcceptedConfiguration> laned;
  // Something to compare with, whoever is wanted; it is the first.
  laned.emplace_back();
  const machine::v1::Machine without_fetch;
  for (const auto& some : {DefaultConfigurations(Seams::kAll), VariedConfigurations(Seams::kAll)}) {
    for (const AcceptedConfiguration& checked : ForMachine(some.accepted, without_fetch)) {
      // Of dispatchers that give single warps, some put in instructions, and blocks come in parts.
      const bool comparable = !checked.mixed_pcs && !checked.any_lane && !checked.mixes_blocks && !checked.by_warp;
      if (comparable) laned.push_back(checked);
    }
  }
  if (laned.size() == 1) GTEST_SKIP() << "nothing that is wanted keeps whole warps in their lanes";
  std::vector<Configuration> configurations;
  for (const AcceptedConfiguration& checked : laned) configurations.push_back(checked.configuration);
  size_t most_compared = 0;
  for (const uint64_t seed : Seeds(500'001, 40)) {
    const uint32_t warp_size = seed % 2 == 0 ? 4 : 8;
    KernelShape shape = RandomShape(seed, warp_size);
    shape.divergent = false;
    const bool full = seed % 3 != 0;
    if (full) shape.threads_per_block = (shape.threads_per_block + warp_size - 1) / warp_size * warp_size;
    const RandomKernel kernel = MakeRandomKernel(shape);
    const auto reader = WriteAndOpen({&kernel});
    MachineNeeds needs;
    needs.warp_size = warp_size;
    needs.threads_per_block = shape.threads_per_block;
    needs.instructions = static_cast<uint32_t>(kernel.program.instruction_size());
    ReplayOptions options;
    options.machine = RandomMachine(seed, needs);
    SortedIssueLog log(configurations.size());
    options.observer = &log;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", machine { " << options.machine.ShortDebugString() << " }");
    const auto results = Replay(*reader, configurations, options);
    ASSERT_TRUE(results.ok()) << results.status();
    std::multiset<Issue> expected;
    size_t compared = 0;
    const DivergenceContext context{*reader->launches()[0].program, static_cast<int>(warp_size), 1024, 8, 1};
    for (size_t c = 0; c < configurations.size(); ++c) {
      if (!full && laned[c].regroups) continue;
      if (DividesAtMemory(laned[c], context)) continue;
      std::multiset<Issue> issues;
      for (const IssueEntry& issue : log.Sorted(c)) {
        std::set<uint32_t> threads;
        for (const LoggedLane& lane : issue.lanes) threads.insert(lane.thread);
        issues.insert({issue.launch, issue.lanes[0].block, issue.lanes[0].pc, threads});
      }
      if (compared++ == 0) expected = issues;
      NoteChecked(configurations[c]);
      EXPECT_TRUE(issues == expected) << laned[c].Text();
    }
    most_compared = std::max(most_compared, compared);
    if (HasFailure()) return;
  }
  if (!OnlySomeAreWanted()) {
    EXPECT_GE(most_compared, 3) << "the default pair is there twice";
  }
}

// timing-core: one warp of n instructions takes n times the distance from issue to issue, whoever forms and picks it.
// Policies that take time to form a warp are asked to take none.
TEST(PolicyRules, OneUniformWarpTakesItsInstructionsTimesTheLatency) {
  std::vector<AcceptedConfiguration> all = DefaultConfigurations().accepted;
  for (const AcceptedConfiguration& varied : VariedConfigurations().accepted) all.push_back(varied);
  std::vector<AcceptedConfiguration> instant;
  for (AcceptedConfiguration& checked : all) {
    PolicySpec& divergence = checked.configuration.divergence;
    constexpr char kFormation[] = "wcu_cycles_per_warp";  // of those in the tree
    if (DivergenceRegistry::Get().entries().at(divergence.name).info.Find(kFormation) != nullptr) {
      absl::StrAppend(&divergence.parameters, divergence.parameters.empty() ? "" : ",", kFormation, "=0");
    }
    const auto formation = ChoosePolicy<DivergenceRegistry>(divergence);
    ASSERT_TRUE(formation.ok()) << formation.status();
    if (formation->traits.formation_cycles == 0) instant.push_back(checked);
  }
  std::vector<Configuration> configurations;
  for (const AcceptedConfiguration& checked : instant) {
    configurations.push_back(checked.configuration);
  }
  for (const uint64_t seed : Seeds(600'001, 20)) {
    Random random(seed);
    KernelShape shape = RandomShape(seed, 8);
    shape.divergent = false;
    shape.blocks = 1;
    shape.threads_per_block = static_cast<uint32_t>(random.In(1, 8));
    const RandomKernel kernel = MakeRandomKernel(shape);
    const auto reader = WriteAndOpen({&kernel});
    MachineNeeds needs;
    needs.warp_size = 8;
    ReplayOptions options;
    options.machine = RandomMachine(seed, needs);
    options.machine.mutable_dispatch()->clear_launch_cycles();
    machine::v1::Core& core = *options.machine.mutable_core();
    core.clear_block_barriers();
    core.clear_scripted_latency();
    core.clear_registers();
    core.set_simd_width(2);
    // A multiple of the scheduler cycle, so that no cycle is lost to waiting for the next one.
    const uint32_t latency = 4 * static_cast<uint32_t>(random.In(1, 5));
    core.set_pipeline_depth(latency);
    machine::v1::FixedLatency& fixed = *options.machine.mutable_memory()->mutable_fixed();
    fixed.set_global_cycles(latency);
    fixed.set_shared_cycles(latency);
    fixed.set_local_cycles(latency);
    fixed.set_constant_cycles(latency);
    fixed.set_param_cycles(latency);
    fixed.set_texture_cycles(latency);
    fixed.set_atomic_cycles(latency);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const auto results = Replay(*reader, configurations, options);
    ASSERT_TRUE(results.ok()) << results.status();
    const auto walked = ExpandWalk(*reader, reader->launches()[0]);
    ASSERT_TRUE(walked.ok()) << walked.status();
    for (size_t c = 0; c < configurations.size(); ++c) {
      // Several ports split the threads of MIMD, which then do not issue together, yet none waits for another, unless
      // the scheduler keeps some back.
      const CheckedConfiguration checked = *CheckConfiguration(configurations[c]);
      if (checked.divergence.traits.mixed_pcs && checked.scheduler.traits.holds_back) continue;
      EXPECT_EQ((*results)[c].total().cycles(), walked->at(0).threads[0].size() * latency) << instant[c].Text();
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
