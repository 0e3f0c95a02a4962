// The engine against the reference engine under policies that use every freedom of the seams, at random.
#include <array>
#include <cstdint>
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
#include "tests/conformance/small_hierarchy.h"
#include "tests/random/random.h"
#include "tests/replay/sum_of_lacks.h"

namespace heddle::replay {
namespace {

AcceptedConfiguration Capricious(uint64_t seed, const std::string& divergence, const std::string& scheduler,
                                 const std::string& scope) {
  AcceptedConfiguration checked;
  checked.configuration.divergence = {divergence, "seed=" + std::to_string(seed) + ",scope=" + scope};
  checked.configuration.scheduler = {scheduler, ""};
  return checked;
}

// Static warps that part for good where their ways part, and meet again by chance. Looks at what all slots lack,
// whatever it is called for, and may park slots that wait long until they are told not to wait any more. Does nothing
// else, so that front ends with instruction buffers are tried as well.
class Watchful final : public DivergencePolicy {
 public:
  explicit Watchful(const Parameters& parameters) : random_(static_cast<uint64_t>(parameters.Integer("seed"))) {
    for (const uint32_t interest : {kEveryBlockEnd, kBarriers, kEveryCycle, kLaneReturns}) {
      if (random_.Chance(40)) interests_ |= interest;
    }
    parks_ = random_.Chance(60);
    merges_ = random_.Chance(60);
  }

  uint32_t interests() const override { return interests_; }
  void SetIssueView(const IssueView& view) override { view_ = &view; }

  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    Look(editor);
    bool placed = resolution.reason == ResolveReason::kLanes;  // the others of the slot are still in flight
    for (const PathGroup& group : resolution.groups) {
      Lanes lanes = *resolution.lanes;
      lanes.mask = group.lanes;
      if (placed) {
        editor.Spawn(group.at, lanes);
      } else {
        editor.Place(resolution.slot, group.at, lanes);
      }
      placed = true;
    }
    if (!placed) editor.Dissolve(resolution.slot);
    Look(editor);
    return Verdict::kAccepted;
  }
  bool LanesReturned(SlotId /*slot*/, LaneMask /*lanes*/, WarpEditor& editor) override {
    Look(editor);
    return random_.Chance(30);
  }
  void Tick(WarpEditor& editor) override {
    if (!random_.Chance(10)) return;
    Look(editor);
    if (merges_) Merge(editor);
  }
  void BarrierArrived(SlotId /*slot*/, uint32_t /*barrier*/, WarpEditor& editor) override { Look(editor); }
  void LongLatency(SlotId slot, WarpEditor& editor) override {
    ++counters_[kWaits];
    Look(editor);
    if (!parks_ || editor.table().state[slot] != SlotState::kOffered) return;
    editor.Park(slot, HeldReason::kDependency);
    ++counters_[kParked];
    Look(editor);
  }
  void LongLatencyEnded(SlotId slot, WarpEditor& editor) override {
    ++counters_[kEnds];
    if (editor.table().state[slot] == SlotState::kParked) editor.Offer(slot);
    Look(editor);
    if (merges_) Merge(editor);
  }

  std::span<const uint64_t> counters() const override { return counters_; }
  static std::vector<CounterSpec> Counters() {
    return {{"waits", "calls", "long waits"},
            {"ends", "calls", "ends of long waits"},
            {"parked", "warps", "parked while they waited"},
            {"merged", "warps", "that met another"},
            {"lacks", "sum", "a sum over what slots lacked"}};
  }

 private:
  enum Counter { kWaits, kEnds, kParked, kMerged, kLacks, kCounters };

  void Look(const WarpEditor& editor) {
    if (!random_.Chance(30)) return;
    counters_[kLacks] += SumOfLacks(*view_, editor);
  }
  // The first two offered slots of a block that are at one place and have each other's lanes free go on together.
  void Merge(WarpEditor& editor) {
    const WarpTable& table = editor.table();
    for (size_t into = 0; into < table.state.size(); ++into) {
      if (table.state[into] != SlotState::kOffered) continue;
      for (size_t from = into + 1; from < table.state.size(); ++from) {
        if (table.state[from] != SlotState::kOffered || table.position[from] != table.position[into]) continue;
        if (table.block[from] != table.block[into] || (table.lanes[from].mask & table.lanes[into].mask) != 0) continue;
        editor.Merge(static_cast<SlotId>(from), static_cast<SlotId>(into));
        ++counters_[kMerged];
        return;
      }
    }
  }

  Random random_;
  uint32_t interests_ = kLongLatency;
  bool parks_ = false;
  bool merges_ = false;
  const IssueView* view_ = nullptr;
  std::array<uint64_t, kCounters> counters_{};
};

void ScopeBySeed(const Parameters& parameters, PolicyTraits& traits) {
  constexpr ScoreboardScope kScopes[] = {ScoreboardScope::kWarp, ScoreboardScope::kSubWarp, ScoreboardScope::kThread};
  traits.scoreboard.scope = kScopes[parameters.Integer("seed") % 3];
}

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "watchful",
        .summary = "Looks at what slots lack whenever it can (tests only)",
        .source = "tests",
        .traits_by_parameters = ScopeBySeed,
        .parameters = {{.name = "seed",
                        .type = ParameterType::kInteger,
                        .default_value = "1",
                        .minimum = 0,
                        .maximum = 1 << 30,
                        .description = "of the random choices, and of the scoreboards' scope"}},
        .counters = Watchful::Counters(),
    },
    [](const DivergenceContext&, const Parameters& parameters) { return std::make_unique<Watchful>(parameters); });

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
      Configuration& last = configurations.back().configuration;
      if (last.scheduler.name == "capricious" && seed % 2 == 0) last.scheduler.parameters = "looks=true";
    }
    ComparisonOptions options;
    options.force_tick = random.Chance(20);
    options.cache_bytes = random.OneOf<uint64_t>({1, 20'000, 256u << 20});
    ExpectEqual(*random_case.reader, random_case.machine, configurations, options);
    if (HasFailure()) return;
  }
}

// Whatever a policy asks, both engines answer alike, and tell of waits and their ends in the same cycles. The seed also
// chooses between scoreboards per warp, sub-warp and thread.
TEST(SeamEquality, WhatAPolicySeesWithInstructionBuffers) {
  for (const uint64_t seed : Seeds(1, 60)) {
    const RandomCase random_case = MakeBufferCase(MixAll({seed, 277}));
    SCOPED_TRACE(testing::Message() << "number " << seed << ", " << random_case.Text());
    Random random(MixAll({seed, 278}));
    std::vector<AcceptedConfiguration> configurations(3);
    for (size_t i = 0; i < configurations.size(); ++i) {
      Configuration& one = configurations[i].configuration;
      one.divergence = {"watchful", "seed=" + std::to_string(seed * 10 + i)};
      one.scheduler = {random.OneOf({"capricious", "lrr", "gto", "fifo"}), ""};
      if (one.scheduler.name == "capricious" && random.Chance(50)) one.scheduler.parameters = "looks=true";
    }
    ComparisonOptions options;
    options.force_tick = random.Chance(20);
    ExpectEqual(*random_case.reader, random_case.machine, configurations, options);
    // Where lanes' data come one by one, at any time.
    const bool force_tick = random.Chance(20);
    for (const AcceptedConfiguration& one : configurations) {
      ExpectEqualBeforeScriptedMemory(*random_case.reader, random_case.machine, one, seed, force_tick);
    }
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

TEST(SeamEquality, WhateverAMemoryPolicyDoes) {
  for (const uint64_t seed : Seeds(1, 40)) {
    const RandomCase random_case = MakeCacheCase(MixAll({seed, 277}));
    SCOPED_TRACE(testing::Message() << "number " << seed << ", " << random_case.Text());
    Random random(MixAll({seed, 278}));
    std::vector<AcceptedConfiguration> configurations(2);
    for (size_t i = 0; i < configurations.size(); ++i) {
      Configuration& configuration = configurations[i].configuration;
      configuration.divergence = {random.OneOf({"pdom", "nrec", "its", "dwf"}), ""};
      configuration.scheduler = {random.OneOf({"lrr", "gto", "ccws"}), ""};
      configuration.memory = {"capricious", "seed=" + std::to_string(seed * 10 + i)};
    }
    ComparisonOptions options;
    options.force_tick = random.Chance(20);
    ExpectEqual(*random_case.reader, random_case.machine, ForMachine(configurations, random_case.machine), options);
    if (HasFailure()) return;
  }
}

// The test above is worth what it tries, too.
TEST(SeamEquality, TheMemoryPolicyUsesEveryFreedom) {
  std::map<std::string, uint64_t> counters;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const RandomCase random_case = MakeCacheCase(MixAll({seed, 277}));
    Configuration configuration;
    configuration.memory = {"capricious", "seed=" + std::to_string(seed)};
    ReplayOptions options;
    options.machine = random_case.machine;
    const auto results = Replay(*random_case.reader, {configuration}, options);
    ASSERT_TRUE(results.ok()) << results.status();
    for (const result::v1::LaunchResult& launch : (*results)[0].launch()) {
      for (const auto& [name, value] : launch.memory_counter()) counters[name] += value;
      counters["past"] += launch.memory_policy().past_misses();
      counters["prefetches"] += launch.memory_policy().prefetches();
    }
  }
  EXPECT_EQ(counters.size(), 10);
  for (const auto& [name, count] : counters) EXPECT_GT(count, 20) << name;
}

// WhateverAPolicyDoes is worth what it tries: over its programs, everything that the policies count has happened.
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
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const RandomCase random_case = MakeBufferCase(MixAll({seed, 277}));
    std::vector<Configuration> configurations(1);
    configurations[0].divergence = {"watchful", "seed=" + std::to_string(seed)};
    ReplayOptions options;
    options.machine = random_case.machine;
    const auto results = Replay(*random_case.reader, configurations, options);
    ASSERT_TRUE(results.ok()) << results.status();
    for (const result::v1::LaunchResult& launch : (*results)[0].launch()) {
      for (const auto& [name, value] : launch.divergence_counter()) counters["watchful." + name] += value;
    }
  }
  EXPECT_EQ(counters.size(), 25);
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
