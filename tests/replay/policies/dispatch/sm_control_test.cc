// Dispatchers that watch SMs and pause blocks: rounds, what they are shown, what they say, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "replay/seams/block_dispatcher.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

// Blocks in ascending order to SM 0, as `what` says: it is asked in every round, and says when it wants the next one.
class Acting final : public BlockDispatcher {
 public:
  using Act = std::function<Cycle(Acting&, Cycle first)>;
  Acting(const DispatchContext& context, Act act, bool watches)
      : context(context), act_(std::move(act)), watches_(watches) {}

  bool watches_sms() const override { return watches_; }
  void BeginRound(Cycle first) override {
    resting = false;
    place.reset();
    next_first_ = act_(*this, first);
  }
  Cycle NextFirst() const override { return next_first_; }
  std::optional<Assignment> Next(std::span<const SmOccupancy>, std::span<const bool> accepted) override {
    if (resting || done() || accepted[0]) return std::nullopt;
    return Assignment{0, next_++, place};
  }
  void Retired(uint32_t, uint64_t block) override { ended.push_back(absl::StrCat(block, " at ", *context.clock)); }
  bool done() const override { return next_ == context.blocks; }

  const DispatchContext context;
  bool resting = false;  // gives no block in this round
  std::optional<uint32_t> place;
  static inline std::vector<std::string> ended;

 private:
  const Act act_;
  const bool watches_;
  uint64_t next_ = 0;
  Cycle next_first_ = 0;
};

// Runs under a dispatcher of that name, which must be new.
Outcome RunUnder(const trace::TraceReader& trace, const std::string& name, Acting::Act act, bool watches = true,
                 RunOptions options = {}) {
  Acting::ended.clear();
  DispatchRegistry::Get().Register({.name = name, .summary = "for this test", .source = "tests"},
                                   [act = std::move(act), watches](const DispatchContext& context, const Parameters&) {
                                     return std::make_unique<Acting>(context, act, watches);
                                   });
  options.dispatch = name;
  return RunTrace(trace, options);
}

// Blocks of one warp with `alu` instructions and an exit.
std::unique_ptr<trace::TraceReader> Straight(uint32_t blocks, uint32_t alu) {
  return MakeTrace(ProgramBuilder("k").Alu(static_cast<int>(alu)).Exit().Build(), blocks,
                   std::vector<ThreadTrace>(4 * blocks));
}

std::vector<uint64_t> IssuesOf(const Outcome& outcome, uint64_t block) {
  std::vector<uint64_t> cycles;
  for (const LoggedIssue& issue : outcome.log.issues()) {
    if (issue.members[0].block == block) cycles.push_back(issue.cycle);
  }
  return cycles;
}

TEST(Rounds, ComeWhenTheyAreWantedThoughNothingEnds) {
  static std::vector<std::string> rounds;
  const Outcome outcome = RunUnder(*Straight(2, 6), "wants_rounds", [](Acting& self, Cycle first) {
    rounds.push_back(absl::StrCat(*self.context.clock, ">", first));
    self.resting = first < 3000;  // beyond what the engine's calendar holds at once
    return first < 3000 ? std::min<Cycle>(first * 4 + 2, 3000) : kNever;
  });
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  // Block 0 begins in cycle 3000. Nobody asks for the next round, so that block 1 comes when block 0 has ended.
  const uint64_t end = IssuesOf(outcome, 0).back() + 1;
  EXPECT_THAT(rounds, ElementsAre("0>0", "1>2", "9>10", "41>42", "169>170", "681>682", "2729>2730", "2999>3000",
                                  absl::StrCat(end, ">", end + 1)));
  EXPECT_EQ(IssuesOf(outcome, 0).front(), 3000);
  EXPECT_EQ(IssuesOf(outcome, 1).front(), end + 1);
  EXPECT_THAT(Acting::ended, ElementsAre(absl::StrCat("0 at ", end), testing::_));
}

TEST(Rounds, AreAskedForInEveryCycleWhereAWishIsOver) {
  static uint64_t rounds = 0;
  const Outcome outcome = RunUnder(
      *Straight(1, 1), "wants_always",
      [](Acting& self, Cycle first) {
        ++rounds;
        self.resting = first == 5;
        return Cycle{0};
      },
      /*watches=*/false);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(rounds, 1) << "nothing is left to give";
}

// The toy machine issues one warp per cycle, whose result is there in the next; warps take turns.
TEST(Pausing, FromTheNextCycleOnUntilItIsResumed) {
  const Outcome outcome = RunUnder(*Straight(2, 30), "pauses", [](Acting& self, Cycle first) {
    if (first == 10) self.context.control->Pause(0, 1);
    if (first == 25) self.context.control->Resume(0, 1);
    return first < 10 ? std::max<Cycle>(first < 2 ? first + 1 : 10, 0) : Cycle{first < 25 ? 25 : kNever};
  });
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  for (const uint64_t cycle : IssuesOf(outcome, 1)) EXPECT_TRUE(cycle < 10 || cycle >= 25) << cycle;
  EXPECT_EQ(IssuesOf(outcome, 1).size(), 31);
  EXPECT_EQ(IssuesOf(outcome, 0).size(), 31);
}

// A block whose threads exit with what they have issued leaves though it is paused.
TEST(Pausing, WhatIsIssuedEnds) {
  const auto trace =
      MakeTrace(ProgramBuilder("k").Load().Exit().Build(), 1, std::vector<ThreadTrace>(4, Thread({}, {0x7000'0000})));
  RunOptions options;
  options.machine.mutable_memory()->mutable_fixed()->set_global_cycles(20);
  const Outcome outcome = RunUnder(
      *trace, "pauses_a_load",
      [](Acting& self, Cycle first) {
        if (first == 5) self.context.control->Pause(0, 0);
        if (first == 40) self.context.control->Resume(0, 0);
        return first < 5 ? Cycle{5} : Cycle{first < 40 ? 40 : kNever};
      },
      true, options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(IssuesOf(outcome, 0), ElementsAre(0, 40)) << "the load ended in cycle 20, and nothing followed";
  EXPECT_EQ(outcome.launch().idle_threads().paused(), 4 * 20) << "four threads, ready and paused from 20 to 39";
}

TEST(Pausing, ALaunchThatNobodyResumesNamesTheDispatcher) {
  for (const char* machine : {"toy", "fermi_buffer_fixed", "baws_gtx480"}) {
    RunOptions options;
    options.machine = LoadMachine(machine).value();
    options.machine.set_sms(1);
    const Outcome outcome = RunUnder(
        *Straight(1, 30), absl::StrCat("never_resumes_", machine),
        [](Acting& self, Cycle first) {
          if (first == 7) self.context.control->Pause(0, 0);
          return first < 7 ? Cycle{7} : kNever;
        },
        true, options);
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kFailedPrecondition) << machine;
    EXPECT_THAT(outcome.status.message(),
                HasSubstr(absl::StrCat("deadlock under dispatcher 'never_resumes_", machine)));
    EXPECT_THAT(outcome.status.message(), HasSubstr("are in a block that the dispatcher has paused"));
  }
}

// One that goes on asking for rounds, without an end.
TEST(Pausing, ALaunchThatOnlyItsDispatcherKeepsGoingEndsToo) {
  const Outcome outcome = RunUnder(*Straight(1, 30), "never_resumes_and_looks", [](Acting& self, Cycle first) {
    if (first == 7) self.context.control->Pause(0, 0);
    return first < 7 ? Cycle{7} : first + 4096;
  });
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(outcome.status.message(), HasSubstr("dispatcher 'never_resumes_and_looks'"));
}

// One block of one warp: a load of 20 cycles and an exit, on the toy machine.
TEST(Watching, CountsTheCyclesOfAnSm) {
  static std::vector<SmActivity> seen;
  static std::vector<SmWarps> warps;
  const auto trace = MakeTrace(ProgramBuilder("k").Alu(3).Load().Alu(1).Exit().Build(), 1,
                               std::vector<ThreadTrace>(4, Thread({}, {0x7000'0000})));
  RunOptions options;
  options.machine.mutable_memory()->mutable_fixed()->set_global_cycles(20);
  const Outcome outcome = RunUnder(
      *trace, "looks",
      [](Acting& self, Cycle first) {
        seen.push_back(self.context.control->Activity(0));
        warps.push_back(self.context.control->Warps(0));
        return first < 10 ? Cycle{10} : Cycle{first < 25 ? 25 : kNever};
      },
      true, options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  ASSERT_EQ(seen.size(), 3);
  EXPECT_EQ(seen[0], SmActivity()) << "nothing has begun";
  // Three additions in cycles 0 to 2, the load in cycle 3; its data come in cycle 23. An exit behind one more addition.
  EXPECT_THAT(IssuesOf(outcome, 0), ElementsAre(0, 1, 2, 3, 23, 24));
  EXPECT_EQ(seen[1],
            (SmActivity{.issue_cycles = 4, .memory_cycles = 6, .warp_instructions = 4, .thread_instructions = 16}));
  EXPECT_EQ(warps[1], SmWarps{.memory = 1});
  EXPECT_EQ(seen[2].issue_cycles, 6);
  EXPECT_EQ(seen[2].memory_cycles, 19);
  EXPECT_EQ(seen[2].warp_instructions, 6);
  EXPECT_EQ(seen[2].thread_instructions, 24);
}

TEST(Rows, ABlockGetsThePlaceThatItIsGiven) {
  static std::vector<uint32_t> rows;
  RunOptions options;
  options.machine.mutable_dispatch()->set_spread_small_grids(false);
  const Outcome outcome = RunUnder(
      *Straight(2, 30), "places",
      [](Acting& self, Cycle first) {
        if (first == 0) self.place = 2;
        if (first == 2) rows = {self.context.control->FirstHwWarp(0, 0), self.context.control->FirstHwWarp(0, 1)};
        return first < 2 ? first + 1 : kNever;
      },
      true, options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(rows, ElementsAre(2, 0)) << "blocks of one warp: place 2, and the lowest free one";
}

TEST(Refused, WhatIsAgainstTheRulesEndsTheRunWithTheDispatchersName) {
  const struct {
    const char* name;
    bool watches;
    std::function<void(Acting&)> does;
    const char* says;
  } wrong[] = {
      {"asks_unsaid", false, [](Acting& self) { self.context.control->Activity(0); },
       "Activity of SM 0 for what begins in cycle 4: it has not said that it watches SMs (watches_sms)"},
      {"asks_elsewhere", true, [](Acting& self) { self.context.control->Warps(1); }, "the machine has 1 SMs"},
      {"pauses_nobody", true, [](Acting& self) { self.context.control->Pause(0, 1); }, "block 1 is not there"},
      {"resumes_running", true, [](Acting& self) { self.context.control->Resume(0, 0); }, "block 0 is not paused"},
      {"pauses_twice", true,
       [](Acting& self) {
         self.context.control->Pause(0, 0);
         self.context.control->Pause(0, 0);
       },
       "block 0 is paused already"},
      {"finds_nobody", true, [](Acting& self) { self.context.control->FirstHwWarp(0, 1); }, "block 1 is not there"},
  };
  RunOptions options;
  options.machine.mutable_core()->set_max_blocks(2);
  for (const auto& one : wrong) {
    const Outcome outcome = RunUnder(
        *Straight(2, 30), one.name,
        [does = one.does](Acting& self, Cycle first) {
          if (first == 4) does(self);
          self.resting = first == 0;
          return first < 3 ? first + 3 : first + 1;
        },
        one.watches, options);
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInternal) << one.name;
    EXPECT_THAT(outcome.status.message(), HasSubstr(one.says));
    EXPECT_THAT(outcome.status.message(), HasSubstr(absl::StrCat("dispatcher '", one.name, "': ")));
  }
}

TEST(Refused, APlaceThatIsTakenOrNotThere) {
  RunOptions options;
  options.machine.mutable_core()->set_max_blocks(2);
  for (const auto& [name, place, says] : {std::tuple{"place_taken", 0u, "to place 0, which is taken"},
                                          std::tuple{"place_beyond", 2u, "to place 2 of 2"}}) {
    const Outcome outcome = RunUnder(
        *Straight(2, 30), name,
        [place = place](Acting& self, Cycle first) {
          self.place = first == 0 ? 0u : place;
          return first + 1;
        },
        true, options);
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(outcome.status.message(), HasSubstr(absl::StrCat("sent block 1 to SM 0, ", says)));
  }
}

}  // namespace
}  // namespace heddle::replay
