// Steps: what blocks they merge, for which programs there are none, and that they cannot become many times as long as
// the program.
#include "traces/format/path_steps.h"

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

}  // namespace
}  // namespace heddle::trace
