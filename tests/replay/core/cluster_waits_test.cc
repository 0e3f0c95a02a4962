// SMs that wait very long for blocks of their clusters on other SMs: they do not hang while one of these moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "replay/core/sm_core.h"
#include "tests/replay/core/cluster_harness.h"
#include "tests/traces/collective_programs.h"

namespace heddle::replay {
namespace {

using testing::HasSubstr;
using trace::testing::MakeTransactionBarrier;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;
using trace::v1::Async;
using trace::v1::KernelProgram;

constexpr uint64_t kGlobal = 0x7000'0000'0000;
constexpr Cycle kLoad = 100'000;
constexpr int kLoads = 12;
static_assert(kLoads * kLoad > SmCore::kNoProgressLimit && kLoad < SmCore::kNoProgressLimit);

// Every cycle is run, so that an SM that waits is looked at.
RunOptions Ticking(RunOptions options) {
  options.machine.mutable_memory()->mutable_fixed()->set_global_cycles(kLoad);
  options.force_tick = true;
  return options;
}

// A thread of the block that is late: it loads so often, each time what the load before has told.
ThreadTrace Late(std::vector<uint64_t> before, std::vector<uint64_t> behind) {
  std::vector<uint64_t> addresses = std::move(before);
  addresses.insert(addresses.end(), kLoads, kGlobal);
  addresses.insert(addresses.end(), behind.begin(), behind.end());
  return Thread({0}, std::move(addresses));
}

// The loads of late threads; then an arrival at the cluster's barrier, a wait, and the exit.
TEST(ClusterWaits, AtABarrierOfTheCluster) {
  ProgramBuilder builder("late");
  builder.Block("head").Branch("late", "sync").Block("late");
  for (int i = 0; i < kLoads; ++i) builder.Load();
  KernelProgram program = builder.Block("sync").Alu(2).Exit().Build();
  MakeClusterBarrier(*program.mutable_instruction(kLoads + 1), trace::v1::BARRIER_ARRIVE);
  MakeClusterBarrier(*program.mutable_instruction(kLoads + 2), trace::v1::BARRIER_WAIT);
  std::vector<ThreadTrace> threads(4, Thread({1}));
  threads.resize(8, Late({}, {}));
  const auto trace = MakeClusters(program, {2, 1}, {2, 1}, threads);
  for (const RunOptions& options : {Toys(2), Buffers(2)}) {
    const Outcome outcome = RunTrace(*trace, Ticking(options));
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_GT(outcome.launch().clusters().barrier_wait_cycles(), SmCore::kNoProgressLimit);
  }
}

// init, the cluster's barrier, then block 0 waits for a phase, and block 1 is late to arrive.
TEST(ClusterWaits, ForArrivalsAtATransactionBarrier) {
  ProgramBuilder builder("late");
  builder.Block("head").Alu(3).Branch("late", "waits").Block("late");
  for (int i = 0; i < kLoads; ++i) builder.Load();
  KernelProgram program = builder.Alu(1).Exit().Block("waits").Alu(1).Exit().Build();
  constexpr int kArrival = 4 + kLoads;
  MakeTransactionBarrier(*program.mutable_instruction(0), Async::BARRIER_INIT, 4);
  MakeClusterBarrier(*program.mutable_instruction(1), trace::v1::BARRIER_ARRIVE);
  MakeClusterBarrier(*program.mutable_instruction(2), trace::v1::BARRIER_WAIT);
  MakeTransactionBarrier(*program.mutable_instruction(kArrival), Async::BARRIER_ARRIVE, 1);
  MakeTransactionBarrier(*program.mutable_instruction(kArrival + 2), Async::BARRIER_WAIT, 1);
  program.mutable_instruction(kArrival)->mutable_operand(0)->set_space(trace::v1::SPACE_CLUSTER_SHARED);
  std::vector<ThreadTrace> threads(4, Thread({1}, {kClusterShared, kClusterShared}));
  threads.resize(8, Late({kClusterShared}, {InBlock(0, 0)}));
  const auto trace = MakeClusters(program, {2, 1}, {2, 1}, threads);
  for (const RunOptions& options : {Toys(2), Buffers(2)}) {
    const Outcome outcome = RunTrace(*trace, Ticking(options));
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.launch().clusters().remote_arrivals(), 4u);
  }
}

// Block 1 waits for more threads than it has: nothing of the cluster moves any more.
TEST(ClusterWaits, AClusterThatStandsStillIsReported) {
  KernelProgram program = ProgramBuilder("stuck")
                              .Block("head")
                              .Branch("stuck", "sync")
                              .Block("stuck")
                              .Barrier(1, 64)
                              .Block("sync")
                              .Alu(2)
                              .Exit()
                              .Build();
  MakeClusterBarrier(*program.mutable_instruction(2), trace::v1::BARRIER_ARRIVE);
  MakeClusterBarrier(*program.mutable_instruction(3), trace::v1::BARRIER_WAIT);
  std::vector<ThreadTrace> threads(4, Thread({1}));
  threads.resize(8, Thread({0}));
  const auto trace = MakeClusters(program, {2, 1}, {2, 1}, threads);
  for (const RunOptions& options : {Toys(2), Buffers(2)}) {
    const std::string message(RunTrace(*trace, Ticking(options)).status.message());
    EXPECT_THAT(message, HasSubstr("nothing was issued or completed on SM"));
    EXPECT_THAT(message, HasSubstr("1 of 2 blocks"));
  }
}

}  // namespace
}  // namespace heddle::replay
