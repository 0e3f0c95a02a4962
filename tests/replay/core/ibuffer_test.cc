// The front end with instruction buffers, cycle by cycle, on one SM with warps of 4: SP latency 4, SFU latency 10 and
// initiation interval 3, memory 20 cycles. Fetched in c, in the buffer at the end of c + 1, issued in c + 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay/seams/fetch_policy.h"
#include "tests/replay/core/ibuffer_harness.h"
#include "traces/format/program/control_bits.h"

namespace heddle::replay {
namespace {

using machine::v1::InstructionBuffer;
using testing::HasSubstr;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

// ------------------------------------------------------------------------------------------ pipeline and registers

TEST(InstructionBuffer, AChainOfDependentAddsIssuesEveryLatency) {
  const Outcome outcome = RunBlock(ProgramBuilder("chain").Alu(3).Exit().Build(), 4, Small());
  EXPECT_EQ(Issues(outcome), "2:0 6:1 10:2 11:3");
  EXPECT_EQ(outcome.launch().cycles(), 16);  // the exit's result is there in 15
  // Fetch in 0 and 1 and, since a warp is fetched for when its buffer is empty, in 7; the adds in between; the exit
  // from 12 to 14; the exited warp in 15.
  const result::v1::StallCycles& stalls = outcome.launch().stalls();
  EXPECT_EQ(stalls.total(), 16);
  EXPECT_EQ(stalls.issued(), 4);
  EXPECT_EQ(stalls.fetch(), 3);
  EXPECT_EQ(stalls.data(), 5);
  EXPECT_EQ(stalls.data_arithmetic(), 5);
  EXPECT_EQ(stalls.data_waw(), 0);
  EXPECT_EQ(stalls.control(), 3);
  EXPECT_EQ(stalls.exit(), 1);
  EXPECT_EQ(outcome.launch().warp_cycles().total(), 16);
  EXPECT_EQ(outcome.launch().warp_cycles().issue(), 4);
  EXPECT_EQ(outcome.launch().fetch().fetches(), 2);
  EXPECT_EQ(outcome.launch().fetch().instructions(), 4);
  EXPECT_EQ(outcome.launch().fetch().dropped(), 0);
}

TEST(InstructionBuffer, OperandReadAndWriteBackLengthenTheChain) {
  RunOptions options = Small();
  Units(options).set_operand_read_cycles(2);
  Units(options).set_write_back_cycles(1);
  EXPECT_EQ(Issues(RunBlock(ProgramBuilder("chain").Alu(3).Exit().Build(), 4, options)), "2:0 9:1 16:2 17:3");
}

TEST(InstructionBuffer, IndependentInstructionsIssueOneAfterAnother) {
  RunOptions options = Small();
  Buffer(options).set_fetch_when(InstructionBuffer::FREE_SLOT);
  Buffer(options).set_entries(4);
  trace::v1::KernelProgram program = ProgramBuilder("free").Alu(4).Exit().Build();
  for (int i = 0; i < 4; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  EXPECT_EQ(Issues(RunBlock(program, 4, options)), "2:0 3:1 4:2 5:3 6:4");
}

TEST(InstructionBuffer, ShufflesAndVotesHaveTimesOfTheirOwnAndOtherWarpOperationsHaveNot) {
  RunOptions options = Small();
  Buffer(options).set_entries(4);
  machine::v1::OperationTiming& timing = *options.machine.mutable_core()->mutable_units()->add_timing();
  timing.set_operation(machine::v1::OperationTiming::SHUFFLE);
  timing.set_latency(24);
  timing.set_initiation_interval(1);
  machine::v1::OperationTiming& vote = *options.machine.mutable_core()->mutable_units()->add_timing();
  vote.set_operation(machine::v1::OperationTiming::VOTE);
  vote.set_latency(21);
  vote.set_initiation_interval(1);
  const auto issues = [&](const char* mnemonic) {
    trace::v1::KernelProgram program = ProgramBuilder("exchange").Alu(2).Exit().Build();
    program.mutable_instruction(0)->set_op(trace::v1::OP_WARP);
    program.mutable_instruction(0)->set_mnemonic(mnemonic);
    SetRegisters(program, 0, {1}, {});
    SetRegisters(program, 1, {2}, {1});
    return Issues(RunBlock(program, 4, options));
  };
  EXPECT_EQ(issues("shfl.sync.idx.b32"), "2:0 26:1 28:2");
  EXPECT_EQ(issues("SHFL.IDX"), "2:0 26:1 28:2");
  EXPECT_EQ(issues("vote.sync.ballot.b32"), "2:0 23:1 25:2");
  EXPECT_EQ(issues("VOTE.ANY"), "2:0 23:1 25:2");
  EXPECT_EQ(issues("match.any.sync.b32"), "2:0 6:1 8:2");
}

// Machine code with a stall count for each of its instructions; the first four write registers of their own.
trace::v1::KernelProgram WithStallCounts(const std::vector<uint8_t>& stalls) {
  trace::v1::KernelProgram program = ProgramBuilder("stalls").Alu(4).Exit().Build();
  program.set_level(trace::v1::LEVEL_MACHINE);
  for (int i = 0; i < 4; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  for (size_t i = 0; i < stalls.size(); ++i) {
    program.mutable_instruction(static_cast<int>(i))->set_control(trace::PackControl({.stall = stalls[i]}));
  }
  return program;
}

TEST(InstructionBuffer, MachineCodePausesAsItsStallCountsSay) {
  RunOptions options = Small();
  Buffer(options).set_fetch_when(InstructionBuffer::FREE_SLOT);
  Buffer(options).set_entries(4);
  EXPECT_EQ(Issues(RunBlock(WithStallCounts({1, 1, 1, 1, 1}), 4, options)), "2:0 3:1 4:2 5:3 6:4");
  const Outcome outcome = RunBlock(WithStallCounts({5, 1, 0, 3, 1}), 4, options);
  EXPECT_EQ(Issues(outcome), "2:0 7:1 8:2 9:3 12:4");
  EXPECT_EQ(outcome.launch().stalls().data_arithmetic(), 6);
}

TEST(InstructionBuffer, AStallCountHoldsItsOwnWarpAlone) {
  RunOptions options = Small();
  Buffer(options).set_fetch_when(InstructionBuffer::FREE_SLOT);
  Buffer(options).set_entries(4);
  const std::string issues = Issues(RunBlock(WithStallCounts({9, 1, 1, 1, 1}), 8, options), /*threads=*/true);
  EXPECT_THAT(issues, testing::AllOf(HasSubstr("2:0@0"), HasSubstr("3:0@4"), HasSubstr("11:1@0"), HasSubstr("12:1@4")));
}

TEST(InstructionBuffer, RegistersAreWaitedForBesideStallCounts) {
  trace::v1::KernelProgram program = WithStallCounts({1, 1, 1, 1, 1});
  SetRegisters(program, 1, {2}, {1});
  RunOptions options = Small();
  Buffer(options).set_fetch_when(InstructionBuffer::FREE_SLOT);
  Buffer(options).set_entries(4);
  EXPECT_EQ(Issues(RunBlock(program, 4, options)), "2:0 6:1 7:2 8:3 9:4");
}

TEST(InstructionBuffer, AWriteWaitsForAWriteOfTheSameRegister) {
  trace::v1::KernelProgram program = ProgramBuilder("waw").Load().Alu(1).Exit().Build();
  SetRegisters(program, 0, {7}, {});
  SetRegisters(program, 1, {7}, {});
  const Outcome outcome = RunBlock(program, 4, Small(), {}, {0x1000});
  EXPECT_EQ(Issues(outcome), "2:0 22:1 24:2");
  EXPECT_EQ(outcome.launch().stalls().data_memory(), 19);
  EXPECT_EQ(outcome.launch().stalls().data_waw(), 19);
  EXPECT_EQ(outcome.launch().scheduler_cycles().memory(), 19);
}

// Registers of programs are kept in words of 64: however many words there are, the same instructions wait for the same
// results. Numbers that come back after 60 instructions, all of whose results are there, change nothing.
TEST(InstructionBuffer, ManyRegistersWaitLikeFew) {
  constexpr int kRounds = 30;
  const auto issues_with = [](uint32_t numbers) {
    ProgramBuilder builder("many");
    for (int round = 0; round < kRounds; ++round) builder.Alu(4).Load();
    trace::v1::KernelProgram program = builder.Exit().Build();
    for (uint32_t i = 0; i < 5 * kRounds; ++i) {
      std::vector<uint32_t> read;
      if (i % 3 == 1) read.push_back((i - 1) % numbers + 1);  // right before, sometimes a load
      if (i % 4 == 3) read.push_back((i - 3) % numbers + 1);
      SetRegisters(program, static_cast<int>(i), {i % numbers + 1}, read);
    }
    RunOptions options = Small();
    Buffer(options).set_fetch_when(InstructionBuffer::FREE_SLOT);
    Buffer(options).set_entries(4);
    return Issues(RunBlock(program, 4, options, {}, std::vector<uint64_t>(kRounds, 0x1000)));
  };
  const std::string few = issues_with(60);
  EXPECT_EQ(issues_with(65), few);
  EXPECT_EQ(issues_with(150), few);
  EXPECT_NE(issues_with(2), few);  // here they do wait for one another
}

TEST(InstructionBuffer, AReadAfterAReadWaitsForNothing) {
  trace::v1::KernelProgram program = ProgramBuilder("war").Load().Alu(1).Exit().Build();
  SetRegisters(program, 0, {7}, {8});
  SetRegisters(program, 1, {8}, {});
  EXPECT_EQ(Issues(RunBlock(program, 4, Small(), {}, {0x1000})), "2:0 3:1 5:2");
}

TEST(InstructionBuffer, RegistersThatOnlyShareAFilterBitDoNotCollide) {
  trace::v1::KernelProgram program = ProgramBuilder("far").Load().Alu(1).Exit().Build();
  SetRegisters(program, 0, {7}, {});
  SetRegisters(program, 1, {9}, {7 + 64});
  EXPECT_EQ(Issues(RunBlock(program, 4, Small(), {}, {0x1000})), "2:0 3:1 5:2");
}

TEST(InstructionBuffer, ACalleesRegistersAreItsOwn) {
  // 0 load of register 7, 1 call; 2 exit; 3 an add to the callee's register 7, 4 return.
  trace::v1::KernelProgram program = ProgramBuilder("call")
                                         .Block("start")
                                         .Load()
                                         .Call("callee", "end")
                                         .Block("end")
                                         .Exit()
                                         .Function("callee")
                                         .Block("body")
                                         .Alu(1)
                                         .Return()
                                         .Build();
  SetRegisters(program, 0, {7}, {});
  SetRegisters(program, 3, {7}, {7});
  const Outcome outcome = RunBlock(program, 4, Small(), {}, {0x1000});
  // The call's result comes in 7, its target is fetched then.
  EXPECT_EQ(Issues(outcome), "2:0 3:1 9:3 10:4 16:2");
}

// ------------------------------------------------------------------------------------------ control

TEST(InstructionBuffer, ABranchIsFetchedForInTheCycleOfItsResult) {
  const auto program = ProgramBuilder("loop").Block("head").Alu(1).Branch("end", "head").Block("end").Exit().Build();
  const Outcome outcome = RunBlock(program, 4, Small(), {1, 0});
  EXPECT_EQ(Issues(outcome), "2:0 6:1 12:0 16:1 22:2");
  // From the issue of the branch to its result, and no longer: it is fetched for in that cycle, before which it counts
  // as control, since its buffer has been dropped (10). The second time the exit follows in line (21).
  EXPECT_EQ(outcome.launch().stalls().control(), 3 + 1 + 3 + 3);
}

TEST(InstructionBuffer, WhatWasFetchedBehindABranchIsKeptIfItFallsThrough) {
  RunOptions options = Small();
  Buffer(options).set_entries(4);
  Buffer(options).set_fetch_instructions(4);
  const auto program = ProgramBuilder("skip").Block("a").Branch("b", "c").Block("b").Alu(1).Block("c").Exit().Build();
  const Outcome kept = RunBlock(program, 4, options, {0});
  EXPECT_EQ(Issues(kept), "2:0 6:1 7:2");
  EXPECT_EQ(kept.launch().fetch().dropped(), 0);
  const Outcome dropped = RunBlock(program, 4, options, {1});
  EXPECT_EQ(Issues(dropped), "2:0 8:2");
  EXPECT_EQ(dropped.launch().fetch().dropped(), 2);
}

TEST(InstructionBuffer, ADivergedWarpRunsItsSidesOneAfterTheOther) {
  const Outcome outcome = RunTrace(*TwoSides(), Small());
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  // The taken side first. Each side reaches the reconvergence point with the issue of its last instruction, so that
  // what runs next is fetched for in that cycle.
  EXPECT_EQ(outcome.log.text(), "2:0[0 1 2 3] 8:2[- 1 - 3] 10:1[0 - 2] 12:3[0 1 2 3]");
}

// ------------------------------------------------------------------------------------------ units

TEST(InstructionBuffer, MicroOperationsTakeTheUnitOneAfterAnother) {
  trace::v1::KernelProgram program = ProgramBuilder("sfu").Op(trace::v1::OP_SFU, 2).Alu(1).Exit().Build();
  for (int i = 0; i < 2; ++i) {
    SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
    program.mutable_instruction(i)->set_micro_ops(2);
  }
  SetRegisters(program, 2, {3}, {2});
  EXPECT_EQ(Issues(RunBlock(program, 4, Small())), "2:0 8:1 21:2 22:3");
}

TEST(InstructionBuffer, TwoSchedulersCompeteForOneUnit) {
  RunOptions options = Small();
  options.machine.mutable_core()->set_schedulers(2);
  trace::v1::KernelProgram program = ProgramBuilder("two").Alu(1).Exit().Build();
  SetRegisters(program, 0, {1}, {});
  const Outcome outcome = RunBlock(program, 8, options);
  // Fetched for in 0 and 1. In 3 port 0 takes the only SP unit with its exit, and port 1 waits a cycle.
  EXPECT_EQ(Issues(outcome, /*threads=*/true), "2:0@0 3:1@0 4:0@4 5:1@4");
  EXPECT_EQ(outcome.launch().stalls().structural(), 1);
  Units(options).set_sp(2);
  EXPECT_EQ(Issues(RunBlock(program, 8, options), /*threads=*/true), "2:0@0 3:1@0 3:0@4 4:1@4");
}

TEST(InstructionBuffer, AWarpWiderThanTheUnitTakesItForItsGroups) {
  RunOptions options = Small();
  options.machine.mutable_core()->set_simd_width(2);
  trace::v1::KernelProgram program = ProgramBuilder("wide").Alu(2).Exit().Build();
  for (int i = 0; i < 2; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  EXPECT_EQ(Issues(RunBlock(program, 4, options)), "2:0 4:1 6:2");
  EXPECT_EQ(Issues(RunBlock(program, 2, options)), "2:0 4:1 6:2");
  options.machine.mutable_core()->set_skip_empty_groups(true);
  EXPECT_EQ(Issues(RunBlock(program, 4, options)), "2:0 4:1 6:2");
  EXPECT_EQ(Issues(RunBlock(program, 2, options)), "2:0 3:1 5:2");
}

TEST(InstructionBuffer, BanksServeOneReadPerCycleTheOldestFirst) {
  RunOptions options = Small();
  Units(options).set_register_banks(4);
  trace::v1::KernelProgram program = ProgramBuilder("banks").Alu(3).Exit().Build();
  SetRegisters(program, 0, {20}, {1, 5, 9});  // all in bank 1
  SetRegisters(program, 1, {21}, {13});       // behind them
  SetRegisters(program, 2, {22}, {21});
  // Reads of 0 in 3, 4, 5; that of 1, issued in 3, in 6; its result in 10.
  EXPECT_EQ(Issues(RunBlock(program, 4, options)), "2:0 3:1 10:2 11:3");
  // With a single collector instruction 1 has to wait until 0 starts, in 5: it reads in 6, too.
  Units(options).set_sp_collectors(1);
  EXPECT_EQ(Issues(RunBlock(program, 4, options)), "2:0 5:1 10:2 11:3");
}

TEST(InstructionBuffer, OneMemoryInstructionPerCycle) {
  RunOptions options = Small();
  options.machine.mutable_core()->set_schedulers(2);
  trace::v1::KernelProgram program = ProgramBuilder("loads").Load().Load().Exit().Build();
  for (int i = 0; i < 2; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  const Outcome outcome = RunBlock(program, 8, options, {}, {0x1000, 0x2000});
  EXPECT_EQ(Issues(outcome, /*threads=*/true), "2:0@0 3:1@0 4:0@4 5:2@0 5:1@4 7:2@4");
}

TEST(InstructionBuffer, AMemoryInstructionPerInitiationInterval) {
  RunOptions options = Small();
  options.machine.mutable_core()->set_schedulers(2);
  Units(options).set_memory_initiation_interval(3);
  trace::v1::KernelProgram program = ProgramBuilder("loads").Load().Load().Exit().Build();
  for (int i = 0; i < 2; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  const Outcome outcome = RunBlock(program, 8, options, {}, {0x1000, 0x2000});
  EXPECT_EQ(Issues(outcome, /*threads=*/true), "2:0@0 5:1@0 7:2@0 8:0@4 11:1@4 13:2@4");
}

// ------------------------------------------------------------------------------------------ barriers, fences, exits

TEST(InstructionBuffer, WarpsArriveAtABarrierWithLoadsOutstandingAndGoOnInTheNextCycle) {
  const auto program = ProgramBuilder("barrier").Load().Barrier().Exit().Build();
  const Outcome outcome = RunBlock(program, 8, Small(), {}, {0x1000});
  EXPECT_EQ(Issues(outcome, /*threads=*/true), "2:0@0 3:0@4 4:1@0 5:1@4 6:2@0 7:2@4");
  EXPECT_EQ(outcome.launch().cycles(), 24);  // the loads are there in 22 and 23
}

TEST(InstructionBuffer, ABarrierAndAnExitedWarpHaveTheirClasses) {
  // Warp 0 goes straight to the barrier, warp 1 over a chain of adds and out.
  const auto program = ProgramBuilder("uneven")
                           .Block("start")
                           .Branch("chain", "sync")
                           .Block("chain")
                           .Alu(2)
                           .Exit()
                           .Block("sync")
                           .Barrier()
                           .Exit()
                           .Build();
  std::vector<ThreadTrace> threads(4, Thread({1}));
  threads.resize(8, Thread({0}));
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, threads), Small());
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  // Warp 0: branch 2, result 6, barrier 8. Warp 1: branch 3, result 7, and the add behind it is buffered; adds 7 and
  // 11, exit 12, result 16. The barrier opens by that, and warp 0 goes on in 17: its exit, fetched while it waited,
  // issues.
  EXPECT_EQ(Issues(outcome, /*threads=*/true), "2:0@0 3:0@4 7:1@4 8:4@0 11:2@4 12:3@4 17:5@0");
  EXPECT_EQ(outcome.launch().warp_cycles().barrier(), 17 - 9);
  EXPECT_EQ(outcome.launch().warp_cycles().exit(), 22 - 16 + 1);  // warp 0 exits in 21, where the block retires
  EXPECT_EQ(outcome.launch().cycles(), 22);
}

TEST(InstructionBuffer, AFenceWaitsForStores) {
  const auto program = ProgramBuilder("fence").Store().Op(trace::v1::OP_FENCE).Exit().Build();
  RunOptions options = Small();
  const Outcome outcome = RunBlock(program, 4, options, {}, {0x1000});
  // The store of 2 is acknowledged in 22; the exit was fetched while the fence waited.
  EXPECT_EQ(Issues(outcome), "2:0 3:1 22:2");
  EXPECT_EQ(outcome.launch().stalls().barrier(), 18);
  const auto no_store = ProgramBuilder("nothing").Op(trace::v1::OP_FENCE).Exit().Build();
  EXPECT_EQ(Issues(RunBlock(no_store, 4, options)), "2:0 3:1");
}

// ------------------------------------------------------------------------------------------ fetch

TEST(InstructionBuffer, WarpsTakeTurnsAtFetch) {
  const auto program = ProgramBuilder("turns").Alu(1).Exit().Build();
  // Three warps are fetched for in 0, 1, 2.
  EXPECT_EQ(Issues(RunBlock(program, 12, Small()), /*threads=*/true), "2:0@0 3:0@4 4:0@8 5:1@0 6:1@4 7:1@8");
}

TEST(InstructionBuffer, FetchAtBarriersCanBeTurnedOff) {
  const auto program = ProgramBuilder("barrier").Alu(1).Barrier().Exit().Build();
  RunOptions options = Small();
  options.fetch = "round_robin:fetch_at_barrier=false";
  const Outcome outcome = RunBlock(program, 4, options);
  // The barrier opens at its arrival in 6, and the warp goes on in 7: it is fetched for then.
  EXPECT_EQ(Issues(outcome), "2:0 3:1 6:2");
  EXPECT_EQ(outcome.result.fetch().parameter().at("fetch_at_barrier"), "false");
}

// ------------------------------------------------------------------------------------------ policies

TEST(InstructionBuffer, PoliciesThatResolveEveryInstructionHaveOneInFlight) {
  RunOptions options = Small();
  options.divergence = "dwf";
  options.scheduler = "dtime";
  trace::v1::KernelProgram program = ProgramBuilder("reformed").Alu(2).Exit().Build();
  for (int i = 0; i < 2; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  const Outcome outcome = RunBlock(program, 4, options);
  // Formed in 0, issued in 2; the result of 6 forms the next one, and so on.
  EXPECT_EQ(Issues(outcome), "2:0 8:1 14:2");
  EXPECT_EQ(outcome.launch().stalls().fetch(), 6);
  EXPECT_EQ(outcome.launch().stalls().data_arithmetic(), 6);
  EXPECT_EQ(outcome.launch().fetch().fetches(), 0);
}

TEST(InstructionBuffer, MimdIsRefusedWithTheReason) {
  RunOptions options = Small();
  options.divergence = "mimd";
  options.scheduler = "fifo";
  const auto program = ProgramBuilder("any").Alu(1).Exit().Build();
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, std::vector<ThreadTrace>(4, Thread({}))), options);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(outcome.status.message(), HasSubstr("several PCs"));
  EXPECT_THAT(outcome.status.message(), HasSubstr("core.front_end = THESIS"));
}

TEST(InstructionBuffer, AFetchPolicyIsRefusedWhereNothingIsFetched) {
  RunOptions options;
  options.fetch = "round_robin:fetch_at_barrier=false";
  const auto program = ProgramBuilder("any").Alu(1).Exit().Build();
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, std::vector<ThreadTrace>(4, Thread({}))), options);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(outcome.status.message(), HasSubstr("scheduler is fetch"));
}

// A fetch policy that breaks its contract is found, not followed.
TEST(InstructionBuffer, AFetchPolicyThatPicksAnyoneStopsTheRun) {
  struct Wrong final : FetchPolicy {
    SlotId Pick(const FetchView&) const override { return 63; }
  };
  FetchRegistry::Get().Register(PolicyInfo{.name = "wrong", .summary = "made by a test", .source = "tests"},
                                [](const FetchContext&, const Parameters&) { return std::make_unique<Wrong>(); });
  RunOptions options = Small();
  options.fetch = "wrong";
  const auto program = ProgramBuilder("any").Alu(1).Exit().Build();
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, std::vector<ThreadTrace>(4, Thread({}))), options);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(outcome.status.message(), HasSubstr("fetch policy picked slot 63"));
}

}  // namespace
}  // namespace heddle::replay
