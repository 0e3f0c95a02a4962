// The worked example of docs/policies/subwarp_interleaving.md, and the rules around it, with instruction buffers.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/replay/core/ibuffer_harness.h"

namespace heddle::replay {
namespace {

using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

// 0 the branch; taken: 1 a load, 2 its use; else: 3 a load, 4 its use; 5 the exit, where they meet.
trace::v1::KernelProgram TwoSides(trace::v1::MemorySpace space = trace::v1::SPACE_GLOBAL) {
  trace::v1::KernelProgram program = ProgramBuilder("two_sides")
                                         .Block("start")
                                         .Branch("right", "left")
                                         .Block("left")
                                         .Load(space)
                                         .Alu()
                                         .Jump("end")
                                         .Block("right")
                                         .Load(space)
                                         .Alu()
                                         .Block("end")
                                         .Exit()
                                         .Build();
  SetRegisters(program, 0, {}, {9});
  for (const int load : {1, 3}) {
    SetRegisters(program, load, {1}, {8});
    SetRegisters(program, load + 1, {2}, {1});
  }
  return program;
}

Outcome RunSides(const std::string& divergence, uint32_t warps = 1,
                 trace::v1::MemorySpace space = trace::v1::SPACE_GLOBAL) {
  RunOptions options = Small();
  options.divergence = divergence;
  options.scheduler = "oldest";
  std::vector<ThreadTrace> threads;
  for (uint32_t warp = 0; warp < warps; ++warp) {
    for (const uint8_t taken : {1, 0, 1, 0}) threads.push_back(Thread({taken}, {0x1000}));
  }
  return RunBoth(*MakeTrace(TwoSides(space), 1, threads), options);
}

uint64_t Counter(const Outcome& outcome, const std::string& name) {
  return outcome.launch().divergence_counter().at(name);
}

TEST(SubwarpInterleaving, TheWorkedExample) {
  EXPECT_EQ(Issues(RunSides("pdom"), /*threads=*/true), "2:0@0 6:1@0 26:2@0 27:3@1 47:4@1 48:5@0");
  const Outcome interleaved = RunSides("subwarp_interleaving:select=any,yield=false");
  EXPECT_EQ(Issues(interleaved, /*threads=*/true), "2:0@0 6:1@0 14:3@1 32:2@0 40:4@1 42:5@0");
  EXPECT_EQ(Counter(interleaved, "subwarp_stalls"), 2);
  EXPECT_EQ(Counter(interleaved, "subwarp_wakeups"), 2);
}

// Register 1 of the warp is pending for both sides: the other side's load waits for it, and nothing is gained.
TEST(SubwarpInterleaving, NeedsAScoreboardPerSubwarp) {
  const auto end = [](const Outcome& outcome) { return outcome.launch().cycles(); };
  const auto pdom = end(RunSides("pdom"));
  EXPECT_LT(end(RunSides("subwarp_interleaving:select=any,yield=false")) + 5, pdom);
  EXPECT_LT(end(RunSides("subwarp_interleaving:select=any,yield=false,scoreboard=thread")) + 5, pdom);
  EXPECT_GE(end(RunSides("subwarp_interleaving:select=any,yield=false,scoreboard=warp")), pdom);
}

TEST(SubwarpInterleaving, OneSubwarpIsPdom) {
  EXPECT_EQ(Issues(RunSides("subwarp_interleaving:subwarps=1,yield=false", 2), true),
            Issues(RunSides("pdom", 2), true));
}

// Behind its load the first side gives way at once, so that the second one's is under way earlier; and back again.
TEST(SubwarpInterleaving, AYieldDoesNotWaitForTheStall) {
  const auto second_load = [](const Outcome& outcome) {
    for (const LoggedIssue& issue : outcome.log.issues()) {
      if (issue.members[0].pc == 3) return issue.cycle;
    }
    return uint64_t{0};
  };
  const Outcome yields = RunSides("subwarp_interleaving:select=any,yield=true");
  EXPECT_EQ(Counter(yields, "subwarp_yields"), 2);
  EXPECT_LE(second_load(yields), second_load(RunSides("subwarp_interleaving:select=any,yield=false")));
}

// Where a generic address lies is known only when it has been computed, so that such a load may come from afar. Shared
// memory, constants and parameters are in the core.
TEST(SubwarpInterleaving, YieldsBehindLoadsThatMayComeFromBeyondTheCore) {
  for (const auto space :
       {trace::v1::SPACE_GLOBAL, trace::v1::SPACE_LOCAL, trace::v1::SPACE_TEXTURE, trace::v1::SPACE_GENERIC}) {
    const Outcome outcome = RunSides("subwarp_interleaving:select=any,yield=true", 1, space);
    EXPECT_EQ(Counter(outcome, "subwarp_yields"), 2) << trace::v1::MemorySpace_Name(space);
  }
  for (const auto space : {trace::v1::SPACE_SHARED, trace::v1::SPACE_CONSTANT, trace::v1::SPACE_PARAM}) {
    const Outcome outcome = RunSides("subwarp_interleaving:select=any,yield=true", 1, space);
    EXPECT_EQ(Counter(outcome, "subwarp_yields"), 0) << trace::v1::MemorySpace_Name(space);
  }
}

// Two warps on one port. While one of them could still issue nobody gives way under `all`.
TEST(SubwarpInterleaving, TheTriggerCountsWarpsThatStandStill) {
  const auto stalls = [](const std::string& select) {
    return Counter(RunSides("subwarp_interleaving:yield=false,select=" + select, 2), "subwarp_stalls");
  };
  EXPECT_GE(stalls("any"), stalls("half"));
  EXPECT_GE(stalls("half"), stalls("all"));
  EXPECT_GT(stalls("all"), 0);
  EXPECT_EQ(stalls("any"), 4);
}

// Warp 0 waits for the load of its first side. Warp 1 computes, then ends or comes to a barrier: from then on nobody of
// the port can issue, and warp 0's other side goes on.
TEST(SubwarpInterleaving, WhoEndsOrComesToABarrierNoLongerHoldsTheOthersBack) {
  for (const bool barrier : {false, true}) {
    ProgramBuilder builder("busy");
    builder.Block("start").Branch("sides", "busy");
    builder.Block("sides").Branch("right", "left");
    builder.Block("left").Load().Alu().Jump("end");
    builder.Block("right").Load().Alu().Jump("end");
    builder.Block("busy").Alu(4);
    builder.Block("end");
    if (barrier) builder.Barrier();
    trace::v1::KernelProgram program = builder.Exit().Build();
    std::vector<Pc> loads;
    for (int pc = 0; pc < program.instruction_size(); ++pc) {
      if (program.instruction(pc).op() != trace::v1::OP_LOAD) continue;
      loads.push_back(static_cast<Pc>(pc));
      SetRegisters(program, pc, {1}, {8});
      SetRegisters(program, pc + 1, {2}, {1});
    }
    ASSERT_EQ(loads.size(), 2u);
    RunOptions options = Small();
    options.divergence = "subwarp_interleaving:select=all,yield=false";
    options.scheduler = "oldest";
    std::vector<ThreadTrace> threads;
    for (const uint8_t taken : {1, 0, 1, 0}) threads.push_back(Thread({0, taken}, {0x1000}));
    for (int lane = 0; lane < 4; ++lane) threads.push_back(Thread({1}, {}));
    const Outcome outcome = RunBoth(*MakeTrace(program, 1, threads), options);
    const auto first = [&outcome](Pc pc) {
      for (const LoggedIssue& issue : outcome.log.issues()) {
        if (issue.members[0].pc == pc) return issue.cycle;
      }
      return kNever;
    };
    EXPECT_LT(first(loads[1]), first(loads[0] + 1)) << "the other side does not wait for the data of the first";
    EXPECT_EQ(Counter(outcome, "subwarp_stalls"), 2) << barrier;
  }
}

// Many warps begin to wait in one cycle. Whoever is not told of its wait yet must not give way: nobody would wake it
// up.
TEST(SubwarpInterleaving, WarpsThatBeginToWaitTogetherAllGoOn) {
  for (const std::string select : {"any", "half", "all"}) {
    for (const std::string yield : {"true", "false"}) {
      const Outcome outcome = RunSides(absl::StrCat("subwarp_interleaving:select=", select, ",yield=", yield), 16);
      EXPECT_EQ(outcome.launch().thread_instructions(), 16 * 4 * 4) << select;
      EXPECT_EQ(Counter(outcome, "subwarp_stalls"), Counter(outcome, "subwarp_wakeups")) << select;
    }
  }
}

}  // namespace
}  // namespace heddle::replay
