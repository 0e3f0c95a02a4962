// Barriers that threads arrive at without waiting, and whose numbers and counts registers hold. Cycles by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "tests/replay/core/async_harness.h"
#include "tests/replay/core/ibuffer_harness.h"
#include "tests/traces/collective_programs.h"

namespace heddle::replay {
namespace {

using testing::HasSubstr;
using trace::testing::MakeNamedBarrier;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;
using trace::v1::Instruction;
using trace::v1::KernelProgram;

// Threads that decide 0 are consumers: an instruction at 1. The others are producers, with instructions from 3 on.
KernelProgram Roles(int of_producers) {
  ProgramBuilder program("roles");
  program.Block("head").Branch("consumer", "producer").Block("consumer").Alu().Exit();
  return program.Block("producer").Alu(of_producers).Exit().Build();
}

// Warp 0 waits at the barrier, warp 1 only arrives there: the barrier opens with its arrival in 3.
TEST(NamedBarrier, AnArrivalOpensItAndGoesOn) {
  KernelProgram program = Roles(1);
  MakeNamedBarrier(*program.mutable_instruction(1), trace::v1::BARRIER_SYNC, 8);
  MakeNamedBarrier(*program.mutable_instruction(3), trace::v1::BARRIER_ARRIVE, 8);
  std::vector<ThreadTrace> threads(4, Thread({0}, {5}));
  threads.resize(8, Thread({1}, {5}));
  EXPECT_EQ(LogOf(*MakeTrace(program, 1, threads), RunOptions()),
            "0:0[0 1 2 3] 1:0[4 5 6 7] 2:1[0 1 2 3] 3:3[4 5 6 7] 4:2[0 1 2 3] 5:4[4 5 6 7]");
  RunOptions buffers = Small();
  const Outcome outcome = RunBoth(*MakeTrace(program, 1, threads), buffers);
  EXPECT_EQ(outcome.launch().barriers(), 8u);
}

// Arrivals alone fill a barrier; nobody waits.
TEST(NamedBarrier, ProducersDoNotWaitForConsumers) {
  KernelProgram program = Straight(2);
  MakeNamedBarrier(*program.mutable_instruction(0), trace::v1::BARRIER_ARRIVE, 64);
  EXPECT_EQ(LogOf(*MakeTrace(program, 1, std::vector<ThreadTrace>(4, Thread({}, {1}))), RunOptions()),
            "0:0[0 1 2 3] 1:1[0 1 2 3] 2:2[0 1 2 3]");
}

// The producer arrives once more than anybody waits. The next block in its place begins without that arrival.
TEST(NamedBarrier, ArrivalsDoNotOutliveTheirBlock) {
  KernelProgram program = Roles(5);
  MakeNamedBarrier(*program.mutable_instruction(1), trace::v1::BARRIER_SYNC, 8);
  for (const int at : {6, 7}) MakeNamedBarrier(*program.mutable_instruction(at), trace::v1::BARRIER_ARRIVE, 8);
  const auto issues = [&program](uint32_t blocks) {
    std::vector<ThreadTrace> threads;
    for (uint32_t i = 0; i < 2 * blocks; ++i) {
      threads.resize(threads.size() + 4, i % 2 == 0 ? Thread({0}, {5}) : Thread({1}, {5, 5}));
    }
    RunOptions options;
    options.machine.mutable_core()->set_max_blocks(1);
    return std::regex_replace(LogOf(*MakeTrace(program, blocks, threads), options), std::regex("[0-9]+:"), "");
  };
  const std::string one = issues(1);
  EXPECT_THAT(one, HasSubstr("6[4 5 6 7] 2[0 1 2 3]"));
  EXPECT_EQ(issues(2), one + " " + one);
}

// The number comes from a register: two warps with other numbers do not wait for one another.
TEST(NamedBarrier, NumbersInRegistersTellBarriersApart) {
  KernelProgram program = Straight(1);
  MakeNamedBarrier(*program.mutable_instruction(0), trace::v1::BARRIER_SYNC, 4);
  std::vector<ThreadTrace> threads(4, Thread({}, {3}));
  threads.resize(8, Thread({}, {4}));
  EXPECT_EQ(LogOf(*MakeTrace(program, 1, threads), RunOptions()),
            "0:0[0 1 2 3] 1:0[4 5 6 7] 2:1[0 1 2 3] 3:1[4 5 6 7]");
  threads.assign(8, Thread({}, {16}));
  EXPECT_THAT(std::string(RunTrace(*MakeTrace(program, 1, threads)).status.message()), HasSubstr("barrier 16"));
}

TEST(NamedBarrier, CountsInRegisters) {
  KernelProgram program = Straight(1);
  MakeNamedBarrier(*program.mutable_instruction(0), trace::v1::BARRIER_SYNC, 0);
  const std::vector<ThreadTrace> threads(8, Thread({}, {3, 8}));
  EXPECT_EQ(LogOf(*MakeTrace(program, 1, threads), RunOptions()),
            "0:0[0 1 2 3] 1:0[4 5 6 7] 2:1[0 1 2 3] 3:1[4 5 6 7]");
}

// barrier.cluster of a cluster that is one block: an arrival, an add, and the wait for everybody's arrival.
TEST(ClusterBarrier, AWaitIsForThePhaseOfTheArrival) {
  KernelProgram program = Straight(3);
  for (const int at : {0, 2}) {
    Instruction& barrier = *program.mutable_instruction(at);
    barrier.set_op(trace::v1::OP_BARRIER);
    barrier.clear_dst();
    barrier.set_barrier_scope(trace::v1::SCOPE_CLUSTER);
    barrier.set_barrier_role(at == 0 ? trace::v1::BARRIER_ARRIVE : trace::v1::BARRIER_WAIT);
  }
  RunOptions options;
  // Warp 1 arrives in 1. Its wait, like that of warp 0, finds the phase over, and goes on in the next cycle.
  EXPECT_EQ(LogOf(*MakeTrace(program, 1, std::vector<ThreadTrace>(8)), options),
            "0:0[0 1 2 3] 1:0[4 5 6 7] 2:1[0 1 2 3] 3:1[4 5 6 7] 4:2[0 1 2 3] 5:2[4 5 6 7] 6:3[0 1 2 3] 7:3[4 5 6 7]");
}

}  // namespace
}  // namespace heddle::replay
