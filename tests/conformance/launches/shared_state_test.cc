// Policies of several seams that share state: the engine against the reference engine, whatever the number of threads.
#include "replay/seams/shared_state.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/engine/replay_batch.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/policy_error.h"
#include "replay/seams/warp_scheduler.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/conformance/random_case.h"
#include "tests/random/random.h"
#include "tests/random/random_trace.h"

namespace heddle::replay {
namespace {

using ::testing::HasSubstr;

// --- a scheduler that prefers the warp that was fetched for last, and a fetch policy that leaves out who issued last

struct Turns {
  explicit Turns(const StateShape& shape) : sm(shape.sm), issued_by_port(static_cast<size_t>(shape.ports), kNoSlot) {}
  const uint32_t sm;
  std::vector<SlotId> issued_by_port;
  SlotId fetched = kNoSlot;
};

class TurnsScheduler final : public WarpScheduler {
 public:
  explicit TurnsScheduler(const SchedulerContext& context)
      : turns_(context.shared.Of<Turns>()), port_(context.port), sm_is_right_(turns_.sm == context.shared.sm()) {}
  SlotId Pick(const SlotSet& eligible) const override {
    return turns_.fetched != kNoSlot && eligible.Contains(turns_.fetched) ? turns_.fetched : eligible.First();
  }
  void Issued(SlotId slot) override {
    turns_.issued_by_port[static_cast<size_t>(port_)] = slot;
    if (slot == turns_.fetched) ++counted_[0];
    counted_[1] = sm_is_right_ ? 0 : 1;
  }
  std::span<const uint64_t> counters() const override { return counted_; }

 private:
  Turns& turns_;
  const int port_;
  const bool sm_is_right_;
  std::vector<uint64_t> counted_ = {0, 0};
};
HEDDLE_WARP_SCHEDULER(PolicyInfo{.name = "test_turns",
                                 .summary = "for this test",
                                 .source = "tests",
                                 .counters = {{"as_fetched", "issues", "of the warp that was fetched for last"},
                                              {"wrong_sm", "schedulers", "whose object is another SM's"}}},
                      [](const SchedulerContext& context, const Parameters&) {
                        return std::make_unique<TurnsScheduler>(context);
                      });

class TurnsFetch final : public FetchPolicy {
 public:
  explicit TurnsFetch(const FetchContext& context) : turns_(context.shared.Of<Turns>()) {}
  SlotId Pick(const FetchView& view) const override {
    SlotId best = kNoSlot;
    view.eligible.ForEach([&](SlotId slot) {
      for (const SlotId issued : turns_.issued_by_port) {
        if (slot == issued) return;
      }
      if (best == kNoSlot) best = slot;
    });
    return best == kNoSlot ? view.eligible.First() : best;
  }
  void Fetched(SlotId slot) override { turns_.fetched = slot; }

 private:
  Turns& turns_;
};
HEDDLE_FETCH_POLICY(PolicyInfo{.name = "test_turns", .summary = "for this test", .source = "tests"},
                    [](const FetchContext& context, const Parameters&) {
                      return std::make_unique<TurnsFetch>(context);
                    });

// --- a scheduler that learns over all launches, which PCs are issued seldom

struct Learned {
  static constexpr bool kOutlivesLaunch = true;
  std::vector<uint64_t> issues_by_pc = std::vector<uint64_t>(64);
  uint64_t launches_seen = 0;
  uint64_t latest = ~uint64_t{0};
};

class Learner final : public WarpScheduler {
 public:
  explicit Learner(const SchedulerContext& context) : learned_(context.shared.Of<Learned>()), table_(context.table) {
    if (learned_.latest != context.shared.launch()) ++learned_.launches_seen;
    learned_.latest = context.shared.launch();
  }
  SlotId Pick(const SlotSet& eligible) const override {
    SlotId best = eligible.First();
    eligible.ForEach([&](SlotId slot) {
      if (Count(slot) < Count(best)) best = slot;
    });
    return best;
  }
  void Issued(SlotId slot) override {
    ++learned_.issues_by_pc[table_.position[slot].pc() % 64];
    counted_[0] = learned_.launches_seen;
  }
  std::span<const uint64_t> counters() const override { return counted_; }

 private:
  uint64_t Count(SlotId slot) const { return learned_.issues_by_pc[table_.position[slot].pc() % 64]; }

  Learned& learned_;
  const WarpTable& table_;
  std::vector<uint64_t> counted_ = {0};
};
const std::vector<CounterSpec> kLaunches = {
    {"launches", "launches", "of the SM so far", CounterSpec::Combine::kMaximum}};
HEDDLE_WARP_SCHEDULER(PolicyInfo{.name = "test_learner",
                                 .summary = "for this test",
                                 .source = "tests",
                                 .traits = {.state_outlives_launch = true},
                                 .counters = kLaunches},
                      [](const SchedulerContext& context, const Parameters&) {
                        return std::make_unique<Learner>(context);
                      });
HEDDLE_WARP_SCHEDULER(
    PolicyInfo{.name = "test_no_trait", .summary = "for this test", .source = "tests", .counters = kLaunches},
    [](const SchedulerContext& context, const Parameters&) { return std::make_unique<Learner>(context); });

// --- a dispatcher that sends blocks to the SM that has issued least, and begins elsewhere in each launch

struct IssueCount {
  uint64_t issues = 0;
};
struct Begin {
  static constexpr bool kOutlivesLaunch = true;
  uint32_t sm = 0;
};

class CountingPolicy final : public DivergencePolicy {
 public:
  explicit CountingPolicy(const DivergenceContext& context) : count_(context.shared.Of<IssueCount>()) {}
  uint32_t interests() const override { return kIssue; }
  Verdict AcceptIssue(SlotId /*slot*/, WarpEditor& /*editor*/) override {
    ++count_.issues;
    return Verdict::kAccepted;
  }
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    bool placed = false;
    for (const PathGroup& group : resolution.groups) {
      Lanes lanes = *resolution.lanes;
      lanes.mask = group.lanes;
      if (!placed) {
        editor.Place(resolution.slot, group.at, lanes);
      } else {
        editor.Spawn(group.at, lanes);
      }
      placed = true;
    }
    if (!placed) editor.Dissolve(resolution.slot);
    return Verdict::kAccepted;
  }

 private:
  IssueCount& count_;
};
HEDDLE_DIVERGENCE_POLICY(PolicyInfo{.name = "test_counting", .summary = "for this test", .source = "tests"},
                         [](const DivergenceContext& context, const Parameters&) {
                           return std::make_unique<CountingPolicy>(context);
                         });

class LeastIssued final : public BlockDispatcher {
 public:
  explicit LeastIssued(const DispatchContext& context, bool asks_at_once) : context_(context) {
    Begin& begin = context.shared.Of<Begin>();
    begin_ = begin.sm++ % context.sms;
    for (uint32_t sm = 0; asks_at_once && sm < context.sms; ++sm) context.shared.OfSm<IssueCount>(sm);
  }
  std::optional<Assignment> Next(std::span<const SmOccupancy> sms, std::span<const bool> accepted) override {
    std::optional<uint32_t> best;
    uint64_t least = 0;
    for (uint32_t i = 0; i < context_.sms; ++i) {
      const uint32_t sm = (begin_ + i) % context_.sms;
      if (accepted[sm] || sms[sm].resident >= sms[sm].capacity) continue;
      const uint64_t issues = context_.shared.OfSm<IssueCount>(sm).issues;
      if (!best.has_value() || issues < least) best = sm, least = issues;
    }
    if (!best.has_value() || done()) return std::nullopt;
    return Assignment{*best, next_++};
  }
  bool done() const override { return next_ == context_.blocks; }

 private:
  const DispatchContext context_;
  uint32_t begin_ = 0;
  uint64_t next_ = 0;
};
HEDDLE_BLOCK_DISPATCHER(PolicyInfo{.name = "test_least_issued",
                                   .summary = "for this test",
                                   .source = "tests",
                                   .traits = {.state_outlives_launch = true}},
                        [](const DispatchContext& context, const Parameters&) {
                          return std::make_unique<LeastIssued>(context, /*asks_at_once=*/true);
                        });
HEDDLE_BLOCK_DISPATCHER(PolicyInfo{.name = "test_asks_late",
                                   .summary = "for this test",
                                   .source = "tests",
                                   .traits = {.state_outlives_launch = true}},
                        [](const DispatchContext& context, const Parameters&) {
                          return std::make_unique<LeastIssued>(context, /*asks_at_once=*/false);
                        });

AcceptedConfiguration With(const std::string& divergence, const std::string& scheduler, const std::string& fetch,
                           const std::string& dispatch = "thread_blocks") {
  AcceptedConfiguration out;
  out.configuration = {
      .divergence = {divergence, ""}, .scheduler = {scheduler, ""}, .dispatch = {dispatch, ""}, .fetch = {fetch, ""}};
  return out;
}

// The case's kernels four times over, as launches of one trace.
void Repeat(RandomCase& random_case) {
  std::vector<const RandomKernel*> kernels;
  for (int i = 0; i < 4; ++i) {
    for (const RandomKernel& kernel : random_case.kernels) kernels.push_back(&kernel);
  }
  random_case.reader = WriteAndOpen(kernels);
}

std::vector<result::v1::Result> MustReplay(const RandomCase& random_case, const std::vector<Configuration>& all,
                                           uint32_t jobs) {
  ReplayOptions options;
  options.machine = random_case.machine;
  options.jobs = jobs;
  auto results = Replay(*random_case.reader, all, options);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *std::move(results) : std::vector<result::v1::Result>();
}

TEST(SharedState, ASchedulerAndAFetchPolicyOfAnSmShareOneObject) {
  uint64_t as_fetched = 0;
  int other_than_alone = 0;
  for (const uint64_t seed : Seeds(1, 40)) {
    const RandomCase random_case = MakeBufferCase(MixAll({seed, 301}));
    SCOPED_TRACE(random_case.Text());
    const AcceptedConfiguration both = With("pdom", "test_turns", "test_turns");
    const AcceptedConfiguration alone = With("pdom", "test_turns", "round_robin");
    ExpectEqual(*random_case.reader, random_case.machine, {both, alone}, {.force_tick = seed % 3 == 0});
    if (HasFailure()) return;
    const auto results = MustReplay(random_case, {both.configuration, alone.configuration}, 1);
    ASSERT_EQ(results.size(), 2);
    for (const result::v1::LaunchResult& launch : results[0].launch()) {
      as_fetched += launch.scheduler_counter().at("as_fetched");
      EXPECT_EQ(launch.scheduler_counter().at("wrong_sm"), 0);
    }
    for (const result::v1::LaunchResult& launch : results[1].launch()) {
      EXPECT_EQ(launch.scheduler_counter().at("as_fetched"), 0) << "nobody has told";
    }
    if (results[0].total().cycles() != results[1].total().cycles()) ++other_than_alone;
  }
  EXPECT_GT(as_fetched, 100);
  EXPECT_GT(other_than_alone, 0);
}

TEST(SharedState, WhatALaunchHasLearnedIsThereInTheNext) {
  int other_than_fresh = 0;
  for (const uint64_t seed : Seeds(1, 40)) {
    RandomCase random_case = seed % 2 == 0 ? MakeRandomCase(MixAll({seed, 302})) : MakeBufferCase(MixAll({seed, 302}));
    Repeat(random_case);
    SCOPED_TRACE(random_case.Text());
    const AcceptedConfiguration learner = With("pdom", "test_learner", "round_robin");
    ExpectEqual(*random_case.reader, random_case.machine, {learner}, {.force_tick = seed % 3 == 0});
    if (HasFailure()) return;
    const auto result = MustReplay(random_case, {learner.configuration}, 1);
    ASSERT_EQ(result.size(), 1);
    const int launches = result[0].launch_size();
    uint64_t seen = 0;
    for (int i = 0; i < launches; ++i) {
      const uint64_t now = result[0].launch(i).scheduler_counter().at("launches");
      EXPECT_GE(now, 1);
      EXPECT_LE(now, static_cast<uint64_t>(i) + 1);
      seen = std::max(seen, now);
    }
    EXPECT_GT(seen, 1) << "no SM had blocks of two launches";
    if (result[0].launch(0).cycles() != result[0].launch(launches - launches / 4).cycles()) ++other_than_fresh;
  }
  EXPECT_GT(other_than_fresh, 0) << "what was learned changed nothing";
}

TEST(SharedState, ThreadsOfTheHostDoNotMatter) {
  for (const uint64_t seed : Seeds(1, 40)) {
    RandomCase random_case = MakeRandomCase(MixAll({seed, 303}));
    Repeat(random_case);
    SCOPED_TRACE(random_case.Text());
    std::vector<Configuration> all;
    // The same configuration twice: neither learns from the other.
    for (const char* const scheduler : {"test_learner", "lrr", "test_learner"}) {
      all.push_back(With("pdom", scheduler, "round_robin").configuration);
    }
    const auto one = MustReplay(random_case, all, 1);
    const auto four = MustReplay(random_case, all, 4);
    ASSERT_EQ(one.size(), 3);
    ASSERT_EQ(four.size(), 3);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(one[i].DebugString(), four[i].DebugString());
    EXPECT_EQ(one[0].DebugString(), one[2].DebugString());
    // As sweeps run it.
    std::vector<BatchRun> runs;
    for (const Configuration& configuration : all) {
      const auto checked = CheckConfiguration(configuration);
      ASSERT_TRUE(checked.ok()) << checked.status();
      ReplayOptions options;
      options.machine = random_case.machine;
      runs.push_back({*checked, options});
    }
    BatchReplayer replayer(*random_case.reader, CacheBounds::Of(ReplayOptions::kDefaultCacheBytes, false));
    const auto batch = replayer.Replay(runs, [] { return true; });
    for (size_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(batch[i].ok()) << batch[i].status();
      EXPECT_EQ(one[i].DebugString(), batch[i]->DebugString());
    }
    if (HasFailure()) return;
  }
}

TEST(SharedState, ADispatcherSeesEachSmsObjectOfThisCycle) {
  int moved = 0;
  for (const uint64_t seed : Seeds(1, 40)) {
    RandomCase random_case = seed % 2 == 0 ? MakeRandomCase(MixAll({seed, 304})) : MakeBufferCase(MixAll({seed, 304}));
    Repeat(random_case);
    SCOPED_TRACE(random_case.Text());
    const AcceptedConfiguration configuration = With("test_counting", "lrr", "round_robin", "test_least_issued");
    ExpectEqual(*random_case.reader, random_case.machine, {configuration}, {.force_tick = seed % 3 == 0});
    if (HasFailure()) return;
    SortedIssueLog log(2);
    ReplayOptions options;
    options.machine = random_case.machine;
    options.observer = &log;
    const Configuration usual = With("test_counting", "lrr", "round_robin").configuration;
    const auto results =
        Replay(*random_case.reader, std::vector<Configuration>{configuration.configuration, usual}, options);
    ASSERT_TRUE(results.ok()) << results.status();
    if (log.Sorted(0) != log.Sorted(1)) ++moved;
  }
  EXPECT_GT(moved, 0) << "the dispatcher sends blocks as the usual one does";
}

TEST(SharedState, WhatCannotBeHadIsSaid) {
  const RandomCase random_case = MakeRandomCase(5);
  ReplayOptions options;
  options.machine = random_case.machine;
  const auto error = [&](const AcceptedConfiguration& configuration) {
    return std::string(Replay(*random_case.reader, {configuration.configuration}, options).status().message());
  };
  EXPECT_THAT(error(With("pdom", "test_no_trait", "round_robin")), HasSubstr("state_outlives_launch"));
  EXPECT_THAT(error(With("test_counting", "lrr", "round_robin", "test_asks_late")), HasSubstr("in its constructor"));
  EXPECT_THROW(SmShared().Of<Turns>(), PolicyError);
  EXPECT_THROW(MachineShared().Of<Begin>(), PolicyError);
  SharedState state({.warp_size = 4, .max_threads = 16, .ports = 1, .sms = 2}, /*in_order=*/true);
  state.BeginLaunch();
  const MachineShared machine(state);
  EXPECT_THROW(machine.OfSm<IssueCount>(2), PolicyError) << "SM 2 of two";
  EXPECT_EQ(&machine.OfSm<IssueCount>(1), &SmShared(state, 1).Of<IssueCount>());
  EXPECT_NE(&machine.OfSm<IssueCount>(0), &machine.OfSm<IssueCount>(1));
  EXPECT_TRUE(state.EndOfDispatchersFactory());
}

TEST(SharedState, WhatLivesForALaunchEndsWithIt) {
  SharedState state({.warp_size = 4, .max_threads = 16, .ports = 1, .sms = 2}, /*in_order=*/true);
  state.BeginLaunch();
  SmShared(state, 0).Of<IssueCount>().issues = 5;
  SmShared(state, 0).Of<Learned>().launches_seen = 7;
  EXPECT_EQ(SmShared(state, 0).launch(), 0);
  EXPECT_FALSE(state.EndOfDispatchersFactory());
  state.BeginLaunch();
  EXPECT_EQ(SmShared(state, 0).Of<IssueCount>().issues, 0);
  EXPECT_EQ(SmShared(state, 0).Of<Learned>().launches_seen, 7);
  EXPECT_EQ(SmShared(state, 0).launch(), 1);
}

}  // namespace
}  // namespace heddle::replay
