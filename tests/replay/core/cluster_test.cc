// Clusters of several thread blocks: their barriers, how they come to the SMs, and what results count of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/seams/block_dispatcher.h"
#include "tests/replay/core/cluster_harness.h"

namespace heddle::replay {
namespace {

using testing::HasSubstr;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;
using trace::v1::Instruction;
using trace::v1::KernelProgram;

// --- barriers

// 0 branch; 1 to 5 for who decides 1; 6 arrival, 7 add, 8 wait, 9 exit.
KernelProgram ArriveAndWait() {
  KernelProgram program = ProgramBuilder("cluster")
                              .Block("head")
                              .Branch("sync", "slow")
                              .Block("slow")
                              .Alu(5)
                              .Block("sync")
                              .Alu(3)
                              .Exit()
                              .Build();
  MakeClusterBarrier(*program.mutable_instruction(6), trace::v1::BARRIER_ARRIVE);
  MakeClusterBarrier(*program.mutable_instruction(8), trace::v1::BARRIER_WAIT);
  for (const int pc : {1, 2, 3, 4, 5, 7}) {
    program.mutable_instruction(pc)->clear_src();
    program.mutable_instruction(pc)->clear_dst();
  }
  return program;
}

// Block 0 arrives in 1, block 1 in 6. Block 1 knows of block 0 in 11 and goes on in 12, block 0 five cycles later.
TEST(ClusterBarrier, AnSmKnowsOfOthersAfterTheLatencyOfTheNetwork) {
  std::vector<ThreadTrace> threads(4, Thread({0}));
  threads.resize(8, Thread({1}));
  const auto trace = MakeClusters(ArriveAndWait(), {2, 1}, {2, 1}, threads);
  const Outcome outcome = RunTwice(*trace, Toys(2));
  EXPECT_EQ(IssuesOf(outcome, 0), "0:0 1:6 2:7 3:8 17:9");
  EXPECT_EQ(IssuesOf(outcome, 1), "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8 12:9");
  EXPECT_EQ(outcome.launch().clusters().clusters(), 1u);
  EXPECT_EQ(outcome.launch().clusters().blocks_per_cluster(), 2u);
  EXPECT_EQ(outcome.launch().clusters().barrier_phases(), 1u);
  EXPECT_EQ(outcome.launch().clusters().barrier_wait_cycles(), (16u - 1) + (11 - 6));
  EXPECT_EQ(outcome.launch().barriers(), 8u);
}

TEST(ClusterBarrier, WithInstructionBuffers) {
  std::vector<ThreadTrace> threads(4, Thread({0}));
  threads.resize(8, Thread({1}));
  const Outcome outcome = RunTwice(*MakeClusters(ArriveAndWait(), {2, 1}, {2, 1}, threads), Buffers(2));
  const Cycle arrived[] = {LastIssue(outcome, 0, 6), LastIssue(outcome, 1, 6)};
  ASSERT_LT(arrived[0], arrived[1]);
  for (const int block : {0, 1}) {
    const Cycle opens = std::max(arrived[block], arrived[1 - block] + 10);
    EXPECT_EQ(LastIssue(outcome, block, 9), std::max(opens + 1, LastIssue(outcome, block, 8) + 1)) << block;
  }
  EXPECT_GT(outcome.launch().stalls().barrier(), 0u);
}

// Blocks on one SM know of one another at once: block 1 arrives in 11, behind block 0 at every instruction but those
// five.
TEST(ClusterBarrier, OnOneSmThereIsNoLatency) {
  std::vector<ThreadTrace> threads(4, Thread({0}));
  threads.resize(8, Thread({1}));
  const Outcome outcome = RunTwice(*MakeClusters(ArriveAndWait(), {2, 1}, {2, 1}, threads), Toys(1));
  const Cycle opens = LastIssue(outcome, 1, 6);
  EXPECT_EQ(LastIssue(outcome, 0, 9), opens + 1);
}

// A block whose threads have all exited is not waited for.
TEST(ClusterBarrier, ExitedBlocksCountAsArrived) {
  KernelProgram program = ProgramBuilder("leave")
                              .Block("head")
                              .Branch("sync", "leave")
                              .Block("leave")
                              .Alu(5)
                              .Exit()
                              .Block("sync")
                              .Alu(2)
                              .Exit()
                              .Build();
  MakeClusterBarrier(*program.mutable_instruction(7), trace::v1::BARRIER_ARRIVE);
  MakeClusterBarrier(*program.mutable_instruction(8), trace::v1::BARRIER_WAIT);
  std::vector<ThreadTrace> threads(4, Thread({0}));
  threads.resize(8, Thread({1}));
  const Outcome outcome = RunTwice(*MakeClusters(program, {2, 1}, {2, 1}, threads), Toys(2));
  // Its exit is issued in 6 and written back in 7.
  EXPECT_EQ(IssuesOf(outcome, 0), "0:0 1:7 2:8 18:9");
}

// A block arrives and exits without waiting. The opening that its SM hears of later is nothing to the block that has
// come to its place by then: that one waits for its own cluster.
TEST(ClusterBarrier, OpeningsDoNotOutliveTheirBlock) {
  KernelProgram program = ProgramBuilder("leave")
                              .Block("head")
                              .Alu(1)
                              .Branch("wait", "end")
                              .Block("wait")
                              .Alu(1)
                              .Block("end")
                              .Exit()
                              .Build();
  MakeClusterBarrier(*program.mutable_instruction(0), trace::v1::BARRIER_ARRIVE);
  MakeClusterBarrier(*program.mutable_instruction(2), trace::v1::BARRIER_WAIT);
  std::vector<ThreadTrace> threads(8, Thread({1}));  // the first cluster does not wait
  threads.resize(16, Thread({0}));
  RunOptions options = Toys(2);
  options.machine.mutable_core()->set_max_blocks(1);
  const Outcome outcome = RunTwice(*MakeClusters(program, {4, 1}, {2, 1}, threads), options);
  for (const int block : {2, 3}) {
    EXPECT_EQ(LastIssue(outcome, block, 3), LastIssue(outcome, 5 - block, 0) + 11) << "both arrive at once";
  }
}

// Without clusters' barriers the other blocks of the launch have nothing to do with one another, but they come
// together.
TEST(Clusters, ResultsTellOfThemWithoutBarriers) {
  const std::vector<ThreadTrace> threads(16, Thread({0}));
  const KernelProgram program =
      ProgramBuilder("plain").Block("a").Branch("b", "c").Block("b").Alu(3).Block("c").Exit().Build();
  const Outcome outcome = RunTwice(*MakeClusters(program, {4, 1}, {2, 1}, threads), Toys(4));
  EXPECT_EQ(outcome.launch().clusters().clusters(), 2u);
  EXPECT_EQ(outcome.launch().clusters().barrier_phases(), 0u);
  const Outcome single = RunTwice(*MakeClusters(program, {4, 1}, {1, 1}, threads), Toys(4));
  EXPECT_FALSE(single.launch().has_clusters());
  EXPECT_EQ(single.launch().cycles(), outcome.launch().cycles());
}

// Hardware threads that threads of the same block have left: nobody has arrived there. Warps of one thread, four rows:
// block 0 has three and is busy, so that warps of block 1 come to one row, one by one. The first of them arrives and
// exits.
TEST(ClusterBarrier, AThreadInThePlaceOfOneThatArrivedHasNot) {
  KernelProgram program = ProgramBuilder("rows")
                              .Block("head")
                              .Branch("go", "busy")
                              .Block("busy")
                              .Alu(20)
                              .Block("go")
                              .Alu(1)
                              .Branch("wait", "end")
                              .Block("wait")
                              .Alu(1)
                              .Block("end")
                              .Exit()
                              .Build();
  MakeClusterBarrier(*program.mutable_instruction(21), trace::v1::BARRIER_ARRIVE);
  MakeClusterBarrier(*program.mutable_instruction(23), trace::v1::BARRIER_WAIT);
  std::vector<ThreadTrace> threads(3, Thread({1, 0}));
  threads.push_back(Thread({0, 1}));
  threads.resize(6, Thread({0, 0}));
  RunOptions options = Toys(1);
  options.machine.mutable_core()->set_warp_size(1);
  options.machine.mutable_core()->set_simd_width(1);
  options.machine.mutable_core()->set_max_threads(4);
  options.dispatch = "warps";
  const Outcome outcome = RunTwice(*MakeClusters(program, {2, 1}, {1, 1}, threads), options);
  EXPECT_EQ(outcome.launch().threads(), 6u);
}

// --- all of it together

// Every block writes, reads and changes the shared memory of the next one, and sometimes its own, between barriers.
KernelProgram Exchange() {
  KernelProgram program = ProgramBuilder("exchange")
                              .Alu(2)
                              .Store(trace::v1::SPACE_CLUSTER_SHARED)
                              .Alu(2)
                              .Load(trace::v1::SPACE_CLUSTER_SHARED)
                              .Atomic(trace::v1::SPACE_CLUSTER_SHARED)
                              .Load(trace::v1::SPACE_GENERIC)
                              .Alu(2)
                              .Exit()
                              .Build();
  for (const int pc : {0, 3, 8}) MakeClusterBarrier(*program.mutable_instruction(pc), trace::v1::BARRIER_ARRIVE);
  for (const int pc : {1, 4, 9}) MakeClusterBarrier(*program.mutable_instruction(pc), trace::v1::BARRIER_WAIT);
  return program;
}

// A grid of 4 by 4 blocks of 48 threads, in clusters of 2 by 2.
std::unique_ptr<trace::TraceReader> ExchangeTrace() {
  std::vector<ThreadTrace> threads;
  for (uint32_t block = 0; block < 16; ++block) {
    const uint32_t rank = block % 2 + block / 4 % 2 * 2;
    for (uint32_t i = 0; i < 48; ++i) {
      const uint32_t to = i % 5 == 0 ? rank : (rank + 1 + i / 40) % 4;
      const uint64_t own = i % 2 == 0 ? kClusterShared + 4 * i : InBlock(rank, 4 * i);
      threads.push_back(Thread({}, {InBlock(to, 4 * i), InBlock(to, 4 * i), InBlock((rank + 2) % 4, 8), own}));
    }
  }
  return MakeClusters(Exchange(), {4, 4}, {2, 2}, threads);
}

// Whatever the policies make of the warps and whichever SMs the clusters go to: nothing is lost, nobody goes through a
// barrier before all of the cluster have arrived, and all lanes' bytes cross the network, there or back.
TEST(Clusters, UnderEveryPolicyAndDispatcher) {
  const auto trace = ExchangeTrace();
  for (const bool buffers : {false, true}) {
    for (const char* divergence : {"pdom", "its", "nrec", "dwf", "tbc", "capri", "lwm", "thread_frontiers"}) {
      for (const char* dispatch : {"thread_blocks", "warps", "virtual_blocks"}) {
        const bool whole = std::string(dispatch) == "thread_blocks";
        const bool block_wide =
            std::string(divergence) != "pdom" && std::string(divergence) != "its" && std::string(divergence) != "nrec";
        if (!whole && block_wide) continue;
        SCOPED_TRACE(absl::StrCat(divergence, " ", dispatch, buffers ? " with buffers" : ""));
        RunOptions options = OnHierarchy(buffers, 7);
        options.machine.mutable_clusters()->set_sms(3);
        options.machine.mutable_core()->set_max_blocks(2);
        options.divergence = divergence;
        options.dispatch = dispatch;
        const Outcome outcome = RunTwice(*trace, options);
        ASSERT_TRUE(outcome.status.ok());
        EXPECT_EQ(outcome.launch().thread_instructions(), 16u * 48 * 11);
        const result::v1::ClusterCounters& counted = outcome.launch().clusters();
        EXPECT_EQ(counted.clusters(), 4u);
        EXPECT_EQ(counted.barrier_phases(), 4u * 3);
        EXPECT_EQ(counted.requests(), counted.replies());
        EXPECT_EQ(counted.request_bytes(), 16u * 4 * (38 + 48));  // stores of 38 threads of a block, atomics of all
        EXPECT_EQ(counted.reply_bytes(), 16u * 4 * (38 + 48));    // loads likewise
        std::map<uint64_t, Cycle> last_arrival, first_exit;       // by cluster
        for (const LoggedIssue& issue : outcome.log.issues()) {
          for (const LoggedIssue::Member& member : issue.members) {
            const uint64_t cluster = member.block % 4 / 2 + member.block / 8 * 2;
            if (member.pc == 8) last_arrival[cluster] = std::max(last_arrival[cluster], issue.cycle);
            if (member.pc != 10) continue;
            const auto [first, is_new] = first_exit.try_emplace(cluster, issue.cycle);
            if (!is_new) first->second = std::min(first->second, issue.cycle);
          }
        }
        for (const auto& [cluster, exit] : first_exit) EXPECT_GT(exit, last_arrival[cluster]) << cluster;
      }
    }
  }
}

// Random programs whose barriers are the cluster's, and whose accesses go to any of its blocks: every thread runs what
// was recorded, whatever is regrouped, and cycles that are left out change nothing.
TEST(Clusters, RandomPrograms) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    KernelProgram program = trace::testing::RandomProgram(seed, {.depth = 2, .barriers = true, .calls = seed % 2 == 1});
    for (Instruction& instruction : *program.mutable_instruction()) {
      if (instruction.op() == trace::v1::OP_BARRIER) {
        MakeClusterBarrier(instruction, trace::v1::BARRIER_SYNC);
      } else if (instruction.space() == trace::v1::SPACE_GLOBAL) {
        instruction.set_space(seed % 3 == 0 ? trace::v1::SPACE_GENERIC : trace::v1::SPACE_CLUSTER_SHARED);
      }
    }
    const trace::Program checked = *trace::Program::Create(program);
    std::vector<ThreadTrace> threads;
    uint64_t instructions = 0;
    for (uint64_t t = 0; t < 6 * 40; ++t) {
      threads.push_back(trace::testing::RandomThread(checked, seed, t, {.most_instructions = 100}));
      instructions += threads.back().thread_instructions;
      for (uint64_t& address : threads.back().addresses) address = InBlock(address / 64 % 3, address % 16 * 16);
    }
    const auto trace = MakeClusters(program, {6, 1}, {3, 1}, threads);
    for (const char* policy : {"pdom", "its", "dwf", "tbc", "dws"}) {
      for (const bool buffers : {false, true}) {
        SCOPED_TRACE(absl::StrCat(policy, buffers ? " with buffers, seed " : ", seed ", seed));
        RunOptions options = OnHierarchy(buffers, 4);
        options.divergence = policy;
        const Outcome outcome = RunTwice(*trace, options);
        ASSERT_TRUE(outcome.status.ok());
        EXPECT_EQ(outcome.launch().thread_instructions(), instructions);
        const result::v1::ClusterCounters& counted = outcome.launch().clusters();
        EXPECT_GE(counted.requests(), counted.remote_loads() + counted.remote_stores() + counted.remote_atomics());
        EXPECT_EQ(counted.requests() != 0, counted.remote_loads() + counted.remote_stores() != 0);
      }
    }
  }
}

// --- what dispatchers may do

// Sends blocks in order to the SMs it is told, one list per round.
class Scripted final : public BlockDispatcher {
 public:
  Scripted(uint64_t blocks, std::vector<std::vector<uint32_t>> rounds) : blocks_(blocks), rounds_(std::move(rounds)) {}

  std::optional<Assignment> Next(std::span<const SmOccupancy>, std::span<const bool>) override {
    if (rounds_.empty()) return std::nullopt;
    if (rounds_.front().empty()) {
      rounds_.erase(rounds_.begin());
      return std::nullopt;
    }
    const uint32_t sm = rounds_.front().front();
    rounds_.front().erase(rounds_.front().begin());
    return Assignment{sm, next_++};
  }
  bool done() const override { return next_ == blocks_; }

 private:
  const uint64_t blocks_;
  std::vector<std::vector<uint32_t>> rounds_;
  uint64_t next_ = 0;
};

TEST(Clusters, ADispatcherThatTearsThemApartEndsTheRun) {
  const std::vector<ThreadTrace> threads(16, Thread({0}));
  const auto trace = MakeClusters(ArriveAndWait(), {4, 1}, {2, 1}, threads);
  const auto error = [&](const std::string& name, const std::vector<std::vector<uint32_t>>& rounds) {
    PolicyInfo info;
    info.name = name;
    info.summary = "made by a test";
    DispatchRegistry::Get().Register(std::move(info), [rounds](const DispatchContext& context, const Parameters&) {
      return std::make_unique<Scripted>(context.blocks, rounds);
    });
    RunOptions options = Toys(4);
    options.machine.mutable_clusters()->set_sms(2);
    options.dispatch = name;
    return std::string(RunTrace(*trace, options).status.message());
  };
  EXPECT_EQ(error("test_whole", {{0, 1, 2, 3}}), "");
  EXPECT_THAT(error("test_alone", {{0}, {1}, {2, 3}}), HasSubstr("1 of the 2 blocks of a cluster without the others"));
  EXPECT_THAT(error("test_apart", {{1, 2, 0, 3}}), HasSubstr("not of the group of SMs that has its cluster"));
  EXPECT_THAT(error("test_heap", {{0, 0, 2, 3}}), HasSubstr("which has 1 blocks of that cluster already"));
  EXPECT_THAT(error("test_twice", {{0, 1, 1, 0}}), HasSubstr("a block of another cluster in this cycle"));
}

// Clusters along y begin with blocks 0 and 2, but the first blocks of a grid are those with the lowest numbers.
TEST(Clusters, PhasesAreThoseOfTheBlocksWithTheLowestNumbers) {
  const std::vector<ThreadTrace> threads(4 * 8, Thread({0}));
  const auto trace = MakeClusters(ArriveAndWait(), {2, 2}, {1, 2}, threads);
  RunOptions options = Toys(4);
  options.metrics.timeline_blocks = 2;
  const Outcome outcome = RunTwice(*trace, options);
  std::vector<std::pair<uint64_t, uint32_t>> recorded;  // by block and warp
  for (const result::v1::WarpTimeline& warp : outcome.launch().warp_timeline()) {
    recorded.emplace_back(warp.block(), warp.warp());
  }
  EXPECT_THAT(recorded,
              testing::ElementsAre(testing::Pair(0, 0), testing::Pair(0, 1), testing::Pair(1, 0), testing::Pair(1, 1)));
}

// --- what machines have room for

TEST(Clusters, AMachineWithoutRoomForOneIsRefused) {
  const std::vector<ThreadTrace> threads(32, Thread({0}));
  const auto trace = MakeClusters(ArriveAndWait(), {8, 1}, {8, 1}, threads);
  RunOptions options = Toys(4);
  EXPECT_TRUE(RunTrace(*trace, options).status.ok());  // two blocks per SM
  options.machine.mutable_clusters()->set_sms(2);
  EXPECT_TRUE(RunTrace(*trace, options).status.ok());  // four
  options.machine.mutable_core()->set_max_blocks(3);
  const absl::Status status = RunTrace(*trace, options).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("does not fit on the 2 SMs that machine toy has for it"));
}

TEST(Clusters, ASmallGridIsSpreadWithRoomForItsClusters) {
  const std::vector<ThreadTrace> threads(4 * 6, Thread({0}));
  const auto trace = MakeClusters(ArriveAndWait(), {6, 1}, {3, 1}, threads);
  RunOptions options = Toys(4);
  options.machine.mutable_dispatch()->set_spread_small_grids(true);
  const Outcome outcome = RunTwice(*trace, options);
  EXPECT_EQ(outcome.launch().blocks_per_sm(), 2u) << "with one block, four SMs hold one cluster of three";
}

}  // namespace
}  // namespace heddle::replay
