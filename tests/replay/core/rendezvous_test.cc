// Matrix instructions of threads that a policy has parted or put together with others: cycles by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replay/machine/machine.h"
#include "tests/replay/core/engine_harness.h"
#include "tests/replay/core/ibuffer_harness.h"
#include "tests/traces/collective_programs.h"

namespace heddle::replay {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using trace::testing::MakeProduct;
using trace::testing::MakeTiles;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;
using trace::v1::KernelProgram;
using trace::v1::Matrix;

constexpr uint64_t kShared = 0x100'0000;

RunOptions Wide(RunOptions options, uint32_t warp_size = 32) {
  options.machine.mutable_core()->set_warp_size(warp_size);
  options.machine.mutable_core()->set_simd_width(warp_size);
  options.machine.mutable_core()->set_max_threads(256);
  return options;
}

// 0: branch; 1: short side; 2 to 4: long side; 5: where they meet, to be made a matrix instruction; 6: exit.
KernelProgram Parted() {
  return ProgramBuilder("parted")
      .Block("head")
      .Branch("short", "long")
      .Block("short")
      .Alu(1)
      .Jump("join")
      .Block("long")
      .Alu(3)
      .Jump("join")
      .Block("join")
      .Alu(1)
      .Exit()
      .Build();
}
constexpr Pc kJoin = 5;

// Threads of which those with an odd sum of warp and lane take the long side; the others access first.
std::vector<ThreadTrace> Checkered(uint32_t count, bool accesses = false) {
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < count; ++t) {
    threads.push_back(Thread({static_cast<uint8_t>((t / 32 + t) % 2)}));
    if (accesses) threads.back() = Thread({static_cast<uint8_t>((t / 32 + t) % 2)}, {kShared + 16 * (t % 32)});
  }
  return threads;
}

// "cycle:pc*threads" of every issue.
std::string Shapes(const Outcome& outcome) {
  std::string text;
  for (const LoggedIssue& issue : outcome.log.issues()) {
    text += (text.empty() ? "" : " ") + std::to_string(issue.cycle) + ":" + std::to_string(issue.members.front().pc) +
            "*" + std::to_string(issue.members.size());
  }
  return text;
}

// Without reconvergence the two sides come to the product as two warps, which take turns. The short side arrives in 4,
// the long one in 6; each arrival takes the port. The product issues once, in 7.
TEST(Rendezvous, SidesThatDoNotRejoinMeetForAProduct) {
  KernelProgram program = Parted();
  MakeProduct(*program.mutable_instruction(kJoin));
  RunOptions options = Wide(RunOptions());
  options.divergence = "nrec";
  const Outcome outcome = RunBoth(*MakeTrace(program, 1, Checkered(32)), options);
  EXPECT_EQ(Shapes(outcome), "0:0*32 1:2*16 2:1*16 3:3*16 5:4*16 7:5*32 8:6*16 9:6*16");
  EXPECT_EQ(outcome.launch().inserted_instructions(), 2u);
  EXPECT_EQ(outcome.launch().thread_instructions(), 16u * (4 + 6));
}

// The front end with buffers. The adds of the long side wait for one another's results: it arrives in 22, and the
// product issues in 23. A TENSOR of 64 cycles for m16n16k16 takes 32 for this one. The exits are in the buffers
// already.
TEST(Rendezvous, WithInstructionBuffers) {
  KernelProgram program = Parted();
  MakeProduct(*program.mutable_instruction(kJoin));
  RunOptions options = Wide(Small());
  options.divergence = "nrec";
  AddTiming(options, machine::v1::OperationTiming::TENSOR, 64, 64, machine::v1::OperationTiming::SFU_UNIT);
  const Outcome outcome = RunBoth(*MakeTrace(program, 1, Checkered(32)), options);
  EXPECT_EQ(Shapes(outcome), "2:0*32 6:1*16 10:2*16 14:3*16 18:4*16 23:5*32 55:6*16 56:6*16");
  EXPECT_EQ(outcome.launch().inserted_instructions(), 2u);
}

// A load of tiles takes 5 cycles: from the cycle behind its issue under the single pipeline, from its issue with
// buffers.
TEST(Rendezvous, ALoadGoesToTheMemoryOnce) {
  KernelProgram program = Parted();
  MakeTiles(*program.mutable_instruction(kJoin), Matrix::LOAD, 4);
  const auto trace = MakeTrace(program, 1, Checkered(32, /*accesses=*/true));
  RunOptions single = Wide(RunOptions());
  single.machine.mutable_memory()->mutable_fixed()->set_shared_cycles(5);
  single.divergence = "nrec";
  EXPECT_EQ(Shapes(RunBoth(*trace, single)), "0:0*32 1:2*16 2:1*16 3:3*16 5:4*16 7:5*32 13:6*16 14:6*16");
  RunOptions buffers = Wide(Small());
  buffers.divergence = "nrec";
  EXPECT_EQ(Shapes(RunBoth(*trace, buffers)), "2:0*32 6:1*16 10:2*16 14:3*16 18:4*16 23:5*32 28:6*16 29:6*16");
}

// dwf, tbc and others fill the sides up with threads of both warps: two slots, each with half of either warp. Whatever
// a policy does, a product is of the 32 threads of one warp.
TEST(Rendezvous, ThreadsOfSeveralWarpsAreSortedOutForTheProduct) {
  KernelProgram program = Parted();
  MakeProduct(*program.mutable_instruction(kJoin));
  const auto trace = MakeTrace(program, 2, Checkered(128));
  for (const bool buffers : {false, true}) {
    for (const char* policy : {"nrec", "pdom", "its", "dws", "dwf", "dwf:lane_aware=false", "dwf:scope=core", "tbc",
                               "tbc_plus", "capri", "lwm", "harp", "mimd", "thread_frontiers", "sbi_swi", "dpe"}) {
      if (buffers && (std::string(policy) == "mimd" || std::string(policy) == "sbi_swi")) continue;
      SCOPED_TRACE(policy);
      RunOptions options = Wide(buffers ? Small() : RunOptions());
      options.divergence = policy;
      const Outcome outcome = RunBoth(*trace, options);
      ASSERT_TRUE(outcome.status.ok());
      EXPECT_EQ(outcome.launch().thread_instructions(), 64u * (4 + 6));
      std::map<std::pair<uint64_t, uint32_t>, int> products;  // by block and warp
      for (const LoggedIssue& issue : outcome.log.issues()) {
        if (issue.members.front().pc != kJoin) continue;
        std::set<std::pair<uint64_t, uint32_t>> warps;
        for (const LoggedIssue::Member& member : issue.members) warps.insert({member.block, member.thread / 32});
        EXPECT_EQ(issue.members.size(), 32u);
        ASSERT_EQ(warps.size(), 1u);
        ++products[*warps.begin()];
      }
      EXPECT_EQ(products.size(), 4u);
      for (const auto& [warp, count] : products) EXPECT_EQ(count, 1);
    }
  }
}

// Warps of 64 threads make two products.
TEST(Rendezvous, WiderWarpsMakeAProductFor32ThreadsEach) {
  KernelProgram program = Parted();
  MakeProduct(*program.mutable_instruction(kJoin));
  RunOptions options = Wide(RunOptions(), 64);
  const Outcome outcome = RunBoth(*MakeTrace(program, 1, Checkered(64)), options);
  EXPECT_THAT(Shapes(outcome), HasSubstr("5*32"));
  EXPECT_THAT(Shapes(outcome), testing::Not(HasSubstr("5*64")));
}

// The others branch away, and exit: then the product is of those who are left.
TEST(Rendezvous, ThreadsThatHaveExitedAreNotWaitedFor) {
  KernelProgram program = ProgramBuilder("half")
                              .Block("head")
                              .Branch("product", "leave")
                              .Block("product")
                              .Alu(1)
                              .Exit()
                              .Block("leave")
                              .Alu(4)
                              .Exit()
                              .Build();
  MakeProduct(*program.mutable_instruction(1));
  const auto trace = MakeTrace(program, 1, Checkered(32));
  for (const char* policy : {"nrec", "dwf", "mimd", "pdom", "its"}) {
    SCOPED_TRACE(policy);
    RunOptions options = Wide(RunOptions());
    options.divergence = policy;
    const Outcome outcome = RunBoth(*trace, options);
    Cycle product = 0, leave = 0;
    for (const LoggedIssue& issue : outcome.log.issues()) {
      if (issue.members.front().pc == 1) {
        EXPECT_EQ(issue.members.size(), 16u);
        product = issue.cycle;
      }
      if (issue.members.front().pc == 7) leave = issue.cycle;
    }
    EXPECT_GT(product, leave);
  }
}

// Half of a warp goes around the product to where the reconvergence stack waits for the other half.
TEST(Rendezvous, APolicyThatHoldsTheOthersIsNamed) {
  KernelProgram program = ProgramBuilder("half")
                              .Block("head")
                              .Branch("product", "join")
                              .Block("product")
                              .Alu()
                              .Jump("join")
                              .Block("join")
                              .Exit()
                              .Build();
  MakeProduct(*program.mutable_instruction(1));
  const auto trace = MakeTrace(program, 1, Checkered(32));
  for (RunOptions options : {Wide(RunOptions()), Wide(Small())}) {
    EXPECT_THAT(std::string(RunTrace(*trace, options).status.message()),
                AllOf(HasSubstr("matrix instruction deadlock under divergence policy 'pdom'"),
                      HasSubstr("at pc 8 wait for the other threads of their warp at a matrix instruction")));
    options.force_regrouping = true;
    const Outcome outcome = RunTrace(*trace, options);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_THAT(Shapes(outcome), HasSubstr("1*16"));
  }
}

// Nobody can wait for one another at two places.
TEST(Rendezvous, TwoPlacesForOneWarpEndTheRun) {
  KernelProgram program = Parted();
  MakeProduct(*program.mutable_instruction(1));
  MakeProduct(*program.mutable_instruction(2));
  RunOptions options = Wide(RunOptions());
  options.divergence = "nrec";
  EXPECT_THAT(std::string(RunTrace(*MakeTrace(program, 1, Checkered(32)), options).status.message()),
              HasSubstr("wait for one another at the matrix instructions at PC 16 and at PC 8"));
}

TEST(Rendezvous, NarrowerWarpsAreRefused) {
  KernelProgram program = Parted();
  MakeProduct(*program.mutable_instruction(kJoin));
  const std::string message(RunTrace(*MakeTrace(program, 1, Checkered(32))).status.message());
  EXPECT_THAT(message, HasSubstr("the machine's warps have 4"));
}

TEST(Rendezvous, InstructionsOfSomeLanesAreRefused) {
  KernelProgram program = Parted();
  MakeProduct(*program.mutable_instruction(kJoin));
  program.mutable_instruction(kJoin)->set_members(0xffff);
  const std::string message(RunTrace(*MakeTrace(program, 1, Checkered(32)), Wide(RunOptions())).status.message());
  EXPECT_THAT(message, HasSubstr("matrix instructions of some threads of a warp cannot be replayed yet"));
}

// A tile is 8 rows, whose addresses the first 8 threads hand in: 8 lanes of 16 bytes are a part of shared memory's
// work. Those of the other threads do not count, whether the threads are together or have to meet.
TEST(Tiles, OnlyAddressesOfRowsAreAccessed) {
  for (const Matrix::Role role : {Matrix::LOAD, Matrix::STORE}) {
    for (const uint32_t tiles : {1u, 2u, 4u}) {
      KernelProgram program = Parted();
      MakeTiles(*program.mutable_instruction(kJoin), role, tiles);
      const auto trace = MakeTrace(program, 1, Checkered(64, /*accesses=*/true));
      for (const bool pipelined : {true, false}) {
        for (const char* policy : {"pdom", "nrec", "dwf", "dwf:lane_aware=false", "tbc", "mimd"}) {
          if (!pipelined && std::string(policy) == "mimd") continue;
          SCOPED_TRACE(std::string(policy) + ", tiles " + std::to_string(tiles));
          RunOptions options;
          options.machine = LoadMachine(pipelined ? "fermi_fixed" : "baws_gtx480").value();
          *options.machine.mutable_memory() = LoadMachine("baws_gtx480").value().memory();
          *options.machine.mutable_clocks() = LoadMachine("baws_gtx480").value().clocks();
          options.divergence = policy;
          const Outcome outcome = RunBoth(*trace, options);
          ASSERT_TRUE(outcome.status.ok());
          EXPECT_EQ(outcome.launch().memory_instructions().shared_accesses(), 2u);
          EXPECT_EQ(outcome.launch().memory_instructions().shared_parts(), 2u * tiles);
          EXPECT_EQ(outcome.launch().thread_instructions(), 32u * (4 + 6));
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle::replay
