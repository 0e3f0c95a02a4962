// Every event that the seam between core and divergence policy carries (besides those of barriers and memory).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/warp_scheduler.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

using Log = std::vector<std::string>;

std::string Reason(ResolveReason reason) {
  switch (reason) {
    case ResolveReason::kControl:
      return "control";
    case ResolveReason::kStop:
      return "stop";
    case ResolveReason::kBlockEnd:
      return "block end";
    case ResolveReason::kInstruction:
      return "instruction";
    case ResolveReason::kBarrier:
      return "barrier";
    case ResolveReason::kLanes:
      return "lanes";
  }
  return "?";
}

std::string At(Position at) { return at.is_exit() ? "exit" : absl::StrCat(at.pc(), "/", at.depth()); }

// Splits, and writes down every resolve: "cycle reason pc>next+next r=reconvergence".
class Recording : public SplittingPolicy {
 public:
  Recording(Log& log, uint32_t interests) : log_(log), interests_(interests) {}
  uint32_t interests() const override { return interests_; }
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    std::string line = absl::StrCat(editor.now(), " ", Reason(resolution.reason), " ", At(resolution.from), ">");
    for (const PathGroup& group : resolution.groups) absl::StrAppend(&line, At(group.at), group.taken ? "t " : " ");
    if (resolution.exited != 0) absl::StrAppend(&line, "exit ");
    if (resolution.conditional) absl::StrAppend(&line, "r=", At(resolution.reconvergence));
    log_.push_back(line);
    return SplittingPolicy::Resolve(resolution, editor);
  }

 protected:
  Log& log_;
  const uint32_t interests_;
};

// pc 0 alu, 1 branch; 2 alu; 3 alu; 4 exit. Both sides meet at 4.
trace::v1::KernelProgram Diamond() {
  return ProgramBuilder("diamond")
      .Block("top")
      .Alu(1)
      .Branch("left", "right")
      .Block("left")
      .Alu(1)
      .Jump("join")
      .Block("right")
      .Alu(1)
      .Block("join")
      .Exit()
      .Build();
}

Log ResolvesOf(const std::string& name, uint32_t interests, const trace::v1::KernelProgram& program,
               const std::vector<ThreadTrace>& threads) {
  static std::map<std::string, Log> logs;
  Log& log = logs[name];
  RegisterPolicy(name,
                 [&log, interests](const DivergenceContext&) { return std::make_unique<Recording>(log, interests); });
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, threads), {.divergence = name});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  return log;
}

TEST(Resolve, IsAskedOnlyForDivergenceAndExitsByDefault) {
  EXPECT_THAT(ResolvesOf("control_uniform", kControlOnly, Diamond(), {Thread({0}), Thread({0})}),
              ElementsAre("4 control 4/0>exit "));
  EXPECT_THAT(ResolvesOf("control_diverged", kControlOnly, Diamond(), {Thread({0}), Thread({1})}),
              ElementsAre("2 control 1/0>2/0 3/0t r=4/0", "5 control 4/0>exit ", "6 control 4/0>exit "));
}

TEST(Resolve, AtEveryBlockEndIncludesFallThroughAndJumps) {
  EXPECT_THAT(ResolvesOf("block_ends", kEveryBlockEnd, Diamond(), {Thread({1}), Thread({1})}),
              ElementsAre("2 control 1/0>3/0t r=4/0", "3 block end 3/0>4/0 ", "4 control 4/0>exit "));
}

TEST(Resolve, AfterEveryInstruction) {
  EXPECT_THAT(
      ResolvesOf("instructions", kEveryInstruction, Diamond(), {Thread({0})}),
      ElementsAre("1 instruction 0/0>1/0 ", "2 control 1/0>2/0 r=4/0", "3 block end 2/0>4/0 ", "4 control 4/0>exit "));
}

// pc 0 call, 1 exit | f: 2 branch; 3 return; 4 return
TEST(Resolve, KnowsCallDepthAndTheCallersContinuation) {
  const auto program = ProgramBuilder("calls")
                           .Block("main")
                           .Call("f", "after")
                           .Block("after")
                           .Exit()
                           .Function("f")
                           .Block("f0")
                           .Branch("f1", "f2")
                           .Block("f1")
                           .Return()
                           .Block("f2")
                           .Return()
                           .Build();
  EXPECT_THAT(ResolvesOf("depths", kControlOnly, program, {Thread({0}), Thread({1})}),
              ElementsAre("2 control 2/1>3/1 4/1t r=1/0", "5 control 1/0>exit ", "6 control 1/0>exit "));
}

// pc 0 wide; 1, 2, 3 exits
TEST(Resolve, GroupsWideBranchesByPlaceAscending) {
  const auto program = ProgramBuilder("wide")
                           .Block("top")
                           .Wide({"a", "b", "c"})
                           .Block("a")
                           .Exit()
                           .Block("b")
                           .Exit()
                           .Block("c")
                           .Exit()
                           .Build();
  const Log log = ResolvesOf("wide", kControlOnly, program, {Thread({2}), Thread({0}), Thread({1}), Thread({2})});
  ASSERT_FALSE(log.empty());
  EXPECT_EQ(log[0], "1 control 0/0>1/0 2/0 3/0 r=exit");
}

// Stops at pc 2 first, then nowhere.
class Stopping : public Recording {
 public:
  using Recording::Recording;
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override {
    DivergencePolicy::Admit(admission, editor);
    editor.SetStop(0, Position(2, 0));
  }
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    if (resolution.reason == ResolveReason::kStop) editor.SetStop(resolution.slot, Position::Exit());
    return Recording::Resolve(resolution, editor);
  }
};

TEST(Resolve, AtTheStopPositionOfASlot) {
  static Log log;
  RegisterPolicy("stops", [](const DivergenceContext&) { return std::make_unique<Stopping>(log, kControlOnly); });
  const auto program = ProgramBuilder("straight").Alu(4).Exit().Build();
  ASSERT_TRUE(RunTrace(*MakeTrace(program, 1, {Thread({})}), {.divergence = "stops"}).status.ok());
  EXPECT_THAT(log, ElementsAre("2 stop 1/0>2/0 ", "5 control 4/0>exit "));
}

// --- refusals

// Refuses the first `times` resolves.
class Refusing : public SplittingPolicy {
 public:
  explicit Refusing(int times) : left_(times) {}
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    if (left_ > 0) {
      --left_;
      return Verdict::kRefused;
    }
    return SplittingPolicy::Resolve(resolution, editor);
  }

 private:
  int left_;
};

TEST(RefusedResolve, StallsWriteBackAndWhatIsBehindIt) {
  RegisterPolicy("refuses_5", [](const DivergenceContext&) { return std::make_unique<Refusing>(5); });
  // pc 0 branch, 1 exit, 2 exit; three warps. Warp 0's branch commits in cycle 1, is refused in 1 to 5, goes on in 6.
  const auto program =
      ProgramBuilder("refused").Block("t").Branch("a", "b").Block("a").Exit().Block("b").Exit().Build();
  std::vector<ThreadTrace> threads;
  for (int i = 0; i < 12; ++i) threads.push_back(Thread({static_cast<uint8_t>(i & 1)}));
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, threads), {.divergence = "refuses_5", .scheduler = "fifo"});
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  // One instruction may wait for write-back and one more enters the pipeline behind it; then the front end is full.
  EXPECT_EQ(outcome.log.text(),
            "0:0[0 1 2 3] 1:0[4 5 6 7] 6:0[8 9 10 11] 7:1[0 - 2] 8:2[- 1 - 3] 9:1[4 - 6] 10:2[- 5 - 7] "
            "11:1[8 - 10] 12:2[- 9 - 11]");
  EXPECT_EQ(outcome.launch().scheduler_cycles().stall(), 4);
  EXPECT_EQ(outcome.launch().scheduler_cycles().issued(), 9);
}

TEST(RefusedResolve, ForEverIsADeadlockThatSaysSo) {
  RegisterPolicy("refuses_all", [](const DivergenceContext&) { return std::make_unique<Refusing>(1 << 30); });
  const auto program = ProgramBuilder("refused").Exit().Build();
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, {Thread({})}), {.divergence = "refuses_all"});
  EXPECT_THAT(outcome.status.message(), HasSubstr("the policy refuses the write-back of slot 0 at pc 0"));
}

// Nullifies every other issue.
class Nullifying : public SplittingPolicy {
 public:
  uint32_t interests() const override { return kIssue; }
  Verdict AcceptIssue(SlotId, WarpEditor&) override {
    return ++asked_ % 2 == 1 ? Verdict::kRefused : Verdict::kAccepted;
  }

 private:
  int asked_ = 0;
};

TEST(AcceptIssue, RefusedLosesTheSchedulerCycle) {
  RegisterPolicy("nullifies", [](const DivergenceContext&) { return std::make_unique<Nullifying>(); });
  const auto program = ProgramBuilder("straight").Alu(2).Exit().Build();
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, {Thread({})}), {.divergence = "nullifies"});
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.log.text(), "1:0[0] 3:1[0] 5:2[0]");
  EXPECT_EQ(outcome.launch().scheduler_cycles().stall(), 3);
  EXPECT_EQ(outcome.launch().idle_threads().ready(), 3);
}

// --- penalties, inserted instructions, timers, ticks

class Penalising : public SplittingPolicy {
 public:
  int IssuePenalty(SlotId slot, const WarpTable&) const override { return slot == 0 ? 3 : 0; }
};

TEST(IssuePenalty, HoldsThePort) {
  RegisterPolicy("penalises", [](const DivergenceContext&) { return std::make_unique<Penalising>(); });
  const auto program = ProgramBuilder("straight").Exit().Build();
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, std::vector<ThreadTrace>(8)), {.divergence = "penalises"});
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.log.text(), "0:0[0 1 2 3] 4:0[4 5 6 7]");
  EXPECT_EQ(outcome.launch().scheduler_cycles().stall(), 3);
}

class Inserting : public SplittingPolicy {
 public:
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override {
    DivergencePolicy::Admit(admission, editor);
    editor.InsertInstructions(0, 2);
  }
};

TEST(InsertInstructions, TakeTimeAndAreCountedApart) {
  RegisterPolicy("inserts", [](const DivergenceContext&) { return std::make_unique<Inserting>(); });
  RunOptions options{.divergence = "inserts"};
  options.machine.mutable_core()->set_pipeline_depth(5);
  const auto program = ProgramBuilder("straight").Alu(1).Exit().Build();
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, {Thread({})}), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.log.text(), "10:0[0] 15:1[0]");
  EXPECT_EQ(outcome.launch().inserted_instructions(), 2);
  EXPECT_EQ(outcome.launch().warp_instructions(), 2);
  EXPECT_EQ(outcome.launch().scheduler_cycles().issued(), 4);
}

// Holds every warp back until a timer frees it.
class Delaying : public SplittingPolicy {
 public:
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override {
    DivergencePolicy::Admit(admission, editor);
    for (size_t slot = 0; slot < admission.warps.size(); ++slot) {
      editor.Park(slot);
      editor.StartTimer(20 - 5 * slot, slot);
    }
  }
  void Timer(uint64_t tag, WarpEditor& editor) override { editor.Offer(static_cast<SlotId>(tag)); }
};

TEST(Timer, WakesASleepingCoreBeforeSelection) {
  RegisterPolicy("delays", [](const DivergenceContext&) { return std::make_unique<Delaying>(); });
  const auto program = ProgramBuilder("straight").Exit().Build();
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, std::vector<ThreadTrace>(8)), {.divergence = "delays"});
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.log.text(), "15:0[4 5 6 7] 20:0[0 1 2 3]");
  EXPECT_EQ(outcome.launch().idle_threads().cycles(), 19);
  EXPECT_EQ(outcome.launch().idle_threads().inactive(), 15 * 8 + 4 * 4);
}

class Ticking : public SplittingPolicy {
 public:
  uint32_t interests() const override { return kEveryCycle; }
  void Tick(WarpEditor& editor) override { cycles.push_back(editor.now()); }
  static std::vector<Cycle> cycles;
};
std::vector<Cycle> Ticking::cycles;

TEST(Tick, ComesOnceInEveryCycleWithAResidentBlock) {
  RegisterPolicy("ticks", [](const DivergenceContext&) { return std::make_unique<Ticking>(); });
  RunOptions options{.divergence = "ticks"};
  options.machine.mutable_core()->set_pipeline_depth(3);
  const auto program = ProgramBuilder("straight").Alu(1).Exit().Build();
  ASSERT_TRUE(RunTrace(*MakeTrace(program, 1, {Thread({})}), options).status.ok());
  EXPECT_THAT(Ticking::cycles, ElementsAre(0, 1, 2, 3, 4, 5));
}

// --- barriers and long waits

class BarrierWatcher : public Recording {
 public:
  using Recording::Recording;
  void BarrierArrived(SlotId slot, uint32_t barrier, WarpEditor& editor) override {
    log_.push_back(absl::StrCat(editor.now(), " arrived ", slot, " at ", barrier));
  }
  bool BarrierReleased(SlotId slot, uint32_t barrier, WarpEditor& editor) override {
    log_.push_back(absl::StrCat(editor.now(), " released ", slot, " from ", barrier));
    return slot == 1;
  }
};

TEST(Barriers, AreToldAndCanBeResolved) {
  static Log log;
  RegisterPolicy("watches", [](const DivergenceContext&) { return std::make_unique<BarrierWatcher>(log, kBarriers); });
  const auto program = ProgramBuilder("sync").Barrier(5).Exit().Build();
  ASSERT_TRUE(RunTrace(*MakeTrace(program, 1, std::vector<ThreadTrace>(8)), {.divergence = "watches"}).status.ok());
  EXPECT_THAT(log, ElementsAre("0 arrived 0 at 5", "1 arrived 1 at 5", "2 released 0 from 5", "2 released 1 from 5",
                               "2 barrier 0/0>1/0 ", "3 control 1/0>exit ", "4 control 1/0>exit "));
}

class LongLatencyWatcher : public Recording {
 public:
  using Recording::Recording;
  void LongLatency(SlotId slot, WarpEditor& editor) override {
    log_.push_back(absl::StrCat(editor.now(), " long ", slot));
  }
};

TEST(LongLatency, IsToldForAccessesBeyondTheCore) {
  static Log log;
  RegisterPolicy("waits",
                 [](const DivergenceContext&) { return std::make_unique<LongLatencyWatcher>(log, kLongLatency); });
  const auto program = ProgramBuilder("loads").Load(trace::v1::SPACE_SHARED).Load().Exit().Build();
  ASSERT_TRUE(RunTrace(*MakeTrace(program, 1, {Thread({}, {0x100, 0x200})}), {.divergence = "waits"}).status.ok());
  EXPECT_THAT(log, ElementsAre("1 long 0", "3 control 2/0>exit "));
}

// --- several slots in one issue

class Pairing : public SplittingPolicy {
 public:
  int issue_slots() const override { return 4; }
  // Only slots whose numbers have the same parity.
  bool MayIssueWith(std::span<const SlotId> chosen, SlotId candidate, const WarpTable&) const override {
    return chosen[0] % 2 == candidate % 2;
  }
};

TEST(SeveralSlots, IssueTogetherUpToAWarpAndCountOnce) {
  RegisterPolicy("pairs", [](const DivergenceContext&) { return std::make_unique<Pairing>(); });
  // After the branch: slot 0 holds 0, slot 1 (spawned) 1 2 3; of warp 1 slot 2 holds 4 5 6, slot 3 holds 7.
  const auto program = ProgramBuilder("pairs").Block("t").Branch("a", "b").Block("a").Exit().Block("b").Exit().Build();
  std::vector<ThreadTrace> threads;
  for (const int side : {0, 1, 1, 1, 0, 0, 0, 1}) threads.push_back(Thread({static_cast<uint8_t>(side)}));
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, threads), {.divergence = "pairs", .scheduler = "fifo"});
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.launch().thread_instructions(), 16);
  EXPECT_LT(outcome.launch().warp_instructions(), 6);
  for (const LoggedIssue& issue : outcome.log.issues()) EXPECT_LE(issue.members.size(), 4);
}

// --- broken policies

class Losing : public SplittingPolicy {
 public:
  Verdict Resolve(const Resolution&, WarpEditor&) override { return Verdict::kAccepted; }
};

TEST(BrokenPolicy, IsStoppedWithLaunchKernelPolicyAndSlot) {
  RegisterPolicy("loses", [](const DivergenceContext&) { return std::make_unique<Losing>(); });
  const auto program = ProgramBuilder("victim").Exit().Build();
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, {Thread({})}), {.divergence = "loses"});
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(outcome.status.message(), HasSubstr("launch 0 (victim) under loses and lrr"));
  EXPECT_THAT(outcome.status.message(), HasSubstr("slot 0 in cycle 1"));
}

// Sends what it is given, one after another.
class Sending : public BlockDispatcher {
 public:
  explicit Sending(std::vector<Assignment> sends) : sends_(std::move(sends)) {}
  std::optional<Assignment> Next(std::span<const SmOccupancy>, std::span<const bool>) override {
    return done() ? std::nullopt : std::optional(sends_[next_++]);
  }
  bool done() const override { return next_ == sends_.size(); }

 private:
  std::vector<Assignment> sends_;
  size_t next_ = 0;
};

TEST(BrokenPolicy, ADispatcherIsToldWhatIsWrongWithAnAssignment) {
  const struct {
    const char* name;
    std::vector<Assignment> sends;
    const char* says;
  } wrong[] = {
      {"sends_elsewhere", {{1, 0}}, "sent block 0 to SM 1, but the machine has 1 SMs"},
      {"sends_nothing", {{0, 2}}, "sent block 2 to SM 0, but the launch has 2 blocks"},
      {"sends_again", {{0, 1}, {0, 1}}, "sent block 1 to SM 0, but had sent that block before"},
      {"sends_two", {{0, 0}, {0, 1}}, "sent block 1 to SM 0, which has taken a block in this cycle"},
  };
  const auto trace = MakeTrace(ProgramBuilder("k").Exit().Build(), 2, std::vector<ThreadTrace>(8));
  for (const auto& [name, sends, says] : wrong) {
    DispatchRegistry::Get().Register(
        {.name = name, .summary = "wrong", .source = "tests"},
        [sends](const DispatchContext&, const Parameters&) { return std::make_unique<Sending>(sends); });
    const Outcome outcome = RunTrace(*trace, {.dispatch = name});
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(outcome.status.message(), HasSubstr(says));
    EXPECT_THAT(outcome.status.message(), HasSubstr(absl::StrCat("under pdom and lrr, dispatch ", name, ": ")));
  }
}

TEST(BrokenPolicy, AFactoryThatMakesNothingEndsTheRun) {
  SchedulerRegistry::Get().Register({.name = "makes_nothing", .summary = "wrong", .source = "tests"},
                                    [](const SchedulerContext&, const Parameters&) { return nullptr; });
  const auto trace = MakeTrace(ProgramBuilder("k").Exit().Build(), 1, std::vector<ThreadTrace>(4));
  const Outcome outcome = RunTrace(*trace, {.scheduler = "makes_nothing"});
  EXPECT_THAT(outcome.status.message(), HasSubstr("the factory of policy makes_nothing returned null"));
}

TEST(BrokenPolicy, WhatItThrowsEndsTheRunAndNamesCallAndCycle) {
  struct Throws final : WarpScheduler {
    explicit Throws(const Cycle* clock) : clock(clock) {}
    SlotId Pick(const SlotSet& eligible) const override {
      // Nothing that is derived from std::exception: policies are whoever's code.
      if (*clock >= 40) std::rethrow_exception(std::make_exception_ptr(5));
      return eligible.First();
    }
    const Cycle* clock;
  };
  SchedulerRegistry::Get().Register(
      {.name = "throws", .summary = "wrong", .source = "tests"},
      [](const SchedulerContext& context, const Parameters&) { return std::make_unique<Throws>(context.clock); });
  const auto trace = MakeTrace(ProgramBuilder("k").Alu(60).Exit().Build(), 1, std::vector<ThreadTrace>(4));
  const Outcome outcome = RunTrace(*trace, {.scheduler = "throws"});
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(outcome.status.message(), HasSubstr("an exception in Pick of scheduler 'throws' on SM 0 in cycle 4"));
}

}  // namespace
}  // namespace heddle::replay
