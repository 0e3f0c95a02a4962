// Transaction barriers of the own block: phases, and arrivals behind copies. Cycles by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/replay/core/async_harness.h"
#include "tests/traces/collective_programs.h"

namespace heddle::replay {
namespace {

using testing::HasSubstr;
using trace::testing::MakeCopy;
using trace::testing::MakeTransactionBarrier;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;
using trace::v1::Async;
using trace::v1::KernelProgram;

// init for 8 arrivals, barrier, add, arrive, wait for one phase, exit. The add takes warp 1 from 5 to 15, where it
// arrives; warp 0 goes on in the cycle behind.
TEST(TransactionBarrier, AWaitIsOverWithThePhase) {
  KernelProgram program = ProgramBuilder("phases").Alu(1).Barrier().Alu(3).Exit().Build();
  MakeTransactionBarrier(*program.mutable_instruction(0), Async::BARRIER_INIT, 8);
  MakeTransactionBarrier(*program.mutable_instruction(3), Async::BARRIER_ARRIVE, 1);
  MakeTransactionBarrier(*program.mutable_instruction(4), Async::BARRIER_WAIT, 1);
  RunOptions options;
  auto& slow = *options.machine.mutable_core()->add_scripted_latency();
  slow.set_instruction(2);
  slow.set_first_thread(4);
  slow.set_last_thread(7);
  slow.set_cycles(10);
  const std::vector<ThreadTrace> threads(8, Thread({}, {kShared, kShared, kShared}));
  EXPECT_EQ(LogOf(*MakeTrace(program, 1, threads), options),
            "0:0[0 1 2 3] 1:0[4 5 6 7] 2:1[0 1 2 3] 3:1[4 5 6 7] 4:2[0 1 2 3] 5:2[4 5 6 7] 6:3[0 1 2 3] 7:4[0 1 2 3] "
            "15:3[4 5 6 7] 16:5[0 1 2 3] 17:4[4 5 6 7] 18:5[4 5 6 7]");
}

// Threads arrive when their copies have ended: in 27, for the copy is issued in 1.
TEST(TransactionBarrier, CopiesArriveWhenTheyEnd) {
  EXPECT_EQ(LogOf(*ArrivalsBehindACopy(), Slow()), "0:0[0 1 2 3] 1:1[0 1 2 3] 2:2[0 1 2 3] 3:3[0 1 2 3] 27:4[0 1 2 3]");
}

// Without .noinc the phase expects four arrivals more: those in 3 do not complete it. They come with the first copy,
// in 27; nobody waits for the second.
TEST(TransactionBarrier, CopiesMayArriveBesidesThoseOfTheCount) {
  KernelProgram program = Straight(6);
  MakeTransactionBarrier(*program.mutable_instruction(0), Async::BARRIER_INIT, 4);
  for (const int at : {1, 4}) MakeCopy(*program.mutable_instruction(at));
  MakeTransactionBarrier(*program.mutable_instruction(2), Async::BARRIER_COPIES);
  MakeTransactionBarrier(*program.mutable_instruction(3), Async::BARRIER_ARRIVE, 1);
  MakeTransactionBarrier(*program.mutable_instruction(5), Async::BARRIER_WAIT, 1);
  constexpr uint64_t kTile = kShared + 64;
  const std::vector<ThreadTrace> threads(
      4, Thread({}, {kShared, kGlobal, kTile, kShared, kShared, kGlobal, kTile, kShared}));
  EXPECT_EQ(LogOf(*MakeTrace(program, 1, threads), Slow()),
            "0:0[0 1 2 3] 1:1[0 1 2 3] 2:2[0 1 2 3] 3:3[0 1 2 3] 4:4[0 1 2 3] 5:5[0 1 2 3] 27:6[0 1 2 3]");
}

// Machine code says so in its own words.
TEST(TransactionBarrier, CopiesOfMachineCodeArrive) {
  KernelProgram program = Straight(4);
  MakeTransactionBarrier(*program.mutable_instruction(0), Async::BARRIER_INIT, 4);
  MakeCopy(*program.mutable_instruction(1));
  MakeTransactionBarrier(*program.mutable_instruction(2), Async::BARRIER_COPIES);
  program.mutable_instruction(2)->set_mnemonic("ARRIVES.LDGSTSBAR.64.ARVCNT");
  MakeTransactionBarrier(*program.mutable_instruction(3), Async::BARRIER_WAIT, 1);
  const std::vector<ThreadTrace> threads(4, Thread({}, {kShared, kGlobal, kShared + 64, kShared, kShared}));
  EXPECT_EQ(LogOf(*MakeTrace(program, 1, threads), Slow()),
            "0:0[0 1 2 3] 1:1[0 1 2 3] 2:2[0 1 2 3] 3:3[0 1 2 3] 27:4[0 1 2 3]");
}

// Four of eight drop out in the first phase: the second is over with the other four.
TEST(TransactionBarrier, WhoDropsOutIsNotExpectedInLaterPhases) {
  for (const char* drop : {"mbarrier.arrive_drop.shared.b64", "SYNCS.ARRIVE.TRANS64.OPTOUT.A1T0"}) {
    KernelProgram program = Straight(5);
    MakeTransactionBarrier(*program.mutable_instruction(0), Async::BARRIER_INIT, 8);
    for (const int at : {1, 2, 3}) MakeTransactionBarrier(*program.mutable_instruction(at), Async::BARRIER_ARRIVE, 1);
    program.mutable_instruction(1)->set_mnemonic(drop);
    MakeTransactionBarrier(*program.mutable_instruction(4), Async::BARRIER_WAIT, 2);
    const std::vector<ThreadTrace> threads(4, Thread({}, std::vector<uint64_t>(5, kShared)));
    EXPECT_EQ(LogOf(*MakeTrace(program, 1, threads), RunOptions()),
              "0:0[0 1 2 3] 1:1[0 1 2 3] 2:2[0 1 2 3] 3:3[0 1 2 3] 4:4[0 1 2 3] 5:5[0 1 2 3]")
        << drop;
  }
}

// Single warps of one thread, four rows: block 0 has three and is busy. The first warp of block 1 begins a copy that it
// arrives with, and exits. What comes to its row is another thread: the arrival stays with the copy, and who waits for
// it goes on when the copy, issued in the producer's third cycle, is complete 26 cycles later.
TEST(TransactionBarrier, AnArrivalWaitsForItsCopyThoughItsThreadHasLeft) {
  KernelProgram program = ProgramBuilder("rows")
                              .Block("head")
                              .Branch("rest", "busy")
                              .Block("busy")
                              .Alu(80)
                              .Jump("end")
                              .Block("rest")
                              .Branch("consumer", "producer")
                              .Block("consumer")
                              .Alu(1)
                              .Jump("end")
                              .Block("producer")
                              .Alu(3)
                              .Block("end")
                              .Exit()
                              .Build();
  constexpr int kConsumer = 82;
  constexpr int kProducer = 83;
  MakeTransactionBarrier(*program.mutable_instruction(kConsumer), Async::BARRIER_WAIT, 1);
  MakeTransactionBarrier(*program.mutable_instruction(kProducer), Async::BARRIER_INIT, 1);
  MakeCopy(*program.mutable_instruction(kProducer + 1));
  MakeTransactionBarrier(*program.mutable_instruction(kProducer + 2), Async::BARRIER_COPIES);
  program.mutable_instruction(kProducer + 2)->set_mnemonic("cp.async.mbarrier.arrive.noinc.shared.b64");
  std::vector<ThreadTrace> threads(3, Thread({1}));
  threads.push_back(Thread({0, 1}, {kShared, kGlobal, kShared + 64, kShared}));
  threads.resize(6, Thread({0, 0}, {kShared}));
  RunOptions options = Slow();
  options.machine.mutable_core()->set_warp_size(1);
  options.machine.mutable_core()->set_simd_width(1);
  options.machine.mutable_core()->set_max_threads(4);
  options.machine.mutable_core()->set_shared_memory_bytes(1 << 16);
  options.dispatch = "warps";
  const Outcome outcome = RunTrace(*MakeTrace(program, 2, threads), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  Cycle copied = 0, waited = 0, went_on = 0;
  for (const LoggedIssue& issue : outcome.log.issues()) {
    const LoggedIssue::Member& member = issue.members[0];
    if (member.pc == kProducer + 1) copied = issue.cycle;
    if (member.block != 1 || member.thread != 1) continue;
    if (member.pc == kConsumer) waited = issue.cycle;
    if (member.pc == kProducer + 3) went_on = issue.cycle;
  }
  EXPECT_LT(waited, copied + 26) << "or nothing is shown";
  EXPECT_GE(went_on, copied + 26);
}

TEST(Collectives, WhatNoReplayKnowsIsRefusedByItsPlace) {
  KernelProgram program = Straight(1);
  MakeTransactionBarrier(*program.mutable_instruction(0), Async::BARRIER_EXPECT, 64);
  const auto trace = MakeTrace(program, 1, std::vector<ThreadTrace>(4, Thread({}, {kShared})));
  const std::string message(RunTrace(*trace).status.message());
  EXPECT_THAT(message, HasSubstr("bytes that a transaction barrier expects cannot be replayed yet"));
  EXPECT_THAT(message, HasSubstr("PC 0"));
}

}  // namespace
}  // namespace heddle::replay
