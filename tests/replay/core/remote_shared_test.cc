// Accesses to the shared memory of other blocks of a cluster, and arrivals at their transaction barriers: cycles by
// hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/replay/core/cluster_harness.h"
#include "tests/traces/collective_programs.h"

namespace heddle::replay {
namespace {

using testing::HasSubstr;
using trace::testing::MakeTiles;
using trace::testing::MakeTransactionBarrier;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;
using trace::v1::Async;
using trace::v1::KernelProgram;

// --- shared memory of other blocks

// ld.shared::cluster, add of what it loads, exit.
KernelProgram LoadAndUse(trace::v1::MemorySpace space) {
  return ProgramBuilder("load").Load(space).Alu(1).Exit().Build();
}

// By fixed latencies: 5 cycles to the own block's, in whichever window; 2 * 10 more to the other's, with any lane.
TEST(RemoteAccess, ByFixedLatencies) {
  const auto issues = [](trace::v1::MemorySpace space, const std::vector<uint64_t>& addresses) {
    std::vector<ThreadTrace> threads;
    for (const uint64_t address : addresses) threads.push_back(Thread({}, {address}));
    threads.resize(8, Thread({}, {kClusterShared}));
    const Outcome outcome = RunTwice(*MakeClusters(LoadAndUse(space), {2, 1}, {2, 1}, threads), Toys(2));
    EXPECT_EQ(outcome.launch().clusters().remote_loads(), IssuesOf(outcome, 0) == "0:0 25:1 26:2" ? 1 : 0);
    return IssuesOf(outcome, 0);
  };
  for (const auto space : {trace::v1::SPACE_CLUSTER_SHARED, trace::v1::SPACE_GENERIC}) {
    EXPECT_EQ(issues(space, {kClusterShared, kClusterShared, kClusterShared, kClusterShared}), "0:0 5:1 6:2");
    EXPECT_EQ(issues(space, {InBlock(0, 0), InBlock(0, 4), kClusterShared, kClusterShared}), "0:0 5:1 6:2");
    EXPECT_EQ(issues(space, {InBlock(0, 0), InBlock(0, 4), kClusterShared, InBlock(1, 0)}), "0:0 25:1 26:2");
  }
  EXPECT_EQ(issues(trace::v1::SPACE_GENERIC, {1 << 20, 1 << 20, 1 << 20, 1 << 20}), "0:0 1:1 2:2");
}

TEST(RemoteAccess, WhatNoBlockHasIsRefused) {
  const auto error = [](uint64_t address) {
    const std::vector<ThreadTrace> threads(8, Thread({}, {address}));
    const auto trace = MakeClusters(LoadAndUse(trace::v1::SPACE_CLUSTER_SHARED), {2, 1}, {2, 1}, threads);
    return std::string(RunTrace(*trace, Toys(2)).status.message());
  };
  EXPECT_THAT(error(InBlock(2, 0)), HasSubstr("shared memory of a block that its cluster does not have"));
  EXPECT_THAT(error(InBlock(16, 0)), HasSubstr("which is no shared memory"));
  EXPECT_THAT(error(8), HasSubstr("at PC 0: thread 0 of block 0 accesses 0x8"));
}

// A message is 10 cycles on its way, and is sent and taken in a cycle for each 16 bytes. A load of one lane: there in
// 11, data behind the latency of shared memory, back in 11. Of 32 lanes the reply is 8 cycles long; a store of 32 lanes
// is, and its data are written in the pass. Then nothing is in front of anything.
TEST(RemoteAccess, LatenciesWithoutContention) {
  for (const bool buffers : {false, true}) {
    const RunOptions options = OnHierarchy(buffers, 2);
    const uint32_t shared = options.machine.memory().hierarchy().shared().latency();
    const auto latency = [&](const KernelProgram& program, uint32_t lanes) {
      std::vector<ThreadTrace> threads;
      for (uint32_t i = 0; i < lanes; ++i) threads.push_back(Thread({}, {InBlock(1, 4 * i)}));
      for (uint32_t i = 0; i < lanes; ++i) threads.push_back(Thread({}, {InBlock(1, 4 * i)}));
      const Outcome outcome = RunTwice(*MakeClusters(program, {2, 1}, {2, 1}, threads), options);
      EXPECT_EQ(outcome.launch().clusters().requests(), 1u);
      EXPECT_EQ(outcome.launch().clusters().port_wait_cycles(), 0u);
      return outcome.launch().clusters().latency_sum();
    };
    constexpr auto kSpace = trace::v1::SPACE_CLUSTER_SHARED;
    EXPECT_EQ(latency(ProgramBuilder("load").Load(kSpace).Exit().Build(), 1), 2u * 11 + shared);
    EXPECT_EQ(latency(ProgramBuilder("load").Load(kSpace).Exit().Build(), 32), 2u * 10 + 1 + 8 + shared);
    EXPECT_EQ(latency(ProgramBuilder("store").Store(kSpace).Exit().Build(), 32), 2u * 10 + 8 + 1 + 1);
    EXPECT_EQ(latency(ProgramBuilder("atomic").Atomic(kSpace).Exit().Build(), 1), 2u * 11 + shared);
  }
}

// A tile has 8 rows, whose addresses the first 8 threads hand in. The others may hand in anything; it is not looked at,
// whether the threads are together or have to meet.
TEST(RemoteAccess, AddressesOfLanesThatDoNotAccessAreNotLookedAt) {
  KernelProgram program = ProgramBuilder("tile")
                              .Block("head")
                              .Branch("odd", "join")
                              .Block("odd")
                              .Alu(1)
                              .Block("join")
                              .Alu(1)
                              .Exit()
                              .Build();
  MakeTiles(*program.mutable_instruction(2), trace::v1::Matrix::LOAD, 1);
  program.mutable_instruction(2)->set_space(trace::v1::SPACE_CLUSTER_SHARED);
  std::vector<ThreadTrace> threads;
  for (uint32_t i = 0; i < 64; ++i) {
    const uint64_t address = i % 32 < 8 ? InBlock(1 - i / 32, 16 * i) : 8;
    threads.push_back(Thread({static_cast<uint8_t>(i % 2)}, {address}));
  }
  const auto trace = MakeClusters(program, {2, 1}, {2, 1}, threads);
  for (RunOptions options : {Toys(2), Buffers(2), OnHierarchy(false, 2), OnHierarchy(true, 2)}) {
    options.machine.mutable_core()->set_warp_size(32);
    options.machine.mutable_core()->set_simd_width(32);
    options.machine.mutable_core()->set_max_threads(256);
    for (const char* policy : {"pdom", "nrec"}) {
      SCOPED_TRACE(absl::StrCat(options.machine.name(), " ", policy));
      options.divergence = policy;
      const Outcome outcome = RunTwice(*trace, options);
      ASSERT_TRUE(outcome.status.ok());
      EXPECT_EQ(outcome.launch().clusters().remote_loads(), 2u);
    }
  }
}

// --- transaction barriers of other blocks

// 0 init, 1 and 2 the cluster's barrier, 3 branch, 4 wait for a phase, 5 arrival, 6 exit.
KernelProgram WaitOrArrive() {
  KernelProgram program = ProgramBuilder("phases")
                              .Block("head")
                              .Alu(3)
                              .Branch("waits", "arrives")
                              .Block("waits")
                              .Alu(1)
                              .Jump("end")
                              .Block("arrives")
                              .Alu(1)
                              .Block("end")
                              .Exit()
                              .Build();
  MakeTransactionBarrier(*program.mutable_instruction(0), Async::BARRIER_INIT, 4);
  MakeClusterBarrier(*program.mutable_instruction(1), trace::v1::BARRIER_ARRIVE);
  MakeClusterBarrier(*program.mutable_instruction(2), trace::v1::BARRIER_WAIT);
  MakeTransactionBarrier(*program.mutable_instruction(4), Async::BARRIER_WAIT, 1);
  MakeTransactionBarrier(*program.mutable_instruction(5), Async::BARRIER_ARRIVE, 1);
  for (const int pc : {4, 5}) {
    program.mutable_instruction(pc)->mutable_operand(0)->set_space(trace::v1::SPACE_CLUSTER_SHARED);
  }
  return program;
}

// The threads of block 1 arrive in 13, which block 0 knows of in 23.
TEST(RemoteBarrier, ArrivalsCountAfterTheLatencyOfTheNetwork) {
  std::vector<ThreadTrace> threads(4, Thread({0}, {kClusterShared, InBlock(0, 0)}));
  threads.resize(8, Thread({1}, {kClusterShared, InBlock(0, 0)}));
  const auto trace = MakeClusters(WaitOrArrive(), {2, 1}, {2, 1}, threads);
  const Outcome outcome = RunTwice(*trace, Toys(2));
  EXPECT_EQ(IssuesOf(outcome, 0), "0:0 1:1 2:2 12:3 13:4 23:6");
  EXPECT_EQ(IssuesOf(outcome, 1), "0:0 1:1 2:2 12:3 13:5 14:6");
  EXPECT_EQ(outcome.launch().clusters().remote_arrivals(), 4u);
  const Outcome buffers = RunTwice(*trace, Buffers(2));
  EXPECT_EQ(LastIssue(buffers, 0, 6), LastIssue(buffers, 1, 5) + 10 + 2) << "the exit is elsewhere: fetched, issued";
}

TEST(RemoteBarrier, NobodyWaitsAtThem) {
  std::vector<ThreadTrace> threads(4, Thread({0}, {kClusterShared, InBlock(1, 0)}));
  threads.resize(8, Thread({1}, {kClusterShared, InBlock(0, 0)}));
  const auto trace = MakeClusters(WaitOrArrive(), {2, 1}, {2, 1}, threads);
  EXPECT_THAT(std::string(RunTrace(*trace, Toys(2)).status.message()),
              HasSubstr("a transaction barrier of another block, where it may only arrive"));
}

}  // namespace
}  // namespace heddle::replay
