// The engine against the reference engine under a dispatcher that uses every freedom of its seam, at random: rounds at
// any time, blocks withheld, places chosen, blocks paused and resumed. All that it is shown goes into a counter.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/engine/configuration.h"
#include "replay/engine/replay.h"
#include "replay/seams/block_dispatcher.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/conformance/random_case.h"
#include "tests/conformance/small_hierarchy.h"
#include "tests/random/random.h"
#include "tests/reference/reference_engine.h"

namespace heddle::replay {
namespace {

class CapriciousDispatcher final : public BlockDispatcher {
 public:
  CapriciousDispatcher(const DispatchContext& context, const Parameters& parameters)
      : context_(context), random_(static_cast<uint64_t>(parameters.Integer("seed"))), sms_(context.sms) {
    for (std::vector<Place>& places : sms_) places.resize(context.blocks_per_sm);
  }

  bool watches_sms() const override { return true; }

  void BeginRound(Cycle first) override {
    ++counters_[kRounds];
    Look(first);
    Look(*context_.clock);
    counters_[kEarly] += first < wanted_;  // something has ended
    for (uint32_t sm = 0; sm < context_.sms; ++sm) {
      LookAt(sm);
      for (uint32_t number = 0; number < sms_[sm].size(); ++number) Decide(sm, number);
    }
    if (random_.Chance(20)) LookAt(static_cast<uint32_t>(random_.Below(context_.sms)));  // that changes nothing
    wanted_ = first + 1 + random_.Below(random_.Chance(5) ? 1500 : 60);
  }

  std::optional<Assignment> Next(std::span<const SmOccupancy> sms, std::span<const bool> accepted) override {
    if (random_.Chance(15)) return std::nullopt;
    std::vector<uint32_t> with_room;
    for (uint32_t sm = 0; sm < context_.sms; ++sm) {
      Look(static_cast<uint64_t>(sms[sm].resident));
      if (!accepted[sm] && sms[sm].resident < sms[sm].capacity) with_room.push_back(sm);
    }
    if (with_room.empty() || done()) return std::nullopt;
    const uint32_t sm = with_room[random_.Below(with_room.size())];
    std::vector<uint32_t> free;
    for (uint32_t place = 0; place < sms_[sm].size(); ++place) {
      if (!sms_[sm][place].block.has_value()) free.push_back(place);
    }
    Assignment assignment{sm, next_++};
    uint32_t place = free.front();
    if (random_.Chance(60)) assignment.place = place = free[random_.Below(free.size())];
    counters_[kPlaced] += place != free.front();
    sms_[sm][place] = {assignment.block, false};
    return assignment;
  }

  Cycle NextFirst() const override { return wanted_; }
  void Retired(uint32_t sm, uint64_t block) override {
    for (Place& place : sms_[sm]) {
      if (place.block != block) continue;
      counters_[kRetiredPaused] += place.paused;
      place = {};
    }
  }
  bool done() const override { return next_ == context_.blocks; }
  std::span<const uint64_t> counters() const override { return counters_; }

  enum Counter {
    kDigest,
    kRounds,
    kEarly,
    kPlaced,
    kPauses,
    kResumes,
    kRetiredPaused,
    kWrongRows,
    kMemoryCycles,
    kPausedWarps,
    kMshrs,
    kCounters
  };

 private:
  struct Place {
    std::optional<uint64_t> block = {};
    bool paused = false;
  };

  void Look(uint64_t value) { counters_[kDigest] = MixAll({counters_[kDigest], value}); }
  void LookAt(uint32_t sm) {
    const SmActivity done = context_.control->Activity(sm);
    for (const uint64_t value : {done.issue_cycles, done.stall_cycles, done.memory_cycles, done.data_cycles,
                                 done.idle_cycles, done.warp_instructions, done.thread_instructions}) {
      Look(value);
    }
    const SmWarps warps = context_.control->Warps(sm);
    for (const uint64_t value : {warps.ready, warps.memory, warps.barrier, warps.held, warps.paused, warps.other}) {
      Look(value);
    }
    const SmMemoryLoad load = context_.control->MemoryLoad(sm);
    for (const uint64_t value : {load.mshrs_used, load.requests, load.queued_requests}) Look(value);
    counters_[kMemoryCycles] += done.memory_cycles != 0;
    counters_[kPausedWarps] += warps.paused;
    counters_[kMshrs] += load.mshrs_used;
  }
  // Nobody stays paused for ever: time goes on until the next round in any case.
  void Decide(uint32_t sm, uint32_t number) {
    Place& place = sms_[sm][number];
    if (!place.block.has_value()) return;
    counters_[kWrongRows] += context_.control->FirstHwWarp(sm, *place.block) != number * context_.warps_per_block;
    if (place.paused && random_.Chance(40)) {
      context_.control->Resume(sm, *place.block);
      place.paused = false;
      ++counters_[kResumes];
    } else if (!place.paused && random_.Chance(15)) {
      context_.control->Pause(sm, *place.block);
      place.paused = true;
      ++counters_[kPauses];
    }
  }

  const DispatchContext context_;
  Random random_;
  std::vector<std::vector<Place>> sms_;
  uint64_t next_ = 0;
  Cycle wanted_ = 0;
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_BLOCK_DISPATCHER(PolicyInfo{.name = "capricious_dispatch",
                                   .summary = "for this test",
                                   .source = "tests",
                                   .parameters = {{.name = "seed",
                                                   .default_value = "1",
                                                   .minimum = 0,
                                                   .maximum = 1 << 30,
                                                   .description = "of what it decides",
                                                   .source = "tests"}},
                                   .counters = {{"digest", "number", "of all that it was shown"},
                                                {"rounds", "rounds", "that it had"},
                                                {"early", "rounds", "before the one that it wanted"},
                                                {"placed", "blocks", "elsewhere than in the lowest free place"},
                                                {"pauses", "blocks", "times one was paused"},
                                                {"resumes", "blocks", "times one was resumed"},
                                                {"retired_paused", "blocks", "that left while they were paused"},
                                                {"wrong_rows", "blocks", "in other hardware warps than their place's"},
                                                {"memory_cycles", "looks", "at SMs that had such cycles"},
                                                {"paused_warps", "warps", "seen"},
                                                {"mshrs", "MSHRs", "seen in use"}}},
                        [](const DispatchContext& context, const Parameters& parameters) {
                          return std::make_unique<CapriciousDispatcher>(context, parameters);
                        });

// Policies at random, with this dispatcher.
std::vector<AcceptedConfiguration> Draw(Random& random, const machine::v1::Machine& machine, uint64_t seed) {
  std::vector<AcceptedConfiguration> some = DrawConfigurations(random, machine, 4);
  std::erase_if(some, [](const AcceptedConfiguration& one) { return one.by_warp; });
  for (size_t i = 0; i < some.size(); ++i) {
    some[i].configuration.dispatch = {"capricious_dispatch", "seed=" + std::to_string(seed * 10 + i)};
  }
  return some;
}

template <typename MakeCase>
void ExpectEqualUnder(MakeCase make_case, uint64_t first, uint64_t full) {
  for (const uint64_t seed : Seeds(first, full)) {
    const RandomCase random_case = make_case(MixAll({seed, 91}));
    SCOPED_TRACE(testing::Message() << "number " << seed << ", " << random_case.Text());
    Random random(MixAll({seed, 92}));
    ComparisonOptions options;
    options.force_tick = random.Chance(30);
    ExpectEqual(*random_case.reader, random_case.machine, Draw(random, random_case.machine, seed), options);
    if (testing::Test::HasFailure()) return;
  }
}

// Before small caches and a slow memory, so that there are misses to see.
RandomCase MakeCachedCase(uint64_t seed) {
  RandomCase random_case = seed % 2 == 0 ? MakeBufferCase(seed) : MakeRandomCase(seed);
  SetSmallHierarchy(seed, random_case.machine);
  random_case.machine.mutable_memory()->mutable_hierarchy()->clear_jitter_cycles();
  random_case.machine.mutable_core()->clear_scripted_latency();
  random_case.machine.mutable_dispatch()->set_launch_cycles(Random(seed).OneOf({0u, 1u, 30u, 999u}));
  return random_case;
}

TEST(DispatchEquality, WhateverADispatcherDoes) { ExpectEqualUnder(MakeRandomCase, 1, 150); }
TEST(DispatchEquality, WhateverADispatcherDoesWithInstructionBuffers) { ExpectEqualUnder(MakeBufferCase, 10'001, 150); }

TEST(DispatchEquality, WhateverADispatcherDoesBeforeCaches) {
  for (const uint64_t seed : Seeds(20'001, 60)) {
    const RandomCase random_case = MakeCachedCase(MixAll({seed, 93}));
    SCOPED_TRACE(testing::Message() << "number " << seed << ", " << random_case.Text());
    Random random(MixAll({seed, 94}));
    for (const AcceptedConfiguration& one : Draw(random, random_case.machine, seed)) {
      SCOPED_TRACE(one.Text());
      SortedIssueLog log(1);
      ReplayOptions options;
      options.machine = random_case.machine;
      options.force_tick = random.Chance(30);
      options.observer = &log;
      const auto engine = Replay(*random_case.reader, {one.configuration}, options);
      ASSERT_TRUE(engine.ok()) << engine.status();
      SortedIssueLog reference_log;
      const auto reference =
          ReplayByReference(*random_case.reader, one.configuration, random_case.machine, &reference_log);
      ASSERT_TRUE(reference.ok()) << reference.status();
      EXPECT_EQ(Difference(log.Sorted(0), reference_log.Sorted()), "");
      for (int launch = 0; launch < engine->front().launch_size(); ++launch) {
        EXPECT_EQ(Difference(engine->front().launch(launch), reference->launches[launch]), "");
      }
    }
    if (HasFailure()) return;
  }
}

// The tests above are worth what they try: over their programs, everything that the dispatcher counts has happened.
TEST(DispatchEquality, TheDispatcherUsesEveryFreedom) {
  std::array<uint64_t, CapriciousDispatcher::kCounters> sums{};
  uint64_t paused_ports = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const RandomCase random_case = seed % 4 < 2    ? MakeCachedCase(seed)
                                   : seed % 2 == 0 ? MakeBufferCase(seed)
                                                   : MakeRandomCase(seed);
    Configuration configuration;
    configuration.dispatch = {"capricious_dispatch", "seed=" + std::to_string(seed)};
    ReplayOptions options;
    options.machine = random_case.machine;
    const auto results = Replay(*random_case.reader, {configuration}, options);
    ASSERT_TRUE(results.ok()) << results.status();
    for (const result::v1::LaunchResult& launch : results->front().launch()) {
      const std::vector<CounterSpec>& specs = (*DispatchRegistry::Get().Find("capricious_dispatch"))->info.counters;
      for (size_t i = 0; i < specs.size(); ++i) sums[i] += launch.dispatch_counter().at(specs[i].name);
      paused_ports += launch.stalls().paused();
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    if (i == CapriciousDispatcher::kWrongRows) {
      EXPECT_EQ(sums[i], 0);
    } else {
      EXPECT_GT(sums[i], 0) << "counter " << i;
    }
  }
  EXPECT_GT(paused_ports, 0);
}

}  // namespace
}  // namespace heddle::replay
