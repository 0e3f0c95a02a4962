// Guarded accesses: issued for all threads of the warp, made by those whose guard holds. Cycles by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay/machine/machine.h"
#include "tests/replay/core/ibuffer_harness.h"
#include "tests/traces/program_builder.h"
#include "traces/format/program/program.h"

namespace heddle::replay {
namespace {

using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;
using trace::v1::KernelProgram;

// r1 = ...; @p1 r2 = load; join; @p2 store r1; r3 = r2 + ...; exit. The predicates are not there as registers.
KernelProgram TwoGuardedAccesses() {
  KernelProgram program = ProgramBuilder("two_guarded_accesses")
                              .Block("head")
                              .Alu()
                              .Branch("load", "join")
                              .Block("load")
                              .Load()
                              .Jump("join")
                              .Block("join")
                              .Branch("store", "tail")
                              .Block("store")
                              .Store()
                              .Jump("tail")
                              .Block("tail")
                              .Alu()
                              .Exit()
                              .Build();
  program.mutable_instruction(1)->set_op(trace::v1::OP_INT_ALU);
  for (const int guarded : {2, 4}) program.mutable_instruction(guarded)->set_flags(trace::v1::FLAG_GUARDED);
  program.mutable_instruction(3)->set_op(trace::v1::OP_MOVE);
  program.mutable_instruction(3)->set_mnemonic("nop.join");
  for (int i = 0; i < program.instruction_size(); ++i) SetRegisters(program, i, {}, {});
  SetRegisters(program, 0, {1}, {});
  SetRegisters(program, 2, {2}, {});
  SetRegisters(program, 4, {}, {1});
  SetRegisters(program, 5, {3}, {2});
  return program;
}

// Decisions: 0 where the guard holds. Each thread has an address per access that it makes.
std::vector<ThreadTrace> ThreadsThatDecide(const std::vector<std::vector<uint8_t>>& decisions) {
  std::vector<ThreadTrace> threads;
  for (const std::vector<uint8_t>& own : decisions) {
    ThreadTrace& thread = threads.emplace_back();
    thread.decisions = own;
    for (const uint8_t passes : own) {
      if (passes == 0) thread.addresses.push_back(0x1000 + 4 * threads.size());
    }
  }
  return threads;
}

RunOptions Buffered() {
  RunOptions options = Small();
  Buffer(options).set_fetch_when(machine::v1::InstructionBuffer::FREE_SLOT);
  Buffer(options).set_entries(4);
  return options;
}

// The warp goes on at once, without the join, and waits only where it reads what the load brings.
TEST(Guards, PartNoWarp) {
  const auto trace = MakeTrace(TwoGuardedAccesses(), 1, ThreadsThatDecide({{0, 0}, {1, 0}, {0, 1}, {1, 1}}));
  for (const char* policy : {"pdom", "nrec", "its", "dwf", "mimd"}) {
    SCOPED_TRACE(policy);
    RunOptions options;
    options.divergence = policy;
    const Outcome outcome = RunTrace(*trace, options);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.launch().thread_instructions(), 4u * 6);
    EXPECT_EQ(outcome.launch().predicated_off(), 4u);
    EXPECT_EQ(outcome.launch().warp_instructions(), 6u);
  }
  const Outcome outcome = RunBoth(*trace, Buffered());
  EXPECT_EQ(Issues(outcome), "2:0 3:1 4:2 6:4 24:5 25:6");
  EXPECT_EQ(outcome.launch().predicated_off(), 4u);
}

// An access that no thread makes takes its slot, and its register is free in the next cycle.
TEST(Guards, WhereNoneHoldsTheInstructionIssuesAndAccessesNothing) {
  const auto trace = MakeTrace(TwoGuardedAccesses(), 1, ThreadsThatDecide({{1, 1}, {1, 1}, {1, 1}, {1, 1}}));
  const Outcome outcome = RunBoth(*trace, Buffered());
  EXPECT_EQ(Issues(outcome), "2:0 3:1 4:2 6:4 7:5 8:6");
  EXPECT_EQ(outcome.launch().predicated_off(), 8u);
}

// add; @p exit; add; exit: the exit issues for all, and two threads go on behind it.
TEST(Guards, OfAnExitLetTheOthersGoOn) {
  KernelProgram program = ProgramBuilder("guarded_exit")
                              .Block("head")
                              .Alu()
                              .Branch("leave", "tail")
                              .Block("leave")
                              .Exit()
                              .Block("tail")
                              .Alu()
                              .Exit()
                              .Build();
  program.mutable_instruction(1)->set_op(trace::v1::OP_INT_ALU);
  program.mutable_instruction(2)->set_flags(trace::v1::FLAG_GUARDED);
  for (int i = 0; i < program.instruction_size(); ++i) SetRegisters(program, i, {}, {});
  std::vector<ThreadTrace> threads = ThreadsThatDecide({{1}, {0}, {1}, {0}});
  for (ThreadTrace& thread : threads) thread.addresses.clear();
  const auto trace = MakeTrace(program, 1, threads);
  const Outcome outcome = RunBoth(*trace, Buffered());
  // The exit, issued in 4, holds the warp until 8. What was fetched behind it is what comes next.
  EXPECT_EQ(Issues(outcome), "2:0 3:1 4:2 8:3 9:4");
  EXPECT_EQ(outcome.launch().thread_instructions(), 4u * 3 + 2 * 2);
  EXPECT_EQ(outcome.launch().predicated_off(), 2u);
}

// Where nothing is guarded the count is not there.
TEST(Guards, WithoutGuardsNothingIsCounted) {
  const auto trace = MakeTrace(ProgramBuilder("plain").Block("a").Alu().Exit().Build(), 1, ThreadsThatDecide({{}}));
  EXPECT_FALSE(RunBoth(*trace, Buffered()).launch().has_predicated_off());
}

}  // namespace
}  // namespace heddle::replay
