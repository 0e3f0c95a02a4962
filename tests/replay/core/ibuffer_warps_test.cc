// Warps beside one another under the front end with instruction buffers: registers of hardware warps that several warps
// have threads of, schedulers side by side, counted barriers, and what a hang looks like.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "replay/machine/machine.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/lane_mask.h"
#include "replay/seams/warp_scheduler.h"
#include "tests/replay/core/ibuffer_harness.h"

namespace heddle::replay {
namespace {

using machine::v1::OperationTiming;
using testing::AllOf;
using testing::HasSubstr;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

// Splits at a branch; a warp that comes to the end of a block without one is taken apart, and is put together again
// when threads exit.
class WaitsForExits final : public SplittingPolicy {
 public:
  uint32_t interests() const override { return kEveryBlockEnd; }
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    if (resolution.reason == ResolveReason::kBlockEnd) {
      waiting_ = resolution.slot;
      lanes_ = *resolution.lanes;
      at_ = resolution.groups[0].at;
      editor.Park(resolution.slot);
      return Verdict::kAccepted;
    }
    const Verdict verdict = SplittingPolicy::Resolve(resolution, editor);
    if (resolution.exited != 0 && waiting_ != kNoSlot) {
      editor.Place(waiting_, at_, lanes_);
      waiting_ = kNoSlot;
    }
    return verdict;
  }

 private:
  SlotId waiting_ = kNoSlot;
  Lanes lanes_;
  Position at_;
};

// 0 start; 1 left, falls through to 2 end; 3 right, 4 its exit.
trace::v1::KernelProgram LeftAndRight() {
  return ProgramBuilder("sides")
      .Block("start")
      .Branch("left", "right")
      .Block("left")
      .Op(trace::v1::OP_INT_MUL)
      .Block("end")
      .Exit()
      .Block("right")
      .Op(trace::v1::OP_INT_MUL)
      .Exit()
      .Build();
}

TEST(HwWarpsOfSeveralWarps, AWriteHoldsTheOtherWarpUpThoughTheWriterHasLeftTheHwWarp) {
  RegisterPolicy("waits_for_exits", [](const DivergenceContext&) { return std::make_unique<WaitsForExits>(); });
  RunOptions options = Small();
  options.divergence = "waits_for_exits";
  options.scheduler = "oldest";
  // The branch takes the SP unit until 10, by when both sides have been fetched.
  Units(options).mutable_timing(0)->set_initiation_interval(8);
  AddTiming(options, OperationTiming::INT_MUL, 20, 1, OperationTiming::SP_UNIT);
  trace::v1::KernelProgram program = LeftAndRight();
  SetRegisters(program, 1, {7}, {});
  SetRegisters(program, 3, {8}, {7});
  const std::vector<ThreadTrace> threads = {Thread({0}), Thread({1}), Thread({0}), Thread({1})};
  // Both multiplications lack nothing but the unit, until the left one, older, issues in 10, and its warp dissolves.
  // Register 7 of the hardware warp is pending until 30 all the same. The exits: 31, result 35; fetched for in 35,
  // ready in 37, but the unit is taken until 39.
  const Outcome waits = RunBoth(*MakeTrace(program, 1, threads), options);
  EXPECT_EQ(Issues(waits, /*threads=*/true), "2:0@0 10:1@0 30:3@1 31:4@1 39:2@0");
  EXPECT_EQ(waits.launch().stalls().data(), 30 - 11);
  // Another register: nothing waits.
  SetRegisters(program, 3, {8}, {9});
  const Outcome free = RunBoth(*MakeTrace(program, 1, threads), options);
  EXPECT_EQ(Issues(free, /*threads=*/true), "2:0@0 10:1@0 11:3@1 12:4@1 20:2@0");
}

// At the branch behind them, two warps 0-3 and 4-7 give threads 0, 1, 6, 7 to a third one.
class MixesTwoHwWarps final : public SplittingPolicy {
 public:
  uint32_t interests() const override { return kEveryBlockEnd; }
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    if (!resolution.conditional) return SplittingPolicy::Resolve(resolution, editor);
    const bool first = resolution.lanes->thread[0] == 0;
    const LaneMask given = first ? 0b0011 : 0b1100;
    ForEachLane(given, [&](int lane) { mixed_.thread[lane] = resolution.lanes->thread[lane]; });
    mixed_.mask |= given;
    Lanes kept = *resolution.lanes;
    kept.mask = 0b1111 & ~given;
    editor.Place(resolution.slot, resolution.groups[0].at, kept);
    if (!first) editor.Spawn(resolution.groups[0].at, mixed_);
    return Verdict::kAccepted;
  }

 private:
  Lanes mixed_;
};

TEST(HwWarpsOfSeveralWarps, AWriteOfAMixedWarpIsPendingForItsOwnThreadsOnly) {
  RegisterPolicy("mixes_two_hw_warps", [](const DivergenceContext&) { return std::make_unique<MixesTwoHwWarps>(); });
  RunOptions options = Small();
  options.divergence = "mixes_two_hw_warps";
  options.scheduler = "oldest";
  AddTiming(options, OperationTiming::INT_MUL, 20, 1, OperationTiming::SP_UNIT);
  trace::v1::KernelProgram program = ProgramBuilder("mixed")
                                         .Block("start")
                                         .Branch("work", "never")
                                         .Block("work")
                                         .Op(trace::v1::OP_INT_MUL)
                                         .Alu(3)
                                         .Exit()
                                         .Block("never")
                                         .Exit()
                                         .Build();
  SetRegisters(program, 1, {7}, {});
  SetRegisters(program, 2, {8}, {7});
  SetRegisters(program, 3, {9}, {8});
  SetRegisters(program, 4, {10}, {7});
  const Outcome outcome = RunBoth(*MakeTrace(program, 1, std::vector<ThreadTrace>(8, Thread({0}))), options);
  // The warps of one hardware warp multiply in 6 and 7, when their branches have resolved, into register 7 of the whole
  // hardware warps, so that the mixed warp has to wait for both, until 27, where the older warp goes first. Its own
  // product, from 28 to 48, does not hold the others up: they read register 7 in 32 and 34.
  EXPECT_EQ(Issues(outcome, /*threads=*/true),
            "2:0@0 3:0@4 6:1@2 7:1@4 26:2@2 27:2@4 28:1@0 30:3@2 31:3@4 32:4@2 33:5@2 34:4@4 35:5@4 48:2@0 52:3@0 "
            "53:4@0 55:5@0");
}

TEST(Schedulers, FourIssueInOneCycleAsFarAsUnitsGo) {
  RunOptions options = Small();
  options.machine.mutable_core()->set_schedulers(4);
  Units(options).set_sp(4);
  const auto program = ProgramBuilder("four").Barrier().Alu(1).Exit().Build();
  // Fetched for one after the other, the warps meet at a barrier, and go on in 6 with what they fetched before it.
  const Outcome four = RunBlock(program, 16, options);
  EXPECT_EQ(Issues(four, /*threads=*/true),
            "2:0@0 3:0@4 4:0@8 5:0@12 6:1@0 6:1@4 6:1@8 6:1@12 8:2@0 9:2@4 10:2@8 11:2@12");
  EXPECT_EQ(four.launch().stalls().structural(), 0);
  // With two units, ports 2 and 3 wait for a cycle.
  Units(options).set_sp(2);
  const Outcome two = RunBlock(program, 16, options);
  EXPECT_EQ(Issues(two, /*threads=*/true),
            "2:0@0 3:0@4 4:0@8 5:0@12 6:1@0 6:1@4 7:1@8 7:1@12 8:2@0 9:2@4 10:2@8 11:2@12");
  EXPECT_EQ(two.launch().stalls().structural(), 2);
}

TEST(Barriers, WithACountOpenForThatManyThreads) {
  // Warps 0 and 1 meet at the barrier of eight threads; warp 2 goes by.
  const auto program = ProgramBuilder("counted")
                           .Block("start")
                           .Branch("meet", "end")
                           .Block("meet")
                           .Barrier(1, 8)
                           .Block("end")
                           .Exit()
                           .Build();
  std::vector<ThreadTrace> threads(8, Thread({0}));
  threads.resize(12, Thread({1}));
  const Outcome outcome = RunBoth(*MakeTrace(program, 1, threads), Small());
  // Branches 2, 3, 4, resolved in 6, 7, 8. The barriers are in the buffer and issue in 6 and 7; both warps go on in 8,
  // and their exits have been fetched: warp 0's in 6, warp 1's in 7. Warp 2 is fetched for in 8.
  EXPECT_EQ(Issues(outcome, /*threads=*/true), "2:0@0 3:0@4 4:0@8 6:1@0 7:1@4 8:2@0 9:2@4 10:2@8");
}

// ------------------------------------------------------------------------------------------ the instruction cache

TEST(InstructionCache, AFetchEndsAtTheLineAndAMissWaitsForIt) {
  RunOptions options = Small();
  Buffer(options).set_entries(3);
  Buffer(options).set_fetch_instructions(3);
  *options.machine.mutable_memory() = LoadMachine("ideal_gtx480").value().memory();
  machine::v1::Hierarchy& memory = *options.machine.mutable_memory()->mutable_hierarchy();
  memory.mutable_l1_instruction()->set_line_bytes(32);  // four instructions
  memory.set_ideal_beyond_l1_cycles(10);
  trace::v1::KernelProgram program = ProgramBuilder("lines").Alu(6).Exit().Build();
  for (int i = 0; i < 6; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  const Outcome outcome = RunBlock(program, 4, options);
  // Asked for in 0, the first line is sent for in 1 and there in 11, when it is fetched. Instruction 3 is alone behind
  // the first three; the second line is missed in 17, and there in 28.
  EXPECT_EQ(Issues(outcome), "13:0 14:1 15:2 17:3 30:4 31:5 32:6");
  EXPECT_EQ(outcome.launch().fetch().fetches(), 3);
  EXPECT_EQ(outcome.launch().l1_instruction().misses(), 2);
}

// ------------------------------------------------------------------------------------------ hangs

absl::Status Hang(const RunOptions& options) {
  const auto program = ProgramBuilder("hang").Load().Alu(1).Exit().Build();
  return RunTrace(*MakeTrace(program, 1, std::vector<ThreadTrace>(8, Thread({}, {0x1000}))), options).status;
}

TEST(Hang, OfTheFetchIsReported) {
  struct Never final : FetchPolicy {
    SlotId Pick(const FetchView&) const override { return kNoSlot; }
  };
  FetchRegistry::Get().Register(PolicyInfo{.name = "never", .summary = "made by a test", .source = "tests"},
                                [](const FetchContext&, const Parameters&) { return std::make_unique<Never>(); });
  RunOptions options = Small();
  options.fetch = "never";
  EXPECT_THAT(Hang(options).message(),
              AllOf(HasSubstr("nothing was issued or completed on SM 0"), HasSubstr("block 0 threads 0-7 at pc 0"),
                    HasSubstr("deadlock under fetch policy 'never' on SM 0"), HasSubstr("wait to be fetched for")));
}

TEST(Hang, OfTheSchedulerIsReported) {
  struct Declines final : WarpScheduler {
    SlotId Pick(const SlotSet&) const override { return kNoSlot; }
  };
  SchedulerRegistry::Get().Register(
      PolicyInfo{.name = "declines", .summary = "made by a test", .source = "tests"},
      [](const SchedulerContext&, const Parameters&) { return std::make_unique<Declines>(); });
  RunOptions options = Small();
  options.scheduler = "declines";
  EXPECT_THAT(Hang(options).message(), AllOf(HasSubstr("nothing was issued or completed on SM 0"),
                                             HasSubstr("deadlock under scheduler 'declines' on SM 0"),
                                             HasSubstr("threads 0-7 at pc 0 are ready, but are not issued"),
                                             HasSubstr("the scheduler lets none of the warps that are ready issue")));
}

}  // namespace
}  // namespace heddle::replay
