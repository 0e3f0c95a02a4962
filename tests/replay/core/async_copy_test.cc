// Asynchronous copies: what waits for them, and for how long. Cycles by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "replay/machine/machine.h"
#include "tests/replay/core/async_harness.h"
#include "tests/replay/core/ibuffer_harness.h"
#include "tests/traces/collective_programs.h"

namespace heddle::replay {
namespace {

using testing::HasSubstr;
using trace::testing::MakeCopy;
using trace::testing::MakeGroup;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;
using trace::v1::Async;
using trace::v1::Instruction;
using trace::v1::KernelProgram;

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
  for (const RunOptions& options : {Slow(), Small()}) {
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

}  // namespace
}  // namespace heddle::replay
