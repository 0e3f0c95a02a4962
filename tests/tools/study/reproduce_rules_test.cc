// The rules of comparison of `heddle reproduce`: claims that hang on one program, that compare nothing, that chance
// would give as well, and ledgers that may not change.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tools/study/reproduce/claims.h"
#include "tools/study/reproduce/influence.h"
#include "tools/study/reproduce/label_permutation.h"
#include "tools/study/reproduce/ledger.h"
#include "tools/study/reproduce/metric_sources.h"
#include "tools/study/reproduce/score.h"
#include "tools/study/reproduce/verdict.h"

namespace heddle::tools::reproduce {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// IPC of a run and a kernel.
using Ipc = std::map<std::pair<std::string, std::string>, double>;

MetricSource SourceOf(Ipc ipc) {
  return [ipc](const std::string& path, const std::string& run, const std::string& kernel) -> absl::StatusOr<double> {
    const auto found = ipc.find({run, kernel});
    if (path != "ipc" || found == ipc.end()) return absl::NotFoundError(path + " of " + kernel + " is missing");
    return found->second;
  };
}

// Kernels a, b1, b2 (of one program, b) and c; runs old and new that differ in their policies, and wide on a machine of
// its own.
class Rules : public ::testing::Test {
 protected:
  // A claim with these words; its expression is a mean gain unless it has one.
  void Claim(const std::string& text) {
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        "name: 'p' title: 't' kernel { name: 'a' trace: 'x' } kernel { name: 'b1' program: 'b' trace: 'x' } "
        "kernel { name: 'b2' program: 'b' trace: 'x' } kernel { name: 'c' trace: 'x' } claim { id: 'gain' " +
            text + "}",
        &claims_.paper));
    for (const claims::v1::Kernel& kernel : claims_.paper.kernel()) {
      claims_.kernel.emplace(kernel.name(), kernel);
      claims_.lists[kernel.name()] = {kernel.name()};
    }
    claims_.lists["all"] = {"a", "b1", "b2", "c"};
    for (const char* run : {"old", "new", "wide"}) {
      claims_.runs[run].set_name(run);
      claims_.runs[run].set_machine(run == std::string("wide") ? "wide" : "narrow");
    }
    const claims::v1::Claim& claim = claims_.paper.claim(0);
    CheckedClaim& checked = claims_.claims.emplace_back();
    checked.claim = &claim;
    std::vector<std::string> texts = {claim.value().empty() ? claim.each() : claim.value()};
    if (claim.order_size() != 0) texts = {claim.order(0).value(), claim.order(1).value()};
    for (const std::string& one : texts) {
      absl::StatusOr<Expression> expression = Expression::Parse(one, claims_.lists);
      ASSERT_TRUE(expression.ok()) << expression.status();
      checked.expressions.push_back(*std::move(expression));
    }
  }

  Judgement JudgementOf(const std::vector<Ipc>& seeds) {
    std::vector<MetricSource> sources;
    for (const Ipc& seed : seeds) sources.push_back(SourceOf(seed));
    result_ = Evaluate(claims_.claims[0], sources);
    influence_ = InfluenceOf(claims_, claims_.claims[0], sources, result_);
    return Judge(claims_, claims_.claims[0], result_, influence_, sources[0]);
  }

  PaperClaims claims_;
  ClaimResult result_;
  Influence influence_;
};

constexpr char kGain[] =
    "kind: VALUE value: '100 * (arithmetic(all, ipc@new / ipc@old) - 1)' paper: 10 unit: '%' neutral: 0 tolerance: 5 ";

Ipc Gains(double a, double b1, double b2, double c) {
  return {{{"old", "a"}, 1},     {{"old", "b1"}, 1},      {{"old", "b2"}, 1},      {{"old", "c"}, 1},
          {{"new", "a"}, 1 + a}, {{"new", "b1"}, 1 + b1}, {{"new", "b2"}, 1 + b2}, {{"new", "c"}, 1 + c}};
}

TEST_F(Rules, AGainOfAllProgramsIsReproduced) {
  Claim(kGain);
  EXPECT_EQ(JudgementOf({Gains(.1, .1, .1, .1)}).verdict, Verdict::kReproduced);
}

TEST_F(Rules, AMeanThatOneProgramCarriesIsFragile) {
  Claim(kGain);
  const Judgement judgement = JudgementOf({Gains(-.02, .4, .4, -.02)});
  EXPECT_EQ(result_.direction, Direction::kAgrees) << "by itself it agrees: 19 %";
  EXPECT_EQ(judgement.verdict, Verdict::kFragile);
  EXPECT_EQ(judgement.reason, "not without b") << "both kernels of b are one case";
}

TEST_F(Rules, KernelsOfAProgramAreLeftOutTogether) {
  Claim(kGain);
  JudgementOf({Gains(.1, .2, .4, .2)});
  ASSERT_EQ(influence_.programs.size(), 3u);
  EXPECT_EQ(influence_.programs[1].program, "b");
  EXPECT_NEAR(*influence_.programs[1].without, 15, 1e-9);
  EXPECT_NEAR(*influence_.programs[1].alone, 30, 1e-9);
  EXPECT_NEAR(influence_.LeaveOneOut()->low, 15, 1e-9);
  EXPECT_NEAR(influence_.LeaveOneOut()->high, 80. / 3, 1e-9) << "without a";
  EXPECT_EQ(influence_.Most(*NumberOf(result_))->program, "b");
}

TEST_F(Rules, OneProgramBeyondThePapersLargestMakesItFragile) {
  Claim(std::string(kGain) + "largest: 60");
  EXPECT_EQ(JudgementOf({Gains(.3, .3, .3, .59)}).verdict, Verdict::kReproduced);
  const Judgement judgement = JudgementOf({Gains(.3, .3, .3, .61)});
  EXPECT_EQ(judgement.verdict, Verdict::kFragile);
  EXPECT_EQ(judgement.reason, "c is beyond the paper's largest");
}

TEST_F(Rules, TheSameRunsTestNothing) {
  Claim("kind: TREND value: 'arithmetic(all, ipc@new / ipc@old)' paper: 1 neutral: 1 no_effect: .05");
  const Judgement same = JudgementOf({Gains(0, 0, 0, 0)});
  EXPECT_EQ(result_.direction, Direction::kAgrees) << "the paper has no effect, and neither have we";
  EXPECT_EQ(same.verdict, Verdict::kNotTested);
  EXPECT_THAT(same.reason, HasSubstr("are the same"));
  EXPECT_EQ(JudgementOf({Gains(0, 0, 0, .001)}).verdict, Verdict::kReproduced) << "other runs, and no effect";
}

TEST_F(Rules, AnEffectBelowTheFloorIsNoneWithoutNoise) {
  Claim(kGain);
  const Judgement below = JudgementOf({Gains(.004, .004, .004, .004)});
  EXPECT_EQ(result_.direction, Direction::kAgrees);
  EXPECT_EQ(below.verdict, Verdict::kNotTested);
  EXPECT_EQ(below.reason, "below the floor");
  EXPECT_EQ(JudgementOf({Gains(.006, .006, .006, .006)}).verdict, Verdict::kReproduced);
}

TEST_F(Rules, AnEffectWithinTheNoiseIsNotTested) {
  Claim(kGain);
  EXPECT_EQ(JudgementOf({Gains(.1, .1, .1, .1), Gains(-.09, -.09, -.09, -.09)}).reason, "within the noise");
}

TEST_F(Rules, ALossContradicts) {
  Claim(kGain);
  EXPECT_EQ(JudgementOf({Gains(-.1, -.1, -.1, -.1)}).verdict, Verdict::kContradicted);
}

TEST_F(Rules, WhatSomethingWasFittedToIsNoEvidence) {
  Claim(kGain);
  claims_.paper.add_fit()->add_claim("gain");
  EXPECT_EQ(JudgementOf({Gains(.1, .1, .1, .1)}).verdict, Verdict::kFitted);
}

TEST_F(Rules, AnOrderMustHoldWithoutEachProgram) {
  Claim(
      "kind: TREND order { label: 'new' value: 'arithmetic(all, ipc@new)' } "
      "order { label: 'old' value: 'arithmetic(all, ipc@old)' }");
  EXPECT_EQ(JudgementOf({Gains(.1, .1, .1, .1)}).verdict, Verdict::kReproduced);
  EXPECT_EQ(JudgementOf({Gains(-.1, -.1, -.1, 1)}).reason, "not without c");
}

TEST_F(Rules, AClaimAboutOneProgramHasNoInfluence) {
  Claim("kind: VALUE value: '100 * (of(a, ipc@new / ipc@old) - 1)' paper: 10 unit: '%' neutral: 0 tolerance: 5");
  EXPECT_EQ(JudgementOf({Gains(.1, 0, 0, 0)}).verdict, Verdict::kReproduced);
  EXPECT_THAT(influence_.programs, IsEmpty());
}

TEST_F(Rules, ExchangedLabelsAgreeHalfOfTheTime) {
  Claim("kind: TREND value: '100 * (of(a, ipc@new / ipc@old) - 1)' unit: '%' neutral: 0");
  const MetricSource source = SourceOf(Gains(.1, 0, 0, 0));
  const std::vector<ClaimResult> results = {Evaluate(claims_.claims[0], {source})};
  const LabelPermutation null = PermuteLabels(claims_, results, source, 2000);
  EXPECT_EQ(null.agree, 1u);
  EXPECT_EQ(null.claims, 1u);
  EXPECT_EQ(null.programs, 1u);
  EXPECT_NEAR(null.mean_agree, .5, .05);
  EXPECT_NEAR(null.p, .5, .05);
  EXPECT_EQ(PermuteLabels(claims_, results, source, 50).mean_agree,
            PermuteLabels(claims_, results, source, 50).mean_agree)
      << "the permutations are the same";
}

TEST_F(Rules, KernelsOfAProgramAreExchangedTogether) {
  Claim("kind: TREND value: 'of(b1, ipc@new / ipc@old) * of(b2, ipc@new / ipc@old)' neutral: 1");
  const MetricSource source = SourceOf(Gains(0, 1, 1, 0));
  const std::vector<ClaimResult> results = {Evaluate(claims_.claims[0], {source})};
  EXPECT_NEAR(PermuteLabels(claims_, results, source, 2000).mean_agree, .5, .05)
      << "4 or 1/4; if each kernel had labels of its own, a quarter of the time 4";
}

TEST_F(Rules, RunsOnOtherMachinesKeepTheirLabels) {
  Claim("kind: TREND value: '100 * (of(a, ipc@wide / ipc@old) - 1)' unit: '%' neutral: 0");
  const MetricSource source = SourceOf({{{"wide", "a"}, 2}, {{"old", "a"}, 1}});
  const std::vector<ClaimResult> results = {Evaluate(claims_.claims[0], {source})};
  const LabelPermutation null = PermuteLabels(claims_, results, source, 100);
  EXPECT_EQ(null.mean_agree, 1);
  EXPECT_EQ(null.p, 1);
}

TEST(MetricSources, AreAskedOnceOrNotAtAll) {
  int asked = 0;
  const MetricSource counting = [&asked](const std::string&, const std::string&, const std::string&) {
    return absl::StatusOr<double>(++asked);
  };
  const MetricSource remembered = Remembered(counting);
  EXPECT_EQ(*remembered("ipc", "old", "a"), 1);
  EXPECT_EQ(*remembered("ipc", "old", "a"), 1);
  EXPECT_EQ(*remembered("ipc", "new", "a"), 2);
  EXPECT_FALSE(Without(remembered, {"a"})("ipc", "old", "a").ok());
  EXPECT_TRUE(Without(remembered, {"a"})("ipc", "old", "b").ok());
}

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() {
    paper_.set_name("p");
    claims::v1::Claim& claim = *paper_.add_claim();
    claim.set_id("gain");
    claim.set_value("ipc@new");
    claim.set_paper(10);
    claim.set_tolerance(2);
    claims::v1::LedgerEntry& entry = *ledger_.add_entry();
    ledger_.set_date("2026-11-28");
    entry.set_claim("gain");
    entry.set_digest(ClaimDigest(claim));
  }
  claims::v1::Paper paper_;
  claims::v1::Ledger ledger_;
};

TEST_F(LedgerTest, WordsOfAClaimMayChange) {
  paper_.mutable_claim(0)->set_statement("said better");
  paper_.mutable_claim(0)->add_suspect("width");
  paper_.mutable_claim(0)->set_headline(true);
  EXPECT_TRUE(CheckAgainstLedger(paper_, ledger_).ok());
  paper_.add_claim()->set_id("another");
  EXPECT_TRUE(CheckAgainstLedger(paper_, ledger_).ok()) << "later claims are counted beside it";
}

TEST_F(LedgerTest, WhatAClaimIsJudgedByMayNot) {
  paper_.mutable_claim(0)->set_tolerance(5);
  const absl::Status status = CheckAgainstLedger(paper_, ledger_);
  EXPECT_THAT(std::string(status.message()), HasSubstr("claim gain is judged by something else"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("2026-11-28"));
}

TEST_F(LedgerTest, AClaimMayNotGo) {
  paper_.clear_claim();
  EXPECT_THAT(std::string(CheckAgainstLedger(paper_, ledger_).message()), HasSubstr("claim gain"));
}

}  // namespace
}  // namespace heddle::tools::reproduce
