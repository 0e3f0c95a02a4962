// The ladder, both sides of a comparison, and intervals, with numbers that are made up for each test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/hardware.pb.h"
#include "proto/result.pb.h"
#include "tools/inputs/hardware_files.h"
#include "tools/study/correlate/card.h"
#include "tools/study/correlate/correlation.h"
#include "tools/study/correlate/hardware_interval.h"
#include "tools/study/correlate/ladder.h"
#include "tools/study/correlate/ours.h"
#include "tools/study/statistics/intervals.h"

namespace heddle::tools::correlate {
namespace {

using ::testing::HasSubstr;

// A ladder of two rungs with one comparison each.
constexpr char kSmall[] = R"({
  "least_microseconds": 20, "divergence_policy": "pdom",
  "rungs": [{"name": "low", "title": "Low"}, {"name": "time", "title": "Time", "only_long": true}],
  "metrics": [{"name": "a.sum"}, {"name": "b.sum"}],
  "comparisons": [
    {"name": "x", "rung": "low", "unit": "u", "ours": "cycles", "error": "relative", "headline": true, "bar": 2,
     "card": {"sum": ["a.sum"], "over": ["b.sum"]}},
    {"name": "cycles", "rung": "time", "unit": "cycles", "ours": "cycles", "error": "relative", "headline": true,
     "bar": 20, "card": {"sum": ["a.sum"]}}]})";

TEST(Ladder, ThatIsBuiltInIsWhole) {
  const absl::StatusOr<Ladder>& ladder = BuiltInLadder();
  ASSERT_TRUE(ladder.ok()) << ladder.status();
  EXPECT_EQ(ladder->DivergenceFor(/*machine_code=*/false).name, "pdom");
  EXPECT_EQ(ladder->DivergenceFor(/*machine_code=*/true).name, "its:reconvergence=compiler");
  EXPECT_EQ(ladder->least_microseconds, 20);
  std::set<std::string> used;
  for (const Comparison& comparison : ladder->comparisons) used.insert(comparison.ours);
  for (const std::string& name : OurNames()) EXPECT_TRUE(used.contains(name)) << name << " is formed for nothing";
  for (size_t rung = 0; rung < ladder->rungs.size(); ++rung) EXPECT_TRUE(ladder->Headline(rung).has_value());
  // Every name has something that forms it.
  const result::v1::LaunchResult launch;
  trace::v1::KernelProgram program;
  program.add_instruction()->set_op(trace::v1::OP_EXIT);
  program.mutable_instruction(0)->set_mnemonic("exit");
  program.add_block()->set_instruction_count(1);
  program.mutable_block(0)->set_terminator(trace::v1::EXIT);
  program.add_function()->set_block_count(1);
  const absl::StatusOr<trace::Program> checked = trace::Program::Create(program);
  ASSERT_TRUE(checked.ok()) << checked.status();
  const machine::v1::Machine machine;
  for (const std::string& name : used) {
    EXPECT_FALSE(absl::IsInvalidArgument(OurTerm(name, {launch, *checked, machine}).status())) << name;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(OurTerm("nothing", {launch, *checked, machine}).status()));
}

TEST(Ladder, SaysWhatIsWrongWithAList) {
  ASSERT_TRUE(ParseLadder(kSmall).ok());
  const auto refused = [](const char* from, const char* to) {
    const absl::StatusOr<Ladder> ladder = ParseLadder(absl::StrReplaceAll(kSmall, {{from, to}}));
    return ladder.ok() ? "accepted" : std::string(ladder.status().message());
  };
  EXPECT_THAT(refused("\"rung\": \"low\"", "\"rung\": \"lower\""), HasSubstr("there is no rung \"lower\""));
  EXPECT_THAT(refused("[\"a.sum\"]", "[\"c.sum\"]"), HasSubstr("c.sum is not in the list of metrics"));
  EXPECT_THAT(refused("\"name\": \"x\"", "\"name\": \"cycles\""), HasSubstr("two comparisons cycles"));
  EXPECT_THAT(refused("\"rung\": \"time\"", "\"rung\": \"low\""), HasSubstr("two headlines of rung low"));
  EXPECT_THAT(refused("relative", "absolute"), HasSubstr("what error?"));
  EXPECT_THAT(refused("{\"sum\": [\"a.sum\"]}", "{\"product\": 1}"), HasSubstr("needs sum, smallest or largest"));
  EXPECT_THAT(refused("{\"sum\": [\"a.sum\"]}", "\"moon\""), HasSubstr("no formula"));
  EXPECT_THAT(refused("\"metrics\"", "\"metric\""), HasSubstr("there are no metrics"));
  EXPECT_FALSE(ParseLadder("").ok());
  EXPECT_FALSE(ParseLadder("[]").ok());
}

hardware::v1::Launch LaunchWith(const std::vector<std::pair<std::string, std::vector<double>>>& counters) {
  hardware::v1::Launch launch;
  for (const auto& [name, values] : counters) {
    hardware::v1::Counter& counter = *launch.add_counter();
    counter.set_name(name);
    counter.mutable_value()->Assign(values.begin(), values.end());
  }
  return launch;
}

TEST(CardTerm, IsFormedOfMedians) {
  const CardCounters counters = CountersOf(LaunchWith({{"a", {1, 100, 3}}, {"b", {4}}, {"none", {}}}));
  EXPECT_EQ(counters.size(), 2) << "a counter without a value was not measured";
  CardFormula formula;
  formula.metrics = {"a", "b"};
  EXPECT_DOUBLE_EQ(CardTerm(formula, counters)->over, 7);
  EXPECT_EQ(CardTerm(formula, counters)->by, std::nullopt);
  formula.over = {"b"};
  formula.scale = 10;
  EXPECT_DOUBLE_EQ(CardTerm(formula, counters)->over, 70);
  EXPECT_DOUBLE_EQ(CardTerm(formula, counters)->by.value(), 4);
  // A ratio of the tool, weighted by what it is a ratio to.
  formula = {};
  formula.metrics = {"a"};
  formula.weight = "b";
  EXPECT_DOUBLE_EQ(CardTerm(formula, counters)->over, 12);
  EXPECT_DOUBLE_EQ(CardTerm(formula, counters)->by.value(), 4);
  formula = {};
  formula.kind = CardFormula::Kind::kSmallest;
  formula.metrics = {"b", "a"};
  EXPECT_DOUBLE_EQ(CardTerm(formula, counters)->over, 3);
  formula.metrics = {"b", "none"};
  EXPECT_THAT(std::string(CardTerm(formula, counters).status().message()), HasSubstr("none was not measured"));
}

TEST(Microseconds, AreTimedWithoutTheProfilerIfTheyWere) {
  hardware::v1::Launch launch = LaunchWith({{"gpu__time_duration.sum", {25'000}}});
  EXPECT_DOUBLE_EQ(Microseconds(launch).value(), 25) << "the profiler's are nanoseconds";
  launch.add_microseconds(30);
  EXPECT_DOUBLE_EQ(Microseconds(launch).value(), 30);
  EXPECT_EQ(Microseconds({}), std::nullopt);
}

KernelCorrelation KernelWith(const std::string& name, double low, double time, bool is_short = false) {
  KernelCorrelation kernel;
  kernel.workload = name;
  kernel.is_short = is_short;
  for (const double error : {low, time}) {
    Compared compared;
    compared.card = 100;
    compared.ours = 100 + error;
    compared.error = error;
    kernel.compared.push_back(compared);
  }
  return kernel;
}

TEST(Summarise, LeavesShortKernelsOutOfTheRungThatNeedsLongOnes) {
  const absl::StatusOr<Ladder> ladder = ParseLadder(kSmall);
  ASSERT_TRUE(ladder.ok());
  Correlation correlation;
  correlation.kernels = {KernelWith("b", 4, -10), KernelWith("a", -2, 30), KernelWith("c", 1, 500, true)};
  Summarise(*ladder, correlation);
  EXPECT_EQ(correlation.kernels[0].workload, "a");
  EXPECT_EQ(correlation.summary[0].kernels, 3);
  EXPECT_DOUBLE_EQ(correlation.summary[0].mean_absolute.value(), 7.0 / 3);
  EXPECT_DOUBLE_EQ(correlation.summary[0].bias.value(), 1);
  EXPECT_EQ(correlation.summary[1].kernels, 2);
  EXPECT_EQ(correlation.summary[1].left_out, 1);
  EXPECT_DOUBLE_EQ(correlation.summary[1].mean_absolute.value(), 20);
  EXPECT_DOUBLE_EQ(correlation.summary[1].bias.value(), 10);
  EXPECT_EQ(BestExplanation(correlation, 1), nullptr) << "two kernels explain nothing";
}

TEST(Explanation, IsOneOnlyBeyondChance) {
  const absl::StatusOr<Ladder> ladder = ParseLadder(kSmall);
  ASSERT_TRUE(ladder.ok());
  Correlation correlation;
  for (int i = 0; i < 8; ++i) correlation.kernels.push_back(KernelWith(absl::StrCat("k", i), i, -2 * i * i));
  Summarise(*ladder, correlation);
  ASSERT_NE(BestExplanation(correlation, 1), nullptr);
  EXPECT_DOUBLE_EQ(BestExplanation(correlation, 1)->correlation.value(), -1) << "against each other also explains";
  // Orders without a relation: 2 1 4 3 8 5 6 7 has 0.74, beyond the 0.71 of eight pairs; 4 1 2 3 8 5 6 7 not.
  const auto with = [&](const std::vector<int>& order) {
    correlation.kernels.clear();
    for (int i = 0; i < 8; ++i) correlation.kernels.push_back(KernelWith(absl::StrCat("k", i), i, order[i]));
    Summarise(*ladder, correlation);
    return BestExplanation(correlation, 1) != nullptr;
  };
  EXPECT_TRUE(with({2, 1, 4, 3, 8, 5, 6, 7}));
  EXPECT_FALSE(with({4, 5, 1, 2, 8, 3, 6, 7})) << "0.48";
}

hardware::v1::Errors ErrorsWith(const std::vector<std::pair<std::string, double>>& programs) {
  hardware::v1::Errors errors;
  errors.set_divergence("pdom");
  errors.set_scheduler("gto");
  errors.set_dispatch("thread_blocks");
  for (const auto& [name, ratio] : programs) {
    hardware::v1::ProgramError& program = *errors.add_program();
    program.set_workload(name);
    program.set_trace_digest(absl::StrCat("digest of ", name));
    program.set_log_ratio(ratio);
  }
  return errors;
}

result::v1::Result RunOf(const std::string& trace, const std::string& divergence = "pdom") {
  result::v1::Result result;
  result.mutable_provenance()->set_trace_name(trace);
  result.mutable_divergence()->set_name(divergence);
  result.mutable_scheduler()->set_name("gto");
  result.mutable_dispatch()->set_name("thread_blocks");
  return result;
}

TEST(HardwareIntervals, LeaveTheProgramItselfOut) {
  const HardwareIntervals intervals(ErrorsWith({{"a", 0.1}, {"b", 0.2}, {"c", 0.3}, {"far", 5}}));
  const std::optional<FactorInterval> others = intervals.Cycles(RunOf("far-small.htrace"));
  ASSERT_TRUE(others.has_value());
  EXPECT_EQ(others->programs, 3);
  const Interval expected = PredictionInterval({0.1, 0.2, 0.3}, kIntervalConfidence).value();
  EXPECT_DOUBLE_EQ(others->factor.low, std::exp(-expected.high)) << "ours is more than the card's, so less is expected";
  EXPECT_DOUBLE_EQ(others->factor.high, std::exp(-expected.low));
  EXPECT_EQ(intervals.Cycles(RunOf("new.htrace"))->programs, 4);
  EXPECT_EQ(intervals.Cycles(RunOf("farther.htrace"))->programs, 4) << "another program";
  result::v1::Result renamed = RunOf("renamed.htrace");
  renamed.mutable_provenance()->set_trace_digest("digest of far");
  EXPECT_EQ(intervals.Cycles(renamed)->programs, 3) << "the same recording under another name";
}

TEST(HardwareIntervals, AreForTheCyclesOfTheMeasuredPoliciesOnly) {
  const HardwareIntervals intervals(ErrorsWith({{"a", 0.1}, {"b", 0.2}, {"c", 0.3}}));
  EXPECT_TRUE(intervals.Cycles(RunOf("new.htrace")).has_value());
  EXPECT_FALSE(intervals.Cycles(RunOf("new.htrace", "dwf")).has_value());
  EXPECT_TRUE(intervals.Ratio(RunOf("new.htrace", "dwf")).has_value());
  EXPECT_FALSE(intervals.Cycles(RunOf("a.htrace")).has_value()) << "two are left";
}

TEST(HardwareIntervals, TakeSizesOfAProgramAsOne) {
  hardware::v1::Errors errors = ErrorsWith({{"a", 0.1}, {"a", 0.3}, {"b", 0.2}, {"c", 0.2}});
  const HardwareIntervals intervals(errors);
  EXPECT_EQ(intervals.AnyCycles()->programs, 3);
  EXPECT_DOUBLE_EQ(intervals.AnyCycles()->factor.low, std::exp(-0.2)) << "all three are 0.2";
}

TEST(MachineDigest, ChangesWithEveryValue) {
  machine::v1::Machine machine;
  machine.set_name("mine");
  const std::string digest = MachineDigest(machine);
  EXPECT_EQ(MachineDigest(machine), digest);
  machine.mutable_core()->set_schedulers(2);
  EXPECT_NE(MachineDigest(machine), digest);
}

TEST(MachineRecordFile, StandsBesideTheMachine) {
  EXPECT_EQ(MachineRecordFile("folder/mine.textproto"), "folder/mine.hardware.json");
  EXPECT_THAT(MachineRecordFile("toy"), HasSubstr("/toy.hardware.json"));
}

}  // namespace
}  // namespace heddle::tools::correlate
