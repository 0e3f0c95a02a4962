// The engine against the reference engine under policies that use every freedom of the seams, at random.
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/random_case.h"
#include "tests/random/random.h"

namespace heddle::replay {
namespace {

AcceptedConfiguration Capricious(uint64_t seed, const std::string& divergence, const std::string& scheduler,
                                 const std::string& scope) {
  AcceptedConfiguration checked;
  checked.configuration.divergence = {divergence, "seed=" + std::to_string(seed) + ",scope=" + scope};
  checked.configuration.scheduler = {scheduler, ""};
  return checked;
}

// Sends the next block to the SM whose warps have issued least, as far as the dispatcher is told.
class LeastIssued final : public BlockDispatcher {
 public:
  explicit LeastIssued(const DispatchContext& context) : context_(context) {}
  std::optional<Assignment> Next(std::span<const SmOccupancy> sms, std::span<const bool> accepted) override {
    std::optional<uint32_t> best;
    uint64_t least = 0;
    for (uint32_t sm = 0; sm < context_.sms; ++sm) {
      if (accepted[sm] || sms[sm].resident >= sms[sm].capacity) continue;
      uint64_t sum = 0;
      for (uint32_t hw_warp = 0; hw_warp < context_.warps_per_block * context_.blocks_per_sm; ++hw_warp) {
        sum += context_.instructions(sm, hw_warp);
      }
      if (!best.has_value() || sum < least) best = sm, least = sum;
    }
    if (!best.has_value() || done()) return std::nullopt;
    return Assignment{*best, next_++};
  }
  bool done() const override { return next_ == context_.blocks; }

 private:
  const DispatchContext context_;
  uint64_t next_ = 0;
};
HEDDLE_BLOCK_DISPATCHER(PolicyInfo{.name = "least_issued", .summary = "for this test", .source = "tests"},
                        [](const DispatchContext& context, const Parameters&) {
                          return std::make_unique<LeastIssued>(context);
                        });

// No SM is then ahead of the others, which would show how much its warps are going to issue.
TEST(SeamEquality, ADispatcherSeesWhatWarpsHaveIssuedUntilNow) {
  for (const uint64_t seed : Seeds(1, 80)) {
    const RandomCase random_case = MakeRandomCase(MixAll({seed, 80}));
    SCOPED_TRACE(random_case.Text());
    Random random(MixAll({seed, 81}));
    std::vector<AcceptedConfiguration> configurations(3);
    const char* const divergence[] = {"pdom", "nrec", "its"};
    for (size_t i = 0; i < 3; ++i) {
      configurations[i].configuration.divergence = {divergence[i], ""};
      configurations[i].configuration.scheduler = {random.OneOf({"lrr", "gto", "fifo"}), ""};
      configurations[i].configuration.dispatch = {"least_issued", ""};
    }
    ExpectEqual(*random_case.reader, random_case.machine, configurations);
    if (HasFailure()) return;
  }
}

TEST(SeamEquality, WhateverAPolicyDoes) {
  for (const uint64_t seed : Seeds(1, 150)) {
    const RandomCase random_case = MakeRandomCase(MixAll({seed, 77}));
    SCOPED_TRACE(testing::Message() << "number " << seed << ", " << random_case.Text());
    Random random(MixAll({seed, 78}));
    std::vector<AcceptedConfiguration> configurations;
    for (int i = 0; i < 3; ++i) {
      configurations.push_back(Capricious(seed * 10 + i, random.Chance(70) ? "capricious" : "capricious_mixed",
                                          random.OneOf({"capricious", "capricious", "lrr", "gto", "fifo"}),
                                          random.Chance(70) ? "block" : "core"));
    }
    ComparisonOptions options;
    options.force_tick = random.Chance(20);
    options.cache_bytes = random.OneOf<uint64_t>({1, 20'000, 256u << 20});
    ExpectEqual(*random_case.reader, random_case.machine, configurations, options);
    if (HasFailure()) return;
  }
}

TEST(SeamEquality, WhateverAPolicyDoesBeforeAnyMemory) {
  for (const uint64_t seed : Seeds(1, 100)) {
    RandomCase random_case = MakeRandomCase(MixAll({seed, 177}));
    Random random(MixAll({seed, 178}));
    random_case.machine.mutable_memory()->mutable_hierarchy();
    random_case.machine.mutable_core()->clear_scripted_latency();
    random_case.machine.mutable_core()->set_pipeline_depth(random_case.machine.core().pipeline_depth() + 2);
    SCOPED_TRACE(testing::Message() << "number " << seed << ", " << random_case.Text());
    for (int i = 0; i < 3; ++i) {
      const AcceptedConfiguration configuration =
          Capricious(seed * 10 + i, random.Chance(70) ? "capricious" : "capricious_mixed",
                     random.OneOf({"capricious", "lrr", "gto"}), random.Chance(70) ? "block" : "core");
      ExpectEqualBeforeScriptedMemory(*random_case.reader, random_case.machine, configuration, seed, random.Chance(20));
    }
    if (HasFailure()) return;
  }
}

// The test above is worth what it tries: over its programs, everything that the policies count has happened.
TEST(SeamEquality, ThePoliciesUseEveryFreedom) {
  std::map<std::string, uint64_t> counters;
  uint64_t inserted = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomCase random_case = MakeRandomCase(MixAll({seed, 77}));
    std::vector<Configuration> configurations;
    for (const char* name : {"capricious", "capricious_mixed"}) {
      configurations.push_back(Capricious(seed, name, "capricious", "core").configuration);
    }
    ReplayOptions options;
    options.machine = random_case.machine;
    const auto results = Replay(*random_case.reader, configurations, options);
    ASSERT_TRUE(results.ok()) << results.status();
    for (const result::v1::Result& result : *results) {
      for (const result::v1::LaunchResult& launch : result.launch()) {
        for (const auto& [name, value] : launch.divergence_counter()) {
          counters[result.divergence().name() + "." + name] += value;
        }
        inserted += launch.inserted_instructions();
      }
    }
  }
  EXPECT_EQ(counters.size(), 16);
  for (const auto& [name, count] : counters) EXPECT_GT(count, 20) << name;
  EXPECT_GT(inserted, 20);
}

// The capricious scheduler counts what the formation's promises to schedulers rule out.
TEST(SeamEquality, SchedulersAreToldWhatTheyArePromised) {
  uint64_t long_waits = 0;
  for (const uint64_t seed : Seeds(1, 30)) {
    const RandomCase random_case = MakeRandomCase(MixAll({seed, 79}));
    SCOPED_TRACE(random_case.Text());
    std::vector<Configuration> configurations;
    for (const auto& [name, entry] : DivergenceRegistry::Get().entries()) {
      Configuration configuration;
      configuration.divergence = {name, ""};
      configuration.scheduler = {"capricious", ""};
      configurations.push_back(configuration);
    }
    ReplayOptions options;
    options.machine = random_case.machine;
    const auto results = Replay(*random_case.reader, configurations, options);
    ASSERT_TRUE(results.ok()) << results.status();
    for (const result::v1::Result& result : *results) {
      for (const result::v1::LaunchResult& launch : result.launch()) {
        EXPECT_EQ(launch.scheduler_counter().at("broken_promises"), 0) << result.divergence().name();
        long_waits += launch.scheduler_counter().at("long_waits");
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(long_waits, 0);
}

}  // namespace
}  // namespace heddle::replay
