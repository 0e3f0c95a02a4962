// Steps: what blocks they merge, for which programs there are none, and that they cannot become many times as long as
// the program.
#include "traces/format/chunk/path_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/traces/program_builder.h"

namespace heddle::trace {
namespace {

using ::testing::ElementsAre;
using testing::ProgramBuilder;

std::vector<uint16_t> ColumnsOf(PathSteps& steps, uint32_t step) {
  const uint16_t* first = steps.sequence() + steps.step(step).first_access;
  return {first, first + steps.step(step).access_count};
}

// The blocks "then" and "join" are one step, "join" alone is another, and both end with the loop's branch.
TEST(Steps, GoFromOneDecisionToTheNext) {
  const Program program = ProgramBuilder("steps")
                              .Block("head")
                              .Load()  // column 0
                              .Branch("then", "join")
                              .Block("then")
                              .Alu()
                              .Load()   // column 1
                              .Store()  // column 2
                              .Block("join")
                              .Store()  // column 3
                              .Branch("out", "head")
                              .Block("out")
                              .Exit()
                              .Create();
  PathSteps steps;
  steps.Reset(program);
  const uint32_t head = steps.At(0);
  ASSERT_NE(head, PathSteps::kNone);
  EXPECT_TRUE(steps.step(head).decides);
  EXPECT_EQ(steps.step(head).instructions, 2);
  EXPECT_THAT(ColumnsOf(steps, head), ElementsAre(0));

  const uint32_t through = steps.Behind(head, false);
  EXPECT_TRUE(steps.step(through).decides);
  EXPECT_EQ(steps.step(through).instructions, 3 + 2);
  EXPECT_THAT(ColumnsOf(steps, through), ElementsAre(1, 2, 3));

  const uint32_t join = steps.Behind(head, true);
  EXPECT_EQ(steps.step(join).instructions, 2);
  EXPECT_THAT(ColumnsOf(steps, join), ElementsAre(3));

  EXPECT_EQ(steps.Behind(through, true), head);
  EXPECT_EQ(steps.Behind(join, true), head);
  const uint32_t out = steps.Behind(join, false);
  EXPECT_FALSE(steps.step(out).decides);
  EXPECT_EQ(steps.Behind(through, false), out) << "made once";
  EXPECT_TRUE(steps.usable());
}

TEST(Steps, AreNotMadeForCallsAndWideBranches) {
  const Program wide = ProgramBuilder("wide").Block("a").Wide({"b", "c"}).Block("b").Exit().Block("c").Exit().Create();
  PathSteps steps;
  steps.Reset(wide);
  EXPECT_EQ(steps.At(0), PathSteps::kNone);
  EXPECT_FALSE(steps.usable());

  const Program call =
      ProgramBuilder("call").Block("a").Call("f", "b").Block("b").Exit().Function("f").Block("f").Return().Create();
  steps.Reset(call);
  EXPECT_TRUE(steps.usable());
  EXPECT_EQ(steps.At(0), PathSteps::kNone);
}

// A long tail at which many branches meet would be part of as many steps.
TEST(Steps, EndWhereTheyWouldOutgrowTheProgram) {
  constexpr int kBranches = 200;
  constexpr int kTail = 2000;
  ProgramBuilder builder("tails");
  for (int i = 0; i < kBranches; ++i) {
    const std::string n = std::to_string(i);
    builder.Block("branch" + n).Branch("next" + n, "side" + n);
    builder.Block("side" + n).Jump("tail");
    builder.Block("next" + n).Alu();
  }
  builder.Block("tail");
  for (int i = 0; i < kTail; ++i) builder.Load();
  const Program program = builder.Exit().Create();
  PathSteps steps;
  steps.Reset(program);
  uint32_t current = steps.At(0);
  uint64_t merged = 0;
  int sides = 0;
  while (current != PathSteps::kNone && steps.step(current).decides) {
    const uint32_t side = steps.Behind(current, true);
    if (side == PathSteps::kNone) break;
    merged += steps.step(side).instructions;
    ++sides;
    current = steps.Behind(current, false);
  }
  EXPECT_GT(sides, 5) << "some are fine";
  EXPECT_LT(sides, kBranches);
  EXPECT_LE(merged, 16u * program.instruction_count());
  EXPECT_FALSE(steps.usable());
}

// A stride is four steps; its accesses and instructions are theirs.
TEST(Strides, GoOverFourDecisions) {
  const Program program = ProgramBuilder("strides")
                              .Block("head")
                              .Load()  // column 0
                              .Branch("then", "join")
                              .Block("then")
                              .Store()  // column 1
                              .Block("join")
                              .Alu()
                              .Branch("out", "head")
                              .Block("out")
                              .Exit()
                              .Create();
  PathSteps steps;
  steps.Reset(program);
  const uint32_t head = steps.At(0);
  // then (0), head (1), join (1), head (1); the least significant decision is the first.
  const uint32_t made = steps.StrideFrom(head, 0b1110);
  ASSERT_NE(made, PathSteps::kNone);
  const PathSteps::Stride stride = steps.stride(made);
  EXPECT_EQ(stride.next, head);
  EXPECT_EQ(stride.instructions, (2 + 3) + (2 + 2));
  const uint16_t* first = steps.sequence() + stride.first_access;
  EXPECT_THAT(std::vector<uint16_t>(first, first + stride.access_count), ElementsAre(0, 1, 0));
  EXPECT_EQ(steps.StrideFrom(head, 0b1110), made) << "made once";

  EXPECT_EQ(steps.StrideFrom(head, 0b0000), PathSteps::kNone) << "the thread exits behind the second decision";
  EXPECT_NE(steps.StrideFrom(head, 0b0110), PathSteps::kNone) << "it exits behind the fourth: the next step does";
  EXPECT_FALSE(steps.step(steps.stride(steps.StrideFrom(head, 0b0110)).next).decides);
  EXPECT_TRUE(steps.usable());
}

// Long blocks between many decisions would make strides that take 64 times the memory of the steps.
TEST(Strides, EndWhereTheyWouldTakeTooMuchMemory) {
  constexpr int kLoads = 3000;
  ProgramBuilder builder("long");
  builder.Block("head");
  for (int i = 0; i < kLoads; ++i) builder.Load();
  builder.Branch("left", "right").Block("left");
  for (int i = 0; i < kLoads; ++i) builder.Load();
  builder.Branch("out", "head").Block("right");
  for (int i = 0; i < kLoads; ++i) builder.Load();
  const Program program = builder.Branch("out", "head").Block("out").Exit().Create();
  PathSteps steps;
  steps.Reset(program);
  uint64_t accesses = 0;
  int made = 0;
  const uint32_t head = steps.At(0);
  for (const uint32_t step : {head, steps.Behind(head, false), steps.Behind(head, true)}) {
    for (uint32_t decisions = 0; decisions < 16; ++decisions) {
      const uint32_t index = steps.StrideFrom(step, decisions);
      if (index == PathSteps::kNone) continue;
      ++made;
      accesses += steps.stride(index).access_count;
    }
  }
  EXPECT_GT(made, 5);
  EXPECT_LE(accesses, 1u << 17);
  EXPECT_TRUE(steps.usable()) << "steps go on";
}

}  // namespace
}  // namespace heddle::trace
