// Designs of experiments, by the worked example of the HARP paper (section 7.2.1, table 6) and by what defines them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tools/study/sweep/design.h"

namespace heddle::tools::sweep {
namespace {

using ::testing::ElementsAre;

// The factors' signs of the eight runs in table 6, and the responses.
const DesignRows kTable6 = {{1, 0, 0, 1, 0, 1, 1}, {1, 1, 0, 0, 1, 0, 1}, {1, 1, 1, 0, 0, 1, 0}, {0, 1, 1, 1, 0, 0, 1},
                            {1, 0, 1, 1, 1, 0, 0}, {0, 1, 0, 1, 1, 1, 0}, {0, 0, 1, 0, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0}};
const std::vector<double> kSpeedUps = {1.03, 1.09, 1.01, 1.09, 1.10, 0.96, 0.97, 1.10};

TEST(Design, SevenFactorsTakeTheDesignOfThePaper) { EXPECT_EQ(PlackettBurman(7), kTable6); }

TEST(Design, EffectsAreThoseOfThePaperUpToTheRoundingOfItsResponses) {
  const std::vector<double> published = {0.0283, -0.0100, -0.0020, 0.0060, -0.0270, -0.1031, 0.0007};
  const std::vector<double> effects = Effects(kTable6, kSpeedUps);
  ASSERT_EQ(effects.size(), published.size());
  // Each of eight responses is rounded to 0.01: a quarter of their sum may be off by 8 * 0.005 / 4.
  for (size_t i = 0; i < published.size(); ++i) EXPECT_NEAR(effects[i], published[i], 0.01) << "factor " << i + 1;
  // Exactly, from the rounded responses: (1.03 + 1.09 + 1.01 - 1.09 + 1.10 - 0.96 - 0.97 - 1.10) / 4 and so on.
  EXPECT_NEAR(effects[0], 0.0275, 1e-12);
  EXPECT_NEAR(effects[5], -0.1025, 1e-12);
}

TEST(Design, AllPairsOfFactorsTakeAllFourCombinationsEquallyOften) {
  for (size_t factors = 1; factors <= 60; ++factors) {
    const DesignRows rows = PlackettBurman(factors);
    ASSERT_GT(rows.size(), factors);
    ASSERT_EQ(rows.size() % 4, 0u);
    for (size_t a = 0; a < factors; ++a) {
      for (size_t b = 0; b < a; ++b) {
        size_t count[2][2] = {};
        for (const std::vector<size_t>& row : rows) ++count[row[a]][row[b]];
        ASSERT_EQ(count[0][0], rows.size() / 4) << factors << " factors";
        ASSERT_EQ(count[0][1], rows.size() / 4) << factors << " factors";
        ASSERT_EQ(count[1][0], rows.size() / 4) << factors << " factors";
      }
    }
  }
}

TEST(Design, TheNumberOfRunsIsTheSmallestWhereADesignIsBuilt) {
  EXPECT_EQ(PlackettBurman(3).size(), 4u);
  EXPECT_EQ(PlackettBurman(11).size(), 12u);
  EXPECT_EQ(PlackettBurman(15).size(), 16u);  // doubled
  EXPECT_EQ(PlackettBurman(23).size(), 24u);
  EXPECT_EQ(PlackettBurman(24).size(), 32u);  // there is none of 28 runs by these constructions
}

TEST(Design, FoldoverMakesMainEffectsFreeOfInteractionsOfTwoFactors) {
  const DesignRows rows = WithFoldover(PlackettBurman(7));
  ASSERT_EQ(rows.size(), 16u);
  // A response that is the product of two factors and nothing else has no main effect.
  std::vector<double> responses;
  for (const std::vector<size_t>& row : rows) responses.push_back(row[1] == row[4] ? 1.0 : -1.0);
  for (const double effect : Effects(rows, responses)) EXPECT_EQ(effect, 0.0);
}

TEST(Design, FullFactorialChangesTheLastFactorFastest) {
  const std::vector<size_t> levels = {2, 3};
  EXPECT_THAT(FullFactorial(levels), ElementsAre(ElementsAre(0, 0), ElementsAre(0, 1), ElementsAre(0, 2),
                                                 ElementsAre(1, 0), ElementsAre(1, 1), ElementsAre(1, 2)));
  EXPECT_THAT(FullFactorial({}), ElementsAre(ElementsAre()));
}

TEST(Design, PairedTakesListsOfOneLengthAndKeepsSingleValues) {
  const std::vector<size_t> levels = {2, 1, 2};
  EXPECT_THAT(*Paired(levels), ElementsAre(ElementsAre(0, 0, 0), ElementsAre(1, 0, 1)));
  const std::vector<size_t> uneven = {2, 3};
  EXPECT_FALSE(Paired(uneven).ok());
}

}  // namespace
}  // namespace heddle::tools::sweep
