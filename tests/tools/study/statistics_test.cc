// Rank correlation and intervals, against numbers that are known from elsewhere, and as properties.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "tools/study/statistics/intervals.h"
#include "tools/study/statistics/rank_correlation.h"

namespace heddle::tools {
namespace {

TEST(RankCorrelation, IsSpearmans) {
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3, 4}, {10, 20, 30, 400}).value(), 1);
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3, 4, 5}, {2, 1, 4, 3, 5}).value(), 0.8) << "1 - 6 * 4 / (5 * 24)";
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3}, {3, 2, 1}).value(), -1);
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 1, 2, 2}, {1, 1, 2, 2}).value(), 1) << "ties take their mean rank";
}

TEST(RankCorrelation, IsNothingWithoutAnOrder) {
  EXPECT_EQ(RankCorrelation({1, 1, 1}, {1, 2, 3}), std::nullopt);
  EXPECT_EQ(RankCorrelation({}, {}), std::nullopt);
  EXPECT_EQ(RankCorrelation({1}, {2}), std::nullopt);
  EXPECT_EQ(RankCorrelation({1, 2}, {1, 2, 3}), std::nullopt);
  EXPECT_EQ(RankCorrelation({1, std::nan("")}, {1, 2}), std::nullopt);
  EXPECT_EQ(RankCorrelation({1, 2}, {1, std::numeric_limits<double>::infinity()}), std::nullopt);
}

TEST(Median, OfNoneOneTwoAndThree) {
  EXPECT_EQ(Median({}), std::nullopt);
  EXPECT_DOUBLE_EQ(Median({7}).value(), 7);
  EXPECT_DOUBLE_EQ(Median({9, 4}).value(), 6.5);
  EXPECT_DOUBLE_EQ(Median({5, 100, 1}).value(), 5);
}

// Of printed tables of the t distribution.
TEST(StudentQuantile, IsThatOfTables) {
  EXPECT_NEAR(StudentQuantile(0.975, 1), 12.706, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 2), 2.920, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.975, 10), 2.228, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 30), 1.697, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.995, 120), 2.617, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.5, 4), 0, 1e-9);
  EXPECT_NEAR(StudentQuantile(0.05, 2), -2.920, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.75, 1), 1, 1e-9) << "exact for Cauchy's distribution";
}

TEST(BinomialInterval, IsClopperPearsons) {
  // Without a failure the bounds have closed forms: (tail)^(1/n).
  const Interval all = BinomialInterval(10, 10, 0.95);
  EXPECT_NEAR(all.low, std::pow(0.025, 0.1), 1e-9);
  EXPECT_DOUBLE_EQ(all.high, 1);
  const Interval none = BinomialInterval(0, 10, 0.95);
  EXPECT_DOUBLE_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 1 - std::pow(0.025, 0.1), 1e-9);
  // R: binom.test(7, 10) gives 0.3475471 0.9332605.
  const Interval seven = BinomialInterval(7, 10, 0.95);
  EXPECT_NEAR(seven.low, 0.3475471, 1e-6);
  EXPECT_NEAR(seven.high, 0.9332605, 1e-6);
  const Interval nothing = BinomialInterval(0, 0, 0.9);
  EXPECT_DOUBLE_EQ(nothing.low, 0);
  EXPECT_DOUBLE_EQ(nothing.high, 1);
}

TEST(PredictionInterval, FollowsItsFormula) {
  // Mean 2, deviation 1, t(0.95, 2) = 2.920.
  const std::optional<Interval> interval = PredictionInterval({1, 2, 3}, 0.9);
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->high - 2, 2.91999 * std::sqrt(4.0 / 3), 1e-4);
  EXPECT_NEAR(interval->low + interval->high, 4, 1e-9);
  const std::optional<Interval> difference = DifferenceInterval({1, 2, 3}, 0.9);
  ASSERT_TRUE(difference.has_value());
  EXPECT_NEAR(difference->high, 2.91999 * std::sqrt(2.0), 1e-4);
  EXPECT_DOUBLE_EQ(difference->low, -difference->high);
}

TEST(PredictionInterval, IsNothingForFewOrForNoNumbers) {
  EXPECT_EQ(PredictionInterval({1, 2}, 0.9), std::nullopt);
  EXPECT_EQ(PredictionInterval({}, 0.9), std::nullopt);
  EXPECT_EQ(PredictionInterval({1, 2, std::nan("")}, 0.9), std::nullopt);
  EXPECT_EQ(DifferenceInterval({1, 2}, 0.9), std::nullopt);
}

TEST(LeaveOneOut, NamesTheOneThatIsFarAway) {
  const Coverage coverage = LeaveOneOut({0.1, -0.1, 0.05, -0.05, 0, 0.02, -0.02, 9}, 0.9);
  EXPECT_EQ(coverage.trials, 8);
  EXPECT_EQ(coverage.covered, 7) << "all but the last, whose own absence makes the interval narrow";
  EXPECT_TRUE(coverage.probability.Contains(7.0 / 8));
  EXPECT_EQ(LeaveOneOut({1, 2, 3}, 0.9).trials, 0) << "two are left, too few for an interval";
}

// Made-up errors: what the intervals promise must come true for draws that nobody has seen.
TEST(Intervals, HoldAsOftenAsTheySay) {
  std::mt19937_64 random(20261126);
  std::normal_distribution<double> errors(0.15, 0.3);
  for (const double confidence : {0.8, 0.9}) {
    constexpr size_t kRounds = 600;
    constexpr size_t kPrograms = 15;
    size_t covered = 0;
    size_t differences = 0;
    size_t left_out = 0;
    size_t left_out_trials = 0;
    for (size_t round = 0; round < kRounds; ++round) {
      std::vector<double> sample(kPrograms);
      for (double& error : sample) error = errors(random);
      covered += PredictionInterval(sample, confidence)->Contains(errors(random)) ? 1 : 0;
      const double one = errors(random), other = errors(random);
      differences += DifferenceInterval(sample, confidence)->Contains(one - other) ? 1 : 0;
      if (round % 20 != 0) continue;
      const Coverage coverage = LeaveOneOut(sample, confidence);
      left_out += coverage.covered;
      left_out_trials += coverage.trials;
    }
    // 0.9999 both sides: a right program fails once in thousands of seeds, and this seed is fixed.
    EXPECT_TRUE(BinomialInterval(covered, kRounds, 0.9999).Contains(confidence)) << covered;
    EXPECT_TRUE(BinomialInterval(differences, kRounds, 0.9999).Contains(confidence)) << differences;
    EXPECT_NEAR(static_cast<double>(left_out) / static_cast<double>(left_out_trials), confidence, 0.06);
  }
}

}  // namespace
}  // namespace heddle::tools
