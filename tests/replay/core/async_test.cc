// Asynchronous copies, transaction barriers, and barriers that threads arrive at without waiting: cycles by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "replay/machine/machine.h"
#include "tests/replay/core/engine_harness.h"
#include "tests/replay/core/ibuffer_harness.h"
#include "tests/traces/collective_programs.h"

namespace heddle::replay {
namespace {

using testing::HasSubstr;
using trace::testing::MakeCopy;
using trace::testing::MakeGroup;
using trace::testing::MakeNamedBarrier;
using trace::testing::MakeProduct;
using trace::testing::MakeTransactionBarrier;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;
using trace::v1::Async;
using trace::v1::Instruction;
using trace::v1::KernelProgram;

constexpr uint64_t kGlobal = 0x7000'0000'0000;
constexpr uint64_t kShared = 0x100'0000;

// The toy machine (every instruction takes a cycle), but for 20 cycles to global memory and 5 to shared memory.
RunOptions Slow() {
  RunOptions options;
  options.machine.mutable_memory()->mutable_fixed()->set_global_cycles(20);
  options.machine.mutable_memory()->mutable_fixed()->set_shared_cycles(5);
  return options;
}

// So many instructions and an exit, to be made others.
KernelProgram Straight(int instructions) { return ProgramBuilder("async").Alu(instructions).Exit().Build(); }

// Threads with the same two addresses for each copy, a few bytes apart.
std::vector<ThreadTrace> Threads(uint32_t count, int copies) {
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < count; ++t) {
    std::vector<uint64_t> addresses;
    for (int i = 0; i < copies; ++i) {
      addresses.push_back(kGlobal + 16 * t);
      addresses.push_back(kShared + 16 * t);
    }
    threads.push_back(Thread({}, std::move(addresses)));
  }
  return threads;
}

// The issues of a run, which must be the same if every cycle is run.
std::string LogOf(const trace::TraceReader& trace, RunOptions options) {
  const Outcome outcome = RunTrace(trace, options);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  options.force_tick = true;
  const Outcome ticking = RunTrace(trace, options);
  EXPECT_EQ(outcome.log.text(), ticking.log.text());
  return outcome.log.text();
}

// copy, commit, add, wait for all groups, exit
KernelProgram CopyAndWait() {
  KernelProgram program = Straight(4);
  MakeCopy(*program.mutable_instruction(0));
  MakeGroup(*program.mutable_instruction(1), Async::COMMIT);
  MakeGroup(*program.mutable_instruction(3), Async::WAIT_GROUP);
  return program;
}

// The copy is issued in 0 and read from 1 to 21, its data written from 21 to 26. Meanwhile the warp goes on.
TEST(AsyncCopy, AWaitHoldsTheWarpUntilTheDataAreInSharedMemory) {
  EXPECT_EQ(LogOf(*MakeTrace(CopyAndWait(), 1, Threads(4, 1)), Slow()),
            "0:0[0 1 2 3] 1:1[0 1 2 3] 2:2[0 1 2 3] 3:3[0 1 2 3] 26:4[0 1 2 3]");
}

// With instruction buffers: issued in 2, read from 3 to 23, written from 23 to 28.
TEST(AsyncCopy, WithInstructionBuffers) {
  RunOptions options = Small();
  Buffer(options).set_fetch_when(machine::v1::InstructionBuffer::FREE_SLOT);
  Buffer(options).set_entries(4);
  KernelProgram program = CopyAndWait();
  for (int i = 0; i < 4; ++i) SetRegisters(program, i, {}, {});
  const Outcome outcome = RunBoth(*MakeTrace(program, 1, Threads(4, 1)), options);
  EXPECT_EQ(Issues(outcome), "2:0 3:1 4:2 5:3 28:4");
}

// copy a, commit, copy b, commit, wait for all groups but one, wait for all, exit. Copy b, issued in 2, is read from 3
// to 23 and written to 28.
TEST(AsyncCopy, TheLatestGroupsMayBePending) {
  KernelProgram program = Straight(6);
  for (const int at : {0, 2}) MakeCopy(*program.mutable_instruction(at));
  for (const int at : {1, 3}) MakeGroup(*program.mutable_instruction(at), Async::COMMIT);
  MakeGroup(*program.mutable_instruction(4), Async::WAIT_GROUP, 1);
  MakeGroup(*program.mutable_instruction(5), Async::WAIT_ALL);
  EXPECT_EQ(LogOf(*MakeTrace(program, 1, Threads(4, 2)), Slow()),
            "0:0[0 1 2 3] 1:1[0 1 2 3] 2:2[0 1 2 3] 3:3[0 1 2 3] 4:4[0 1 2 3] 26:5[0 1 2 3] 28:6[0 1 2 3]");
}

// A wait that ends its block, since what comes behind it is for some threads: it is waiting that the port loses its
// cycles to, not control.
TEST(AsyncCopy, AWaitAtTheEndOfABlockCountsAsABarrier) {
  KernelProgram program = ProgramBuilder("guarded")
                              .Block("head")
                              .Alu(1)
                              .Branch("some", "end")
                              .Block("some")
                              .Alu(1)
                              .Block("end")
                              .Exit()
                              .Build();
  MakeCopy(*program.mutable_instruction(0));
  MakeGroup(*program.mutable_instruction(1), Async::WAIT_ALL);
  RunOptions options = Small();
  Buffer(options).set_fetch_when(machine::v1::InstructionBuffer::FREE_SLOT);
  std::vector<ThreadTrace> threads = Threads(4, 1);
  for (ThreadTrace& thread : threads) thread.decisions = {0};
  const Outcome outcome = RunBoth(*MakeTrace(program, 1, threads), options);
  // The copy is issued in 2 and complete in 28; the wait, issued in 3, holds the warp for its own 4 cycles first.
  EXPECT_EQ(outcome.launch().stalls().barrier(), 28u - 7);
  EXPECT_LT(outcome.launch().stalls().control(), 12u);
}

// A copy that no commit has closed is of no group: only WAIT_ALL waits for it.
TEST(AsyncCopy, TheOpenGroupIsAwaitedByWaitAllAlone) {
  KernelProgram program = Straight(3);
  MakeCopy(*program.mutable_instruction(0));
  MakeGroup(*program.mutable_instruction(1), Async::WAIT_GROUP, 0);
  MakeGroup(*program.mutable_instruction(2), Async::WAIT_ALL);
  EXPECT_EQ(LogOf(*MakeTrace(program, 1, Threads(4, 1)), Slow()),
            "0:0[0 1 2 3] 1:1[0 1 2 3] 2:2[0 1 2 3] 26:3[0 1 2 3]");
}

TEST(AsyncCopy, ABlockStaysUntilItsCopiesHaveEnded) {
  KernelProgram program = Straight(1);
  MakeCopy(*program.mutable_instruction(0));
  for (RunOptions options : {Slow(), Small()}) {
    const Outcome outcome = RunTrace(*MakeTrace(program, 1, Threads(4, 1)), options);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_GE(outcome.launch().cycles(), 26u);
  }
}

// Of no bytes nothing is read: the destination is written from 1 to 6.
TEST(AsyncCopy, OfNoBytesOnlyWrites) {
  KernelProgram program = CopyAndWait();
  trace::v1::Operand& bytes = *program.mutable_instruction(0)->add_operand();
  bytes.set_kind(trace::v1::Operand::BYTES);
  bytes.set_constant(true);
  EXPECT_EQ(LogOf(*MakeTrace(program, 1, Threads(4, 1)), Slow()),
            "0:0[0 1 2 3] 1:1[0 1 2 3] 2:2[0 1 2 3] 3:3[0 1 2 3] 6:4[0 1 2 3]");
}

// Half of the threads copy, in a branch; all of them wait. Whatever a policy does with the warps, every instruction is
// issued, and no thread goes on before its copy has ended.
TEST(AsyncCopy, UnderEveryPolicyThreadsWaitForTheirOwnCopies) {
  KernelProgram program = ProgramBuilder("branch")
                              .Block("head")
                              .Branch("copy", "join")
                              .Block("copy")
                              .Alu(2)
                              .Jump("join")
                              .Block("join")
                              .Alu(2)
                              .Exit()
                              .Build();
  MakeCopy(*program.mutable_instruction(1));
  MakeGroup(*program.mutable_instruction(2), Async::COMMIT);
  MakeGroup(*program.mutable_instruction(3), Async::WAIT_GROUP);
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < 16; ++t) {
    threads.push_back(t % 2 == 0 ? Thread({0}, {kGlobal + 16 * t, kShared + 16 * t}) : Thread({1}));
  }
  const auto trace = MakeTrace(program, 1, threads);
  for (const char* policy : {"pdom", "its", "nrec", "dwf", "tbc", "mimd"}) {
    SCOPED_TRACE(policy);
    RunOptions options = Slow();
    options.divergence = policy;
    const Outcome outcome = RunTrace(*trace, options);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.launch().thread_instructions(), 8u * 6 + 8u * 4);
    std::vector<Cycle> copied(16, 0);
    for (const LoggedIssue& issue : outcome.log.issues()) {
      for (const LoggedIssue::Member& member : issue.members) {
        if (member.pc == 1) copied[member.thread] = issue.cycle;
        if (member.pc == 4 && copied[member.thread] != 0) {
          EXPECT_GE(issue.cycle, copied[member.thread] + 26) << member.thread;
        }
      }
    }
  }
}

// A random program with copies in the place of its loads and stores, and with commits and waits.
KernelProgram RandomCopies(uint64_t seed) {
  KernelProgram program =
      trace::testing::RandomProgram(seed, {.depth = 2, .calls = seed % 2 == 1, .wide = seed % 3 == 0});
  uint32_t number = 0;
  for (Instruction& instruction : *program.mutable_instruction()) {
    if (instruction.op() == trace::v1::OP_LOAD || instruction.op() == trace::v1::OP_STORE) {
      MakeCopy(instruction, number % 2 == 0 ? 16 : 4);
    } else if (instruction.op() == trace::v1::OP_INT_ALU && number % 4 == 1) {
      MakeGroup(instruction, Async::COMMIT);
    } else if (instruction.op() == trace::v1::OP_INT_ALU && number % 4 == 2) {
      MakeGroup(instruction, Async::WAIT_GROUP, number % 3);
    } else if (instruction.op() == trace::v1::OP_INT_ALU && number % 8 == 3) {
      MakeGroup(instruction, Async::WAIT_ALL);
    }
    ++number;
  }
  return program;
}

void Limit(machine::v1::CopyEngine& copies) {
  copies.set_bytes_per_cycle(12);
  copies.set_in_flight(2);
}

// Nothing is lost, cycles that are skipped change nothing, and no thread goes past WAIT_ALL before its latest copy has
// been read and written, which takes 26 cycles from its issue on.
TEST(AsyncCopy, RandomProgramsUnderPoliciesThatRegroup) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const KernelProgram program = RandomCopies(seed);
    const trace::Program checked = *trace::Program::Create(program);
    std::vector<ThreadTrace> threads;
    uint64_t instructions = 0;
    for (uint64_t t = 0; t < 24; ++t) {
      threads.push_back(trace::testing::RandomThread(checked, seed, t, {.most_instructions = 120}));
      instructions += threads.back().thread_instructions;
    }
    const auto trace = MakeTrace(program, 2, threads);
    for (const char* policy : {"pdom", "its", "dwf", "tbc", "nrec"}) {
      for (const bool buffers : {false, true}) {
        SCOPED_TRACE(std::string(policy) + (buffers ? " with buffers, seed " : ", seed ") + std::to_string(seed));
        RunOptions options = buffers ? Small() : Slow();
        options.divergence = policy;
        if (seed % 3 == 0) Limit(*options.machine.mutable_core()->mutable_copies());
        const Outcome outcome = RunBoth(*trace, options);
        ASSERT_TRUE(outcome.status.ok());
        EXPECT_EQ(outcome.launch().thread_instructions(), instructions);
        std::map<std::pair<uint64_t, uint32_t>, Cycle> copied, awaited;  // by block and thread
        for (const LoggedIssue& issue : outcome.log.issues()) {
          for (const LoggedIssue::Member& member : issue.members) {
            const std::pair<uint64_t, uint32_t> thread(member.block, member.thread);
            if (const auto earliest = awaited.find(thread); earliest != awaited.end()) {
              EXPECT_GE(issue.cycle, earliest->second);
              awaited.erase(earliest);
            }
            const Async::Role role = program.instruction(static_cast<int>(member.pc)).async().role();
            if (role == Async::COPY) copied[thread] = issue.cycle;
            if (role == Async::WAIT_ALL && copied.contains(thread)) awaited[thread] = copied[thread] + 26;
          }
        }
      }
    }
  }
}

// Before caches and DRAM: copies read through them and write shared memory, with its bank conflicts.
TEST(AsyncCopy, OnAMemoryHierarchy) {
  KernelProgram program = CopyAndWait();
  constexpr uint32_t kThreads = 64;
  for (const bool pipelined : {true, false}) {
    machine::v1::Machine machine = LoadMachine(pipelined ? "fermi_fixed" : "baws_gtx480").value();
    *machine.mutable_memory() = LoadMachine("baws_gtx480").value().memory();
    *machine.mutable_clocks() = LoadMachine("baws_gtx480").value().clocks();
    machine.set_sms(2);
    uint64_t passes[2] = {};
    for (const uint64_t stride : {16u, 1024u}) {
      std::vector<ThreadTrace> threads;
      for (uint64_t t = 0; t < 4 * kThreads; ++t) {
        threads.push_back(Thread({}, {kGlobal + 16 * t, kShared + stride * (t % kThreads)}));
      }
      RunOptions options;
      options.machine = machine;
      const Outcome outcome = RunTrace(*MakeTrace(program, 4, threads), options);
      ASSERT_TRUE(outcome.status.ok()) << outcome.status;
      EXPECT_EQ(outcome.launch().thread_instructions(), 4u * kThreads * 5);
      const auto& shared = outcome.launch().memory_instructions();
      passes[stride == 1024] = shared.shared_passes();
      EXPECT_EQ(shared.shared_accesses(), 4u * kThreads / 32);
    }
    EXPECT_GT(passes[1], passes[0]) << "bank conflicts";
  }
}

// --- barriers

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

// A program that never waits would have the replay keep all of its copies.
TEST(AsyncCopy, MoreThanCanBeUnderWayEndsTheRun) {
  constexpr int kCopies = 17'000;
  KernelProgram program = Straight(kCopies);
  for (int i = 0; i < kCopies; ++i) MakeCopy(*program.mutable_instruction(i));
  RunOptions options = Slow();
  options.machine.mutable_memory()->mutable_fixed()->set_global_cycles(100'000);
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, Threads(4, kCopies)), options);
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("has to wait for what it begins"));
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

// --- transaction barriers

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
  KernelProgram program = Straight(4);
  MakeTransactionBarrier(*program.mutable_instruction(0), Async::BARRIER_INIT, 4);
  MakeCopy(*program.mutable_instruction(1));
  MakeTransactionBarrier(*program.mutable_instruction(2), Async::BARRIER_COPIES);
  program.mutable_instruction(2)->set_mnemonic("cp.async.mbarrier.arrive.noinc.shared.b64");
  MakeTransactionBarrier(*program.mutable_instruction(3), Async::BARRIER_WAIT, 1);
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.push_back(Thread({}, {kShared, kGlobal + 16 * t, kShared + 64 + 16 * t, kShared, kShared}));
  }
  EXPECT_EQ(LogOf(*MakeTrace(program, 1, threads), Slow()),
            "0:0[0 1 2 3] 1:1[0 1 2 3] 2:2[0 1 2 3] 3:3[0 1 2 3] 27:4[0 1 2 3]");
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

// Four of eight drop out in the first phase: the second is over with the other four.
TEST(TransactionBarrier, WhoDropsOutIsNotExpectedInLaterPhases) {
  KernelProgram program = Straight(5);
  MakeTransactionBarrier(*program.mutable_instruction(0), Async::BARRIER_INIT, 8);
  for (const int at : {1, 2, 3}) MakeTransactionBarrier(*program.mutable_instruction(at), Async::BARRIER_ARRIVE, 1);
  program.mutable_instruction(1)->set_mnemonic("mbarrier.arrive_drop.shared.b64");
  MakeTransactionBarrier(*program.mutable_instruction(4), Async::BARRIER_WAIT, 2);
  const std::vector<ThreadTrace> threads(4, Thread({}, std::vector<uint64_t>(5, kShared)));
  EXPECT_EQ(LogOf(*MakeTrace(program, 1, threads), RunOptions()),
            "0:0[0 1 2 3] 1:1[0 1 2 3] 2:2[0 1 2 3] 3:3[0 1 2 3] 4:4[0 1 2 3] 5:5[0 1 2 3]");
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

// --- what is refused

// Of m16n16k16, m16n8k16 is half: 32 cycles of 64 until the next product and the result.
TEST(Collectives, AProductTakesItsShareOfTheTensorUnit) {
  KernelProgram program = Straight(3);
  for (const int at : {0, 1}) MakeProduct(*program.mutable_instruction(at));
  for (int i = 0; i < 3; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  SetRegisters(program, 2, {3}, {2});
  for (const int at : {0, 1}) program.mutable_instruction(at)->mutable_matrix()->clear_a_registers();
  RunOptions options = Small();
  options.machine.mutable_core()->set_warp_size(32);
  options.machine.mutable_core()->set_simd_width(32);
  options.machine.mutable_core()->set_max_threads(256);
  Buffer(options).set_fetch_when(machine::v1::InstructionBuffer::FREE_SLOT);
  Buffer(options).set_entries(4);
  AddTiming(options, machine::v1::OperationTiming::TENSOR, 64, 64, machine::v1::OperationTiming::SFU_UNIT);
  const auto trace = MakeTrace(program, 1, std::vector<ThreadTrace>(32));
  EXPECT_EQ(Issues(RunBoth(*trace, options)), "2:0 34:1 66:2 67:3");
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
