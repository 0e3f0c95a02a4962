// Expressions and scores of `heddle reproduce`, with results made by hand.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "tools/study/reproduce/expression.h"
#include "tools/study/reproduce/metrics.h"
#include "tools/study/reproduce/run_plan.h"
#include "tools/study/reproduce/score.h"

namespace heddle::tools::reproduce {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;

const Lists kLists = {{"a", {"a"}}, {"b", {"b"}}, {"c", {"c"}}, {"all", {"a", "b", "c"}}, {"none", {}}};

// Metrics by path, run and kernel; all others are missing.
using Table = std::map<std::tuple<std::string, std::string, std::string>, double>;

MetricSource SourceOf(Table table) {
  return [table](const std::string& path, const std::string& run, const std::string& kernel) -> absl::StatusOr<double> {
    const auto it = table.find({path, run, kernel});
    if (it == table.end()) return absl::NotFoundError(path + " of " + kernel + " is missing");
    return it->second;
  };
}

// IPC of three kernels before and after some change: twice, as fast, half as fast.
const Table kIpc = {{{"ipc", "old", "a"}, 10}, {{"ipc", "old", "b"}, 20}, {{"ipc", "old", "c"}, 40},
                    {{"ipc", "new", "a"}, 20}, {{"ipc", "new", "b"}, 20}, {{"ipc", "new", "c"}, 20}};

absl::StatusOr<Outcome> Value(const std::string& text, const Table& table = kIpc) {
  const absl::StatusOr<Expression> expression = Expression::Parse(text, kLists);
  if (!expression.ok()) return expression.status();
  return expression->Evaluate(SourceOf(table));
}

double Number(const std::string& text) {
  const absl::StatusOr<Outcome> outcome = Value(text);
  EXPECT_TRUE(outcome.ok()) << text << ": " << outcome.status();
  return outcome.ok() ? outcome->value : std::nan("");
}

TEST(Expression, ArithmeticBindsAsUsual) {
  EXPECT_DOUBLE_EQ(Number("1 + 2 * 3 - 8 / 4 / 2"), 6);
  EXPECT_DOUBLE_EQ(Number("-(1 - 3) * 2.5"), 5);
  EXPECT_DOUBLE_EQ(Number("1 + 1 > 1"), 1);
  EXPECT_DOUBLE_EQ(Number("2 < 1 + 1"), 0);
  EXPECT_DOUBLE_EQ(Number("abs(2 - 5)"), 3);
}

TEST(Expression, MeansAreOverTheKernelsOfAList) {
  EXPECT_DOUBLE_EQ(Number("arithmetic(all, ipc@new / ipc@old)"), (2 + 1 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(Number("geometric(all, ipc@new / ipc@old)"), 1);
  EXPECT_DOUBLE_EQ(Number("harmonic(all, ipc@old)"), 3 / (1 / 10.0 + 1 / 20.0 + 1 / 40.0));
  EXPECT_DOUBLE_EQ(Number("sum(all, ipc@old)"), 70);
  EXPECT_DOUBLE_EQ(Number("largest(all, ipc@new / ipc@old) - smallest(all, ipc@new / ipc@old)"), 1.5);
  EXPECT_DOUBLE_EQ(Number("of(b, ipc@old)"), 20);
  EXPECT_DOUBLE_EQ(Number("sum(all, ipc@new < ipc@old)"), 1) << "how many kernels got slower";
}

TEST(Expression, AKernelThatIsMissingInOneMeanIsLeftOutOfAll) {
  Table table = kIpc;
  table.erase({"ipc", "new", "c"});
  const absl::StatusOr<Outcome> outcome = Value("arithmetic(all, ipc@new) / arithmetic(all, ipc@old)", table);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_DOUBLE_EQ(outcome->value, 20.0 / 15) << "(20 + 20) / (10 + 20), without the 40 of c";
  EXPECT_THAT(outcome->left_out, ElementsAre(Key("c")));
}

TEST(Expression, WithoutAnyKernelOrNumberThereIsAReason) {
  EXPECT_THAT(Value("arithmetic(none, ipc@old)").status().message(), HasSubstr("none of the kernels"));
  EXPECT_THAT(Value("arithmetic(all, stalls@old)").status().message(), HasSubstr("stalls of a is missing"));
  EXPECT_THAT(Value("of(a, ipc@old / (ipc@old - 10))").status().message(), HasSubstr("division by zero"));
  EXPECT_THAT(Value("geometric(all, ipc@old - 20)").status().message(), HasSubstr("not positive"));
}

TEST(Expression, WrongTextsSayWhereTheyAreWrong) {
  const auto message = [](const char* text) { return std::string(Value(text).status().message()); };
  EXPECT_THAT(message("1 + "), HasSubstr("at the end"));
  EXPECT_THAT(message("1 2"), HasSubstr("expected an operator or the end before \"2\""));
  EXPECT_THAT(message("ipc"), HasSubstr("'@' and a run"));
  EXPECT_THAT(message("arithmetic(alll, ipc@new)"), AllOf(HasSubstr("\"alll\""), HasSubstr("did you mean \"all\"")));
  EXPECT_THAT(message("mean(all, ipc@new)"), HasSubstr("unknown function"));
  EXPECT_THAT(message("arithmetic(all, ipc@new"), HasSubstr("')'"));
}

TEST(Expression, NeedsEveryMetricOfEveryKernel) {
  const absl::StatusOr<Expression> expression =
      Expression::Parse("of(a, ipc@old) + arithmetic(all, cycles@new)", kLists);
  ASSERT_TRUE(expression.ok());
  EXPECT_THAT(expression->Needs(), ElementsAre(Need{"cycles", "new", "a"}, Need{"cycles", "new", "b"},
                                               Need{"cycles", "new", "c"}, Need{"ipc", "old", "a"}));
}

// A claim, evaluated with one value of x@run for kernel a per seed.
class Score : public ::testing::Test {
 protected:
  ClaimResult Of(const std::string& claim_text, const std::vector<double>& seeds) {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(claim_text, &claim_));
    CheckedClaim checked;
    checked.claim = &claim_;
    if (claim_.not_computed().empty()) {
      absl::StatusOr<Expression> expression = Expression::Parse("of(a, x@run)", kLists);
      checked.expressions.push_back(*std::move(expression));
    }
    std::vector<MetricSource> sources;
    for (const double value : seeds) {
      sources.push_back(std::isnan(value) ? SourceOf({}) : SourceOf({{{"x", "run", "a"}, value}}));
    }
    return Evaluate(checked, sources);
  }
  claims::v1::Claim claim_;
};

constexpr char kGain[] = "kind: VALUE value: 'x' paper: 10 neutral: 0 tolerance: 4";

TEST_F(Score, AGainOfAboutThePapersSizeAgreesInBoth) {
  const ClaimResult result = Of(kGain, {7});
  EXPECT_EQ(result.direction, Direction::kAgrees);
  EXPECT_EQ(result.size, Size::kAgrees);
  EXPECT_TRUE(result.comes_out());
}

TEST_F(Score, ASmallGainAgreesInDirectionOnly) {
  const ClaimResult result = Of(kGain, {2});
  EXPECT_EQ(result.direction, Direction::kAgrees);
  EXPECT_EQ(result.size, Size::kDiffers);
  EXPECT_FALSE(result.comes_out());
}

TEST_F(Score, ALossIsOpposite) {
  EXPECT_EQ(Of(kGain, {-3}).direction, Direction::kOpposite);
  EXPECT_EQ(Of(kGain, {0}).direction, Direction::kWithinNoise);
}

TEST_F(Score, AnEffectBelowTheNoiseDoesNotCount) {
  // Mean 2, range 6: half of it is above the mean.
  EXPECT_EQ(Of(kGain, {-1, 5, 2}).direction, Direction::kWithinNoise);
  // Mean 2, range 2.
  EXPECT_EQ(Of(kGain, {1, 3, 2}).direction, Direction::kAgrees);
  EXPECT_EQ(Of(kGain, {-1, -3, -2}).direction, Direction::kOpposite);
}

TEST_F(Score, TheNoiseOfOtherRunsOfTheClaimCountsIfItIsMore) {
  // With smaller inputs: mean 9, range 10.
  const ClaimResult noisy = Of(kGain, {4, 14, 9});
  const auto with = [&](double value) {
    absl::StatusOr<Expression> expression = Expression::Parse("of(a, x@run)", kLists);
    CheckedClaim checked;
    checked.claim = &claim_;
    checked.expressions.push_back(*std::move(expression));
    return Evaluate(checked, {SourceOf({{{"x", "run", "a"}, value}})}, &noisy);
  };
  EXPECT_DOUBLE_EQ(with(4).terms[0].ours.noise(), 5);
  EXPECT_EQ(with(4).direction, Direction::kWithinNoise);
  EXPECT_EQ(with(6).direction, Direction::kAgrees);
  EXPECT_EQ(with(-6).direction, Direction::kOpposite);
}

TEST_F(Score, WhereThePaperHasNoEffectOursMustHaveNone) {
  constexpr char kNone[] = "kind: TREND value: 'x' paper: 1 neutral: 1 no_effect: 0.05";
  EXPECT_EQ(Of(kNone, {1.04}).direction, Direction::kAgrees);
  EXPECT_EQ(Of(kNone, {0.9}).direction, Direction::kOpposite);
  EXPECT_EQ(Of(kNone, {1.04}).size, Size::kNone);
}

TEST_F(Score, ATrendWithoutANumberGoesUp) {
  constexpr char kUp[] = "kind: TREND value: 'x' neutral: 1";
  EXPECT_EQ(Of(kUp, {1.2}).direction, Direction::kAgrees);
  EXPECT_EQ(Of(kUp, {0.8}).direction, Direction::kOpposite);
}

TEST_F(Score, AStructuralClaimAgreesExactlyOrNot) {
  constexpr char kBits[] = "kind: STRUCTURAL value: 'x' paper: 59312";
  EXPECT_EQ(Of(kBits, {59312}).size, Size::kAgrees);
  EXPECT_EQ(Of(kBits, {59311}).size, Size::kDiffers);
  EXPECT_EQ(Of(kBits, {59312}).direction, Direction::kNone);
}

TEST_F(Score, AClaimWithoutItsNumbersIsNotComputed) {
  const ClaimResult result = Of(kGain, {5, std::nan("")});
  EXPECT_FALSE(result.computed());
  EXPECT_FALSE(result.comes_out());
  EXPECT_THAT(result.problem, HasSubstr("x of a is missing"));
  EXPECT_EQ(Of("kind: VALUE not_computed: 'it is an area'", {1}).problem, "it is an area");
}

// Terms and rows: every kernel has its own number.
ClaimResult Rows(claims::v1::Claim& claim, const std::string& text, const std::map<std::string, double>& ours) {
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &claim));
  CheckedClaim checked;
  checked.claim = &claim;
  for (int i = 0; i < std::max(1, claim.order_size()); ++i) {
    const std::string expression = claim.order_size() != 0 ? claim.order(i).value() : claim.each();
    absl::StatusOr<Expression> parsed = Expression::Parse(expression, kLists);
    checked.expressions.push_back(*std::move(parsed));
  }
  Table table;
  for (const auto& [kernel, value] : ours) table[{"x", "run", kernel}] = value;
  return Evaluate(checked, {SourceOf(table)});
}

constexpr char kRows[] =
    "kind: VALUE each: 'x@run' tolerance: 5 row { kernel: 'a' paper: 30 } row { kernel: 'b' paper: 60 } "
    "row { kernel: 'c' paper: 90 }";

TEST(ScoreRows, TheOrderOfTheKernelsIsTheDirection) {
  claims::v1::Claim claim;
  const ClaimResult same = Rows(claim, kRows, {{"a", 1}, {"b", 58}, {"c", 92}});
  EXPECT_DOUBLE_EQ(same.rank_correlation, 1);
  EXPECT_EQ(same.direction, Direction::kAgrees);
  EXPECT_EQ(same.agreeing, 2u);
  EXPECT_EQ(same.size, Size::kAgrees) << "two of three are within the tolerance";
  const ClaimResult reversed = Rows(claim, kRows, {{"a", 90}, {"b", 50}, {"c", 30}});
  EXPECT_DOUBLE_EQ(reversed.rank_correlation, -1);
  EXPECT_EQ(reversed.direction, Direction::kOpposite);
  EXPECT_EQ(reversed.size, Size::kDiffers);
}

TEST(ScoreRows, AMissingKernelIsLeftOut) {
  claims::v1::Claim claim;
  const ClaimResult result = Rows(claim, kRows, {{"a", 30}, {"c", 90}});
  EXPECT_TRUE(result.computed());
  EXPECT_EQ(result.compared, 2u);
  EXPECT_THAT(result.left_out, ElementsAre(Key("b")));
  EXPECT_EQ(result.direction, Direction::kNone) << "two numbers have no order to speak of";
}

TEST(ScoreRows, ALineDividesTheKernels) {
  claims::v1::Claim claim;
  const std::string text = std::string(kRows) + " neutral: 75";
  EXPECT_EQ(Rows(claim, text, {{"a", 40}, {"b", 30}, {"c", 80}}).direction, Direction::kAgrees);
  EXPECT_EQ(Rows(claim, text, {{"a", 80}, {"b", 90}, {"c", 70}}).direction, Direction::kOpposite);
}

TEST(ScoreOrder, EveryTermMustBeAboveTheNext) {
  constexpr char kOrder[] =
      "kind: TREND order { label: 'first' value: 'of(a, x@run)' } order { label: 'second' value: 'of(b, x@run)' } "
      "order { label: 'third' value: 'of(c, x@run)' }";
  claims::v1::Claim claim;
  EXPECT_EQ(Rows(claim, kOrder, {{"a", 3}, {"b", 2}, {"c", 1}}).direction, Direction::kAgrees);
  const ClaimResult half = Rows(claim, kOrder, {{"a", 3}, {"b", 1}, {"c", 2}});
  EXPECT_EQ(half.direction, Direction::kOpposite);
  EXPECT_EQ(half.agreeing, 1u);
  EXPECT_EQ(Rows(claim, kOrder, {{"a", 3}, {"b", 2}, {"c", 2}}).direction, Direction::kWithinNoise);
  const ClaimResult missing = Rows(claim, kOrder, {{"a", 3}, {"b", 2}});
  EXPECT_THAT(missing.problem, HasSubstr("third"));
}

TEST(ScoreOrder, StepsMustBeAboveTheNoiseOfOtherRuns) {
  claims::v1::Claim claim;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "kind: TREND order { label: 'first' value: 'of(a, x@run)' } order { label: 'second' value: 'of(b, x@run)' }",
      &claim));
  CheckedClaim checked;
  checked.claim = &claim;
  for (const char* text : {"of(a, x@run)", "of(b, x@run)"}) {
    absl::StatusOr<Expression> parsed = Expression::Parse(text, kLists);
    checked.expressions.push_back(*std::move(parsed));
  }
  const auto source = [](double a, double b) { return SourceOf({{{"x", "run", "a"}, a}, {{"x", "run", "b"}, b}}); };
  // Differences of 1 and 5: 3 +- 2.
  const ClaimResult noisy = Evaluate(checked, {source(2, 1), source(7, 2)});
  EXPECT_THAT(noisy.step_noise, ElementsAre(2));
  EXPECT_EQ(noisy.direction, Direction::kAgrees);
  EXPECT_EQ(Evaluate(checked, {source(3, 2)}, &noisy).direction, Direction::kWithinNoise);
  EXPECT_EQ(Evaluate(checked, {source(6, 2)}, &noisy).direction, Direction::kAgrees);
}

TEST(PaperResidency, IsThatOfThePaperForEachForm) {
  claims::v1::Run run;
  run.set_dispatch("thread_blocks");
  run.add_set("sms=4");
  claims::v1::Kernel kernel;
  EXPECT_THAT(WithPaperResidency(run, kernel).set(), ElementsAre("sms=4")) << "the paper states none";
  kernel.set_paper_blocks_per_sm(5);
  kernel.set_paper_blocks_per_sm_transformed(4);
  EXPECT_THAT(WithPaperResidency(run, kernel).set(), ElementsAre("sms=4", "core.max_blocks=5", "core.registers=0"));
  run.set_dispatch("virtual_blocks");
  EXPECT_THAT(WithPaperResidency(run, kernel).set(), ElementsAre("sms=4", "core.max_blocks=4", "core.registers=0"));
  kernel.clear_paper_blocks_per_sm_transformed();
  EXPECT_THAT(WithPaperResidency(run, kernel).set(), ElementsAre("sms=4", "core.max_blocks=5", "core.registers=0"));
}

TEST(Vary, ChangesThePoliciesAndMachinesThatItNames) {
  claims::v1::Run run;
  run.set_machine("thesis_8800gtx");
  run.set_divergence("dwf:scope=core,swizzle=none");
  run.set_scheduler("dmaj");
  claims::v1::Variation variation;
  variation.add_policy("dwf:scope=block");
  variation.add_policy("dmaj:tie=oldest");
  variation.add_policy("pdom:taken_first=false");
  variation.add_set("sms=4");
  variation.add_machine("toy");
  claims::v1::Run varied = Vary(run, variation);
  EXPECT_EQ(varied.divergence(), "dwf:swizzle=none,scope=block");
  EXPECT_EQ(varied.scheduler(), "dmaj:tie=oldest");
  EXPECT_TRUE(varied.set().empty()) << "another machine";
  variation.add_machine("thesis_8800gtx");
  EXPECT_THAT(Vary(run, variation).set(), ElementsAre("sms=4"));
}

// Two launches: 100 and 300 cycles.
result::v1::Result TwoLaunches() {
  result::v1::Result result;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(total { cycles: 400 ipc: 2.5 }
         divergence { name: "dwf" }
         launch { cycles: 100 blocks: 4 blocks_per_sm: 2 simd_utilisation: 50 issues_by_size: [1, 2, 3, 4]
                  divergence_counter { key: "max_pool_warps" value: 7 } divergence_counter { key: "merges" value: 7 }
                  warp_progress { divergence { above_per_cent: 10 instruction_blocks: 3 cycle_blocks: 1 } } }
         launch { cycles: 300 blocks: 8 blocks_per_sm: 3 simd_utilisation: 90 issues_by_size: [10, 20, 30, 40]
                  divergence_counter { key: "max_pool_warps" value: 5 } divergence_counter { key: "merges" value: 5 }
                  warp_progress { divergence { above_per_cent: 10 instruction_blocks: 1 cycle_blocks: 2 } } })",
      &result));
  return result;
}

TEST(Metrics, AreCombinedOverLaunchesByWhatTheyAre) {
  const result::v1::Result result = TwoLaunches();
  const auto metric = [&](const char* path) {
    const absl::StatusOr<double> value = MetricOf(result, path);
    return value.ok() ? *value : std::nan("");
  };
  EXPECT_DOUBLE_EQ(metric("cycles"), 400);
  EXPECT_DOUBLE_EQ(metric("ipc"), 2.5);
  EXPECT_DOUBLE_EQ(metric("blocks"), 12);
  EXPECT_DOUBLE_EQ(metric("blocks_per_sm"), 3) << "the largest";
  EXPECT_DOUBLE_EQ(metric("simd_utilisation"), 80) << "weighted by cycles: (50 * 100 + 90 * 300) / 400";
  EXPECT_DOUBLE_EQ(metric("issues_by_size.2_to_3"), 2 + 3 + 20 + 30);
  EXPECT_DOUBLE_EQ(metric("issues_by_size.4"), 44);
  EXPECT_DOUBLE_EQ(metric("warp_progress.divergence.10.cycle_blocks"), 3);
  EXPECT_DOUBLE_EQ(metric("warp_progress.divergence.10.instruction_blocks"), 4);
  EXPECT_DOUBLE_EQ(metric("divergence_counter.merges"), 12);
  EXPECT_DOUBLE_EQ(metric("divergence_counter.max_pool_warps"), 7) << "a maximum by its policy's declaration";
  EXPECT_DOUBLE_EQ(metric("launch_count"), 2);
  EXPECT_FALSE(MetricOf(result, "l1_data.misses").ok()) << "a machine without that cache";
}

TEST(Metrics, UnknownNamesAreRefused) {
  claims::v1::Run replay;
  EXPECT_TRUE(CheckMetric("stalls.barrier", replay).ok());
  EXPECT_TRUE(CheckMetric("scheduler_counter.anything", replay).ok());
  EXPECT_FALSE(CheckMetric("stalls", replay).ok());
  EXPECT_FALSE(CheckMetric("stall.barrier", replay).ok());
  EXPECT_FALSE(CheckMetric("kernel", replay).ok());
  EXPECT_FALSE(CheckMetric("issues_by_size.0", replay).ok());
  EXPECT_FALSE(CheckMetric("warp_progress.divergence.10.blocks", replay).ok());
  claims::v1::Run cost;
  cost.mutable_cost();
  EXPECT_TRUE(CheckMetric("bits", cost).ok());
  EXPECT_FALSE(CheckMetric("cycles", cost).ok());
}

}  // namespace
}  // namespace heddle::tools::reproduce
