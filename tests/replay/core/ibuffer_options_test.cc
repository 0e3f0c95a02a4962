// What a front end with instruction buffers may do otherwise, cycle by cycle, on the machine of ibuffer_test.cc:
// several fetches per cycle, branches that are known at issue, atomics that hold, ports in turn, units and operands as
// in GPGPU-Sim 4.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/replay/core/ibuffer_harness.h"

namespace heddle::replay {
namespace {

using machine::v1::Core;
using machine::v1::OperationTiming;
using trace::testing::ProgramBuilder;

Core& CoreOf(RunOptions& options) { return *options.machine.mutable_core(); }

// Adds that do not depend on one another.
trace::v1::KernelProgram FreeAdds(int count) {
  trace::v1::KernelProgram program = ProgramBuilder("free").Alu(count).Exit().Build();
  for (int i = 0; i < count; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  return program;
}

// ------------------------------------------------------------------------------------------ fetch

TEST(FetchesPerCycle, AllButTheLastOneAreDecodedInTheirCycle) {
  RunOptions options = Small();
  EXPECT_EQ(Issues(RunBlock(FreeAdds(4), 4, options)), "2:0 3:1 5:2 6:3 8:4");
  Buffer(options).set_fetches_per_cycle(1);
  EXPECT_EQ(Issues(RunBlock(FreeAdds(4), 4, options)), "2:0 3:1 5:2 6:3 8:4");
  Buffer(options).set_fetches_per_cycle(2);
  EXPECT_EQ(Issues(RunBlock(FreeAdds(4), 4, options)), "1:0 2:1 3:2 4:3 5:4");
}

TEST(FetchesPerCycle, AsManyWarpsAreFetchedFor) {
  RunOptions options = Small();
  CoreOf(options).set_schedulers(4);
  Units(options).set_sp(4);
  const auto issues = [&](uint32_t fetches) {
    Buffer(options).set_fetches_per_cycle(fetches);
    return Issues(RunBlock(FreeAdds(1), 16, options), /*threads=*/true);
  };
  // Two instructions each, which go out one after the other.
  EXPECT_EQ(issues(1), "2:0@0 3:1@0 3:0@4 4:1@4 4:0@8 5:1@8 5:0@12 6:1@12");
  EXPECT_EQ(issues(2), "1:0@0 2:1@0 2:0@4 2:0@8 3:1@4 3:1@8 3:0@12 4:1@12");
  EXPECT_EQ(issues(8), "1:0@0 1:0@4 1:0@8 1:0@12 2:1@0 2:1@4 2:1@8 2:1@12");
}

// ------------------------------------------------------------------------------------------ control

TEST(BranchesAtIssue, AreFetchedForInTheirCycleAndHoldNobody) {
  const auto program = ProgramBuilder("loop").Block("head").Alu(1).Branch("end", "head").Block("end").Exit().Build();
  RunOptions options = Small();
  CoreOf(options).set_branches(Core::AT_ISSUE);
  // The branch waits for the add, and the add of the next turn for that of the last one.
  EXPECT_EQ(Issues(RunBlock(program, 4, options, {1, 0})), "2:0 6:1 8:0 12:1 14:2");
  Buffer(options).set_fetches_per_cycle(2);
  EXPECT_EQ(Issues(RunBlock(program, 4, options, {1, 0})), "1:0 5:1 6:0 10:1 11:2");
  const Outcome outcome = RunBlock(program, 4, options, {1, 0});
  EXPECT_EQ(outcome.launch().stalls().control(), 4 - 1) << "only the exit holds its warp";
}

TEST(BranchesAtIssue, SidesOfABranchRunAsBefore) {
  RunOptions options = Small();
  CoreOf(options).set_branches(Core::AT_ISSUE);
  const Outcome outcome = RunTrace(*TwoSides(), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.log.text(), "2:0[0 1 2 3] 4:2[- 1 - 3] 6:1[0 - 2] 8:3[0 1 2 3]");
}

// Calls are known, too; returns and exits are not, for a thread may end there.
TEST(BranchesAtIssue, CallsAreKnownReturnsAreNot) {
  const trace::v1::KernelProgram program = ProgramBuilder("call")
                                               .Block("start")
                                               .Call("callee", "end")
                                               .Block("end")
                                               .Exit()
                                               .Function("callee")
                                               .Block("body")
                                               .Return()
                                               .Build();
  RunOptions options = Small();
  EXPECT_EQ(Issues(RunBlock(program, 4, options)), "2:0 8:2 14:1");
  CoreOf(options).set_branches(Core::AT_ISSUE);
  EXPECT_EQ(Issues(RunBlock(program, 4, options)), "2:0 4:2 10:1");
}

TEST(AtomicsHold, AWarpUntilItsDataAreThere) {
  trace::v1::KernelProgram program = ProgramBuilder("atomic").Atomic().Alu(1).Exit().Build();
  SetRegisters(program, 0, {7}, {});
  SetRegisters(program, 1, {8}, {});
  RunOptions options = Small();
  EXPECT_EQ(Issues(RunBlock(program, 4, options, {}, {0x1000})), "2:0 3:1 5:2");
  CoreOf(options).set_atomics_hold(true);
  const Outcome outcome = RunBlock(program, 4, options, {}, {0x1000});
  EXPECT_EQ(Issues(outcome), "2:0 22:1 24:2");
  EXPECT_EQ(outcome.launch().stalls().data_memory(), 19);
  trace::v1::KernelProgram load = ProgramBuilder("load").Load().Alu(1).Exit().Build();
  SetRegisters(load, 0, {7}, {});
  SetRegisters(load, 1, {8}, {});
  EXPECT_EQ(Issues(RunBlock(load, 4, options, {}, {0x1000})), "2:0 3:1 5:2");
}

// Two atomics into one register. The second waits for the first, unless nobody reads what they bring.
TEST(Reductions, NobodyWaitsForAResultThatNobodyReads) {
  trace::v1::KernelProgram program = ProgramBuilder("atomic").Atomic().Atomic().Alu(1).Exit().Build();
  SetRegisters(program, 0, {7}, {});
  SetRegisters(program, 1, {7}, {});
  SetRegisters(program, 2, {8}, {});
  RunOptions options = Small();
  const std::string waits = Issues(RunBlock(program, 4, options, {}, {0x1000, 0x1000}));
  CoreOf(options).set_reductions(true);
  const std::string goes_on = Issues(RunBlock(program, 4, options, {}, {0x1000, 0x1000}));
  SetRegisters(program, 2, {8}, {7});
  const std::string is_read = Issues(RunBlock(program, 4, options, {}, {0x1000, 0x1000}));
  EXPECT_EQ(waits, "2:0 22:1 24:2 25:3");
  EXPECT_EQ(goes_on, "2:0 3:1 5:2 6:3");
  EXPECT_EQ(is_read, "2:0 22:1 42:2 43:3");
}

// ------------------------------------------------------------------------------------------ ports

// Two ports, each with one warp, share one unit that takes an instruction per cycle. One after the other, the second
// port waits until the first one has nothing left.
TEST(PortsInTurn, NobodyStarves) {
  RunOptions options = Small();
  CoreOf(options).set_schedulers(2);
  Buffer(options).set_entries(8);
  Buffer(options).set_fetch_instructions(8);
  const auto issues = [&] { return Issues(RunBlock(FreeAdds(4), 8, options), /*threads=*/true); };
  EXPECT_EQ(issues(), "2:0@0 3:1@0 4:2@0 5:3@0 6:4@0 7:0@4 8:1@4 9:2@4 10:3@4 11:4@4");
  CoreOf(options).set_ports_in_turn(true);
  EXPECT_EQ(issues(), "2:0@0 3:0@4 4:1@0 5:1@4 6:2@0 7:2@4 8:3@0 9:3@4 10:4@0 11:4@4");
}

TEST(PortsInTurn, TheMemoryStageIsSharedEvenly) {
  RunOptions options = Small();
  CoreOf(options).set_schedulers(2);
  CoreOf(options).set_ports_in_turn(true);
  Buffer(options).set_entries(8);
  Buffer(options).set_fetch_instructions(8);
  trace::v1::KernelProgram program = ProgramBuilder("loads").Load().Load().Load().Exit().Build();
  for (int i = 0; i < 3; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  const std::string issues = Issues(RunBlock(program, 8, options, {}, {0x1000, 0x2000, 0x3000}), /*threads=*/true);
  // The first exit needs no memory stage.
  EXPECT_EQ(issues.substr(0, issues.find(" 8:")), "2:0@0 3:0@4 4:1@0 5:1@4 6:2@0 7:2@4 7:3@0");
}

// ------------------------------------------------------------------------------------------ units and operands

TEST(OwnUnits, ForIntegersAndDoubles) {
  RunOptions options = Small();
  Units(options).set_integer(1);
  Units(options).set_dp(1);
  Units(options).mutable_timing(0)->set_unit(OperationTiming::INT_UNIT);
  Units(options).mutable_timing(0)->set_initiation_interval(4);
  AddTiming(options, OperationTiming::FP32, 4, 4, OperationTiming::SP_UNIT);
  AddTiming(options, OperationTiming::FP64, 4, 4, OperationTiming::DP_UNIT);
  Buffer(options).set_entries(8);
  Buffer(options).set_fetch_instructions(8);
  trace::v1::KernelProgram program = ProgramBuilder("mix")
                                         .Alu(1)
                                         .Op(trace::v1::OP_FP32, 1)
                                         .Op(trace::v1::OP_FP64, 1)
                                         .Op(trace::v1::OP_FP32, 1)
                                         .Op(trace::v1::OP_FP64, 1)
                                         .Exit()
                                         .Build();
  for (int i = 0; i < 5; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  // Each kind takes its own unit for four cycles.
  EXPECT_EQ(Issues(RunBlock(program, 4, options)), "2:0 3:1 4:2 7:3 8:4 9:5");
}

// A chain of an add that reads `sources` registers, and one that reads its result.
std::string StepsOf(RunOptions options, const std::vector<uint32_t>& sources, uint32_t steps, uint32_t read_cycles) {
  Units(options).set_register_banks(8);
  Units(options).set_operand_steps(steps);
  Units(options).set_operand_read_cycles(read_cycles);
  trace::v1::KernelProgram program = ProgramBuilder("steps").Alu(2).Exit().Build();
  SetRegisters(program, 0, {20}, sources);
  SetRegisters(program, 1, {21}, {20});
  const std::string issues = Issues(RunBlock(program, 4, options));
  return issues.substr(0, issues.rfind(' '));
}

TEST(OperandSteps, OneOperandPerStep) {
  // Issued in 2, executed 2 + read_cycles + 4 (the latency).
  EXPECT_EQ(StepsOf(Small(), {1}, 2, 4), "2:0 10:1");
  EXPECT_EQ(StepsOf(Small(), {}, 2, 4), "2:0 9:1");
  EXPECT_EQ(StepsOf(Small(), {1, 2}, 2, 4), "2:0 10:1");
  EXPECT_EQ(StepsOf(Small(), {1, 2, 3}, 2, 4), "2:0 11:1");
  EXPECT_EQ(StepsOf(Small(), {1}, 1, 5), "2:0 11:1");
  EXPECT_EQ(StepsOf(Small(), {}, 1, 5), "2:0 10:1");
  EXPECT_EQ(StepsOf(Small(), {1, 2}, 1, 5), "2:0 12:1");
  EXPECT_EQ(StepsOf(Small(), {1, 9}, 2, 4), "2:0 10:1") << "one bank, which has two steps";
}

TEST(OperandSteps, ABankServesInstructionsInTheOrderOfTheirIssue) {
  RunOptions options = Small();
  Units(options).set_register_banks(8);
  Units(options).set_operand_steps(1);
  Units(options).set_operand_read_cycles(5);
  Buffer(options).set_entries(4);
  Buffer(options).set_fetch_instructions(4);
  trace::v1::KernelProgram program = ProgramBuilder("banks").Alu(3).Exit().Build();
  SetRegisters(program, 0, {20}, {1, 2, 9});  // read in 4, 5, 6; 9 is in the bank of 1
  SetRegisters(program, 1, {21}, {17});       // of that bank: read in 7, and not in 5, and 4 cycles later than alone
  SetRegisters(program, 2, {22}, {21});
  EXPECT_EQ(Issues(RunBlock(program, 4, options)), "2:0 3:1 14:2 15:3");
}

TEST(BanksByPort, AWarpReadsFromThoseOfItsPort) {
  RunOptions options = Small();
  CoreOf(options).set_schedulers(2);
  Units(options).set_sp(2);
  Units(options).set_register_banks(4);
  Buffer(options).set_fetches_per_cycle(3);
  trace::v1::KernelProgram program = ProgramBuilder("banks").Alu(2).Exit().Build();
  // Of warp 0 all are in bank 1 of 4; of warp 1, whose registers are a bank further, in bank 2.
  SetRegisters(program, 0, {20}, {1, 5, 9});
  SetRegisters(program, 1, {21}, {20});
  const auto issues = [&] { return Issues(RunBlock(program, 8, options), /*threads=*/true); };
  EXPECT_EQ(issues().substr(0, 23), "1:0@0 1:0@4 8:1@0 8:1@4");
  // With two banks for each port 1, 5 and 9 are still in one bank.
  Units(options).set_banks_by_port(true);
  EXPECT_EQ(issues().substr(0, 23), "1:0@0 1:0@4 8:1@0 8:1@4");
  // 1, 3, 5 and 7 are in one bank of two, and in two banks of four.
  SetRegisters(program, 0, {20}, {1, 3, 5, 7});
  EXPECT_EQ(issues().substr(0, 23), "1:0@0 1:0@4 9:1@0 9:1@4");
  Units(options).set_banks_by_port(false);
  EXPECT_EQ(issues().substr(0, 23), "1:0@0 1:0@4 7:1@0 7:1@4");
}

}  // namespace
}  // namespace heddle::replay
