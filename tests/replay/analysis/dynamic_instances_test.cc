// Cycles, and which executions of an instruction are one dynamic instance.
#include "replay/analysis/dynamic_instances.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/analysis/cycle_nest.h"
#include "tests/replay/scenario.h"

namespace heddle::replay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CycleNest NestOf(const Scenario& scenario, ConvergenceRule rule) {
  absl::StatusOr<CycleNest> nest = CycleNest::Create(scenario.program(), rule);
  EXPECT_TRUE(nest.ok()) << nest.status();
  return *std::move(nest);
}

std::vector<uint32_t> CyclesOf(const Scenario& scenario, const CycleNest& nest, char block) {
  const auto cycles = nest.CyclesOf(scenario.program().block_of(scenario.PcOf(block)));
  return {cycles.begin(), cycles.end()};
}

// What every thread of the first thread block executes, as letters that tell dynamic instances apart: "A0 B1 B2" are
// instances 0, 1 and 2 in the order in which the first thread, then the second and so on, come to them.
std::vector<std::string> Instances(const Scenario& scenario, ConvergenceRule rule) {
  const CycleNest nest = NestOf(scenario, rule);
  std::map<uint64_t, size_t> numbers;
  std::vector<std::string> texts;
  for (uint32_t thread = 0; thread < scenario.threads_per_block(); ++thread) {
    ThreadInstances instances;
    std::string& text = texts.emplace_back();
    for (const Scenario::Step& step : scenario.Steps(0, thread)) {
      const uint64_t instance = instances.Execute(scenario.program(), nest, step.at.pc());
      const size_t number = numbers.emplace(instance, numbers.size()).first->second;
      text += (text.empty() ? "" : " ") + scenario.Name(step.at.pc()) + std::to_string(number);
    }
  }
  return texts;
}

// A, then a loop of B and C that is left from B to D, or from C to E and on to D.
Scenario LoopWithTwoExits() {
  Scenario scenario;
  scenario.Block('A', 1, "B").Block('B', 1, "CD", 'D').Block('C', 1, "BE", 'D').Block('E', 1, "D").Block('D', 1, "");
  return scenario;
}

TEST(CycleNest, WaysOutOfACycleBelongToItsConstructUpToWhereTheyMeet) {
  const Scenario scenario = LoopWithTwoExits();
  const CycleNest cycles = NestOf(scenario, ConvergenceRule::kCycle);
  EXPECT_EQ(cycles.size(), 1u);
  EXPECT_EQ(cycles.header(0), scenario.program().block_of(scenario.PcOf('B')));
  EXPECT_THAT(CyclesOf(scenario, cycles, 'A'), IsEmpty());
  EXPECT_THAT(CyclesOf(scenario, cycles, 'B'), ElementsAre(0));
  EXPECT_THAT(CyclesOf(scenario, cycles, 'C'), ElementsAre(0));
  EXPECT_THAT(CyclesOf(scenario, cycles, 'E'), IsEmpty());
  const CycleNest constructs = NestOf(scenario, ConvergenceRule::kConstruct);
  EXPECT_THAT(CyclesOf(scenario, constructs, 'A'), IsEmpty());
  EXPECT_THAT(CyclesOf(scenario, constructs, 'E'), ElementsAre(0));
  EXPECT_THAT(CyclesOf(scenario, constructs, 'D'), IsEmpty());
}

// B to D, and C in it.
Scenario LoopInALoop() {
  Scenario scenario;
  scenario.Block('A', 1, "B").Block('B', 1, "C").Block('C', 1, "CD", 'D').Block('D', 1, "BE", 'E').Block('E', 1, "");
  return scenario;
}

TEST(CycleNest, CyclesInsideCyclesComeBehindThem) {
  Scenario scenario = LoopInALoop();
  scenario.ThreadBlock({"ABCDE"});
  const CycleNest nest = NestOf(scenario, ConvergenceRule::kCycle);
  EXPECT_EQ(nest.size(), 2u);
  EXPECT_THAT(CyclesOf(scenario, nest, 'B'), ElementsAre(0));
  EXPECT_THAT(CyclesOf(scenario, nest, 'C'), ElementsAre(0, 1));
  EXPECT_THAT(CyclesOf(scenario, nest, 'D'), ElementsAre(0));
}

TEST(DynamicInstances, ThreadsShareWhatBothSidesOfABranchLeadTo) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', 1, "").ThreadBlock({"ABD", "ACD"});
  EXPECT_THAT(Instances(scenario, ConvergenceRule::kCycle), ElementsAre("A0 B1 D2", "A0 C3 D2"));
}

TEST(DynamicInstances, IterationsTellThreadsApartInsideALoopOnly) {
  Scenario scenario = LoopWithTwoExits();
  scenario.ThreadBlock({"ABCBD", "ABCBCED", "ABCED"});
  EXPECT_THAT(Instances(scenario, ConvergenceRule::kCycle),
              ElementsAre("A0 B1 C2 B3 D4", "A0 B1 C2 B3 C5 E6 D4", "A0 B1 C2 E6 D4"));
  // The threads leave by E in different iterations.
  EXPECT_THAT(Instances(scenario, ConvergenceRule::kConstruct),
              ElementsAre("A0 B1 C2 B3 D4", "A0 B1 C2 B3 C5 E6 D4", "A0 B1 C2 E7 D4"));
}

TEST(DynamicInstances, AnInnerLoopIsCountedAnewInEachIterationOfTheOuterOne) {
  Scenario scenario = LoopInALoop();
  scenario.ThreadBlock({"ABCCDBCDE", "ABCDBCCDE"});
  EXPECT_THAT(Instances(scenario, ConvergenceRule::kCycle),
              ElementsAre("A0 B1 C2 C3 D4 B5 C6 D7 E8", "A0 B1 C2 D4 B5 C6 C9 D7 E8"));
}

TEST(DynamicInstances, CallsFromTwoPlacesAreNotOne) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D')
      .Call('B', 1, 'F', 'D')
      .Call('C', 1, 'F', 'D')
      .Block('D', 1, "")
      .Function()
      .Return('F', 1)
      .ThreadBlock({"ABFD", "ACFD", "ABFD"});
  EXPECT_THAT(Instances(scenario, ConvergenceRule::kCycle), ElementsAre("A0 B1 F2 D3", "A0 C4 F5 D3", "A0 B1 F2 D3"));
}

}  // namespace
}  // namespace heddle::replay
