// What a machine may say of asynchronous copies and transaction barriers, in cycles by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/replay/core/async_harness.h"
#include "tests/traces/collective_programs.h"

namespace heddle::replay {
namespace {

using trace::testing::MakeCopy;
using trace::testing::MakeGroup;
using trace::testing::MakeTransactionBarrier;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;
using trace::v1::Async;
using trace::v1::KernelProgram;

// When the last instruction is issued.
Cycle LastIssue(const trace::TraceReader& trace, const RunOptions& options) {
  const Outcome outcome = RunTicking(trace, options);
  return outcome.log.issues().empty() ? 0 : outcome.log.issues().back().cycle;
}

// One warp of four threads issues so many copies of 64 bytes from cycle 0 on, waits for all of them, and exits.
Cycle EndOfCopies(int copies, const std::vector<std::string>& assignments) {
  KernelProgram program = Straight(copies + 1);
  for (int i = 0; i < copies; ++i) MakeCopy(*program.mutable_instruction(i));
  MakeGroup(*program.mutable_instruction(copies), Async::WAIT_ALL);
  return LastIssue(*MakeTrace(program, 1, Threads(4, copies)), Slow(assignments));
}

// Without limits: read from 1 to 21, written from 21 to 26; the second copy a cycle later.
TEST(CopyLimits, NoneByDefault) {
  EXPECT_EQ(EndOfCopies(1, {}), 26u);
  EXPECT_EQ(EndOfCopies(2, {}), 27u);
}

TEST(CopyLimits, LatencyFromTheIssueOn) {
  EXPECT_EQ(EndOfCopies(1, {"core.copies.issue_latency=3"}), 29u);
  EXPECT_EQ(EndOfCopies(2, {"core.copies.issue_latency=3"}), 30u) << "and not a rate";
}

TEST(CopyLimits, LatencyFromTheDataToTheirWay) {
  EXPECT_EQ(EndOfCopies(1, {"core.copies.write_latency=4"}), 30u);
  EXPECT_EQ(EndOfCopies(2, {"core.copies.write_latency=4"}), 31u);
}

// 64 bytes at 2 per cycle: the second copy begins in 33, the third in 65, and ends 25 cycles later. At 30 per cycle a
// copy takes 3 cycles.
TEST(CopyLimits, BytesPerCycle) {
  EXPECT_EQ(EndOfCopies(1, {"core.copies.bytes_per_cycle=2"}), 26u);
  EXPECT_EQ(EndOfCopies(2, {"core.copies.bytes_per_cycle=2"}), 58u);
  EXPECT_EQ(EndOfCopies(3, {"core.copies.bytes_per_cycle=2"}), 90u);
  EXPECT_EQ(EndOfCopies(2, {"core.copies.bytes_per_cycle=30"}), 29u);
}

// One at a time: the second begins in 26, when the first has ended, the third in 51. Two at a time: the third begins in
// 26, the fourth in 27.
TEST(CopyLimits, CopiesInFlight) {
  EXPECT_EQ(EndOfCopies(2, {"core.copies.in_flight=1"}), 51u);
  EXPECT_EQ(EndOfCopies(3, {"core.copies.in_flight=1"}), 76u);
  EXPECT_EQ(EndOfCopies(4, {"core.copies.in_flight=2"}), 52u);
  EXPECT_EQ(EndOfCopies(4, {"core.copies.in_flight=4"}), 29u);
}

// A barrier for four arrivals: init in 0, arrive in 1, wait in 2, exit. The wait takes its usual cycle, to 3.
Cycle EndOfPhase(const std::vector<std::string>& assignments) {
  KernelProgram program = Straight(3);
  MakeTransactionBarrier(*program.mutable_instruction(0), Async::BARRIER_INIT, 4);
  MakeTransactionBarrier(*program.mutable_instruction(1), Async::BARRIER_ARRIVE, 1);
  MakeTransactionBarrier(*program.mutable_instruction(2), Async::BARRIER_WAIT, 1);
  const std::vector<ThreadTrace> threads(4, Thread({}, {kShared, kShared, kShared}));
  return LastIssue(*MakeTrace(program, 1, threads), Slow(assignments));
}

// The arrivals of 1 count in 1 + 9 and release the warp in that cycle, or so many later. Who finds the phase over does
// not wait, and has nothing to wake from.
TEST(TransactionBarrierTimes, ArrivalsAndWakingTakeTime) {
  EXPECT_EQ(EndOfPhase({}), 3u);
  EXPECT_EQ(EndOfPhase({"core.transaction_barriers.arrival_latency=9"}), 10u);
  EXPECT_EQ(EndOfPhase({"core.transaction_barriers.wake_latency=7"}), 3u);
  EXPECT_EQ(EndOfPhase({"core.transaction_barriers.arrival_latency=9", "core.transaction_barriers.wake_latency=7"}),
            17u);
}

// The copy, issued in 1, ends in 27. Its arrival counts 6 cycles later.
TEST(TransactionBarrierTimes, ArrivalsBehindCopiesTakeTimeAsWell) {
  const auto trace = ArrivalsBehindACopy();
  EXPECT_EQ(LastIssue(*trace, Slow()), 27u);
  EXPECT_EQ(LastIssue(*trace, Slow({"core.transaction_barriers.arrival_latency=6"})), 33u);
}

// Block 0 arrives in 1 and leaves. Its arrivals are on their way when block 1 begins at its place, with a barrier at
// the same address: they do not count there, in 101.
TEST(TransactionBarrierTimes, ArrivalsDoNotOutliveTheirBlock) {
  KernelProgram program = ProgramBuilder("left")
                              .Block("head")
                              .Alu(2)
                              .Branch("stay", "out")
                              .Block("stay")
                              .Alu()
                              .Exit()
                              .Block("out")
                              .Exit()
                              .Build();
  MakeTransactionBarrier(*program.mutable_instruction(0), Async::BARRIER_INIT, 4);
  MakeTransactionBarrier(*program.mutable_instruction(1), Async::BARRIER_ARRIVE, 1);
  MakeTransactionBarrier(*program.mutable_instruction(3), Async::BARRIER_WAIT, 1);
  std::vector<ThreadTrace> threads(4, Thread({1}, {kShared, kShared}));
  threads.resize(8, Thread({0}, {kShared, kShared, kShared}));
  const auto trace = MakeTrace(program, 2, threads);
  const RunOptions options = Slow({"core.transaction_barriers.arrival_latency=100", "core.max_blocks=1"});
  const Outcome outcome = RunTrace(*trace, options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  Cycle arrived = 0;
  for (const LoggedIssue& issue : outcome.log.issues()) {
    if (issue.members[0].block == 1 && issue.members[0].pc == 1) arrived = issue.cycle;
  }
  EXPECT_GT(arrived, 1u);
  EXPECT_EQ(LastIssue(*trace, options), arrived + 100);
}

}  // namespace
}  // namespace heddle::replay
