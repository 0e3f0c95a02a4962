// Thread-block barriers: counted by block and barrier id, in threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

// pc 0 alu, 1 barrier, 2 alu, 3 exit
trace::v1::KernelProgram OneBarrier() { return ProgramBuilder("sync").Alu(1).Barrier().Alu(1).Exit().Build(); }

TEST(Barrier, OpensWhenAllThreadsHaveArrivedAndReleasesInTheNextCycle) {
  RunOptions options;
  // Warp 1's first instruction takes 10 cycles.
  auto& slow = *options.machine.mutable_core()->add_scripted_latency();
  slow.set_instruction(0);
  slow.set_first_thread(4);
  slow.set_last_thread(7);
  slow.set_cycles(10);
  const Outcome outcome = RunTrace(*MakeTrace(OneBarrier(), 1, std::vector<ThreadTrace>(8)), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.log.text(),
            "0:0[0 1 2 3] 1:0[4 5 6 7] 2:1[0 1 2 3] "
            "11:1[4 5 6 7] 12:2[0 1 2 3] 13:2[4 5 6 7] 14:3[0 1 2 3] 15:3[4 5 6 7]");
  EXPECT_EQ(outcome.launch().barriers(), 8);
  EXPECT_EQ(outcome.launch().cycles(), 16);
}

TEST(Barrier, AWarpResumesNotBeforeItsOwnWriteBack) {
  RunOptions options;
  options.machine.mutable_core()->set_pipeline_depth(6);
  const Outcome outcome = RunTrace(*MakeTrace(OneBarrier(), 1, std::vector<ThreadTrace>(8)), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  // The barrier opens at issue in cycle 7 and releases in cycle 8; write-back is in cycles 12 and 13.
  EXPECT_EQ(outcome.log.text(),
            "0:0[0 1 2 3] 1:0[4 5 6 7] 6:1[0 1 2 3] 7:1[4 5 6 7] "
            "12:2[0 1 2 3] 13:2[4 5 6 7] 18:3[0 1 2 3] 19:3[4 5 6 7]");
}

TEST(Barrier, ThreadsThatExitedAreNotWaitedFor) {
  // pc 0 branch, 1 exit, 2 barrier, 3 exit
  const auto program = ProgramBuilder("early")
                           .Block("start")
                           .Branch("leave", "stay")
                           .Block("leave")
                           .Exit()
                           .Block("stay")
                           .Barrier()
                           .Exit()
                           .Build();
  std::vector<ThreadTrace> threads(4, Thread({1}));
  threads.resize(8, Thread({0}));
  RunOptions options;
  auto& slow = *options.machine.mutable_core()->add_scripted_latency();  // the exit of warp 1
  slow.set_instruction(1);
  slow.set_last_thread(7);
  slow.set_cycles(20);
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, threads), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  // Warp 1 issues its exit in cycle 3, is gone in 23; the barrier releases in 24.
  EXPECT_EQ(outcome.log.text(), "0:0[0 1 2 3] 1:0[4 5 6 7] 2:2[0 1 2 3] 3:1[4 5 6 7] 24:3[0 1 2 3]");
}

// Arrivals in 2 and 3 are taken in 4 and 6; five cycles later the barrier opens.
TEST(Barrier, ArrivalsAreTakenOneByOneAndTheReleaseTakesTime) {
  RunOptions options;
  options.machine.mutable_core()->mutable_block_barriers()->set_arrival_interval(2);
  options.machine.mutable_core()->mutable_block_barriers()->set_release_latency(5);
  const Outcome outcome = RunTrace(*MakeTrace(OneBarrier(), 1, std::vector<ThreadTrace>(8)), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.log.text(),
            "0:0[0 1 2 3] 1:0[4 5 6 7] 2:1[0 1 2 3] 3:1[4 5 6 7] "
            "12:2[0 1 2 3] 13:2[4 5 6 7] 14:3[0 1 2 3] 15:3[4 5 6 7]");
}

TEST(Barrier, AnExitOpensItALatencyLater) {
  const auto program = ProgramBuilder("early")
                           .Block("start")
                           .Branch("leave", "stay")
                           .Block("leave")
                           .Exit()
                           .Block("stay")
                           .Barrier()
                           .Exit()
                           .Build();
  std::vector<ThreadTrace> threads(4, Thread({1}));
  threads.resize(8, Thread({0}));
  RunOptions options;
  options.machine.mutable_core()->mutable_block_barriers()->set_arrival_interval(2);
  options.machine.mutable_core()->mutable_block_barriers()->set_release_latency(5);
  auto& slow = *options.machine.mutable_core()->add_scripted_latency();  // the exit of warp 1
  slow.set_instruction(1);
  slow.set_last_thread(7);
  slow.set_cycles(20);
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, threads), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  // Warp 1 is gone in 23. Without the latency the barrier releases in 24.
  EXPECT_EQ(outcome.log.text(), "0:0[0 1 2 3] 1:0[4 5 6 7] 2:2[0 1 2 3] 3:1[4 5 6 7] 29:3[0 1 2 3]");
}

TEST(Barrier, BlocksAndIdsAreCountedApart) {
  // pc 0 barrier 1, 1 barrier 2, 2 exit: two blocks of one warp never wait for each other.
  const auto program = ProgramBuilder("ids").Barrier(1).Barrier(2).Exit().Build();
  const Outcome outcome = RunTrace(*MakeTrace(program, 2, std::vector<ThreadTrace>(8)));
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.launch().cycles(), 6);
  EXPECT_EQ(outcome.launch().barriers(), 16);
}

TEST(Barrier, WithACountWaitsForThatManyThreads) {
  // Warps 0 and 1 meet at barrier 0 of 8 threads; warp 2 does not take part.
  const auto program = ProgramBuilder("named")
                           .Block("start")
                           .Branch("alone", "meet")
                           .Block("alone")
                           .Exit()
                           .Block("meet")
                           .Barrier(0, 8)
                           .Exit()
                           .Build();
  std::vector<ThreadTrace> threads(8, Thread({1}));
  threads.resize(12, Thread({0}));
  RunOptions options;
  auto& slow = *options.machine.mutable_core()->add_scripted_latency();  // the exit of warp 2
  slow.set_instruction(1);
  slow.set_last_thread(11);
  slow.set_cycles(50);
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, threads), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.log.text(),
            "0:0[0 1 2 3] 1:0[4 5 6 7] 2:0[8 9 10 11] 3:2[0 1 2 3] 4:2[4 5 6 7] 5:1[8 9 10 11] "
            "6:3[0 1 2 3] 7:3[4 5 6 7]");
}

TEST(Barrier, CountsThreadsNotWarpsUnderDivergence) {
  // Both sides of a branch meet at the same barrier id at different PCs, as split warps.
  const auto program = ProgramBuilder("split")
                           .Block("start")
                           .Branch("a", "b")
                           .Block("a")
                           .Barrier()
                           .Exit()
                           .Block("b")
                           .Barrier()
                           .Exit()
                           .Build();
  const Outcome outcome =
      RunTrace(*MakeTrace(program, 1, {Thread({0}), Thread({1}), Thread({1}), Thread({0})}), {.divergence = "nrec"});
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.launch().barriers(), 4);
}

// A barrier of 8 threads in a block of 4: a recording cannot come from a run, but a damaged or forged one can.
TEST(Barrier, ThatCannotOpenIsReportedWithThreadsPlacesAndCounts) {
  const auto program = ProgramBuilder("stuck").Alu(2).Barrier(3, 8).Exit().Build();
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, std::vector<ThreadTrace>(4)));
  EXPECT_THAT(outcome.status.message(),
              AllOf(HasSubstr("launch 0 (stuck)"), HasSubstr("barrier deadlock"), HasSubstr("'pdom'"),
                    HasSubstr("block 0 threads 0-3 at pc 16 wait at barrier 3 (4 of 8 threads arrived)")));
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kFailedPrecondition);
}

class ParkingPolicy : public SplittingPolicy {
 public:
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    editor.Park(resolution.slot);
    return Verdict::kAccepted;
  }
  std::string Explain(const WarpTable&) const override { return "the second coming"; }
};

TEST(Deadlock, OfAPolicyIsReportedWithItsOwnExplanation) {
  RegisterPolicy("parks", [](const DivergenceContext&) { return std::make_unique<ParkingPolicy>(); });
  const auto program = ProgramBuilder("held").Block("s").Branch("a", "b").Block("a").Exit().Block("b").Exit().Build();
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, {Thread({0}), Thread({1})}), {.divergence = "parks"});
  EXPECT_THAT(outcome.status.message(),
              AllOf(HasSubstr("policy deadlock"), HasSubstr("threads 0 at pc 8 are held back by the policy"),
                    HasSubstr("the policy says: the second coming")));
}

class LivelockPolicy : public SplittingPolicy {
 public:
  uint32_t interests() const override { return kEveryCycle | kIssue; }
  Verdict AcceptIssue(SlotId, WarpEditor&) override { return Verdict::kRefused; }
};

TEST(Deadlock, OfAPolicyThatTicksForEverIsFound) {
  RegisterPolicy("livelocks", [](const DivergenceContext&) { return std::make_unique<LivelockPolicy>(); });
  const auto program = ProgramBuilder("spin").Alu(1).Exit().Build();
  RunOptions options{.divergence = "livelocks"};
  options.max_cycles = 0;
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, std::vector<ThreadTrace>(4)), options);
  EXPECT_THAT(outcome.status.message(), AllOf(HasSubstr("nothing was issued or completed"),
                                              HasSubstr("deadlock under divergence policy 'livelocks'"),
                                              HasSubstr("threads 0-3 at pc 0 are ready, but are not issued")));
}

TEST(Deadlock, MaxCyclesBoundsALaunch) {
  RunOptions options;
  options.max_cycles = 3;
  const Outcome outcome = RunTrace(*MakeTrace(OneBarrier(), 1, std::vector<ThreadTrace>(8)), options);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(outcome.status.message(), HasSubstr("not done after 3 cycles"));
}

}  // namespace
}  // namespace heddle::replay
