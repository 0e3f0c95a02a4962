#include "tools/study/reproduce/score.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/study/statistics/rank_correlation.h"

namespace heddle::tools::reproduce {
namespace {

namespace v1 = claims::v1;

// From which on a claim of many rows agrees.
constexpr double kLeastCorrelation = 0.5;
constexpr double kLeastShareOfSides = 0.75;
constexpr double kLeastShareOfSizes = 0.5;
// Of numbers that are printed with few digits and are equal.
constexpr double kEqual = 1e-9;

double Tolerance(const v1::Claim& claim, double paper) {
  return std::max(claim.tolerance(), std::abs(paper) * claim.tolerance_per_cent() / 100) +
         kEqual * std::max(1.0, std::abs(paper));
}

bool SizeAgrees(const v1::Claim& claim, double ours, double paper) {
  return std::abs(ours - paper) <= Tolerance(claim, paper);
}

Direction DirectionOf(const v1::Claim& claim, double ours, double noise, double paper) {
  const double our_effect = ours - claim.neutral();
  const double their_effect = paper - claim.neutral();
  if (std::abs(their_effect) <= claim.no_effect()) {
    return std::abs(our_effect) <= std::max(claim.no_effect(), noise) ? Direction::kAgrees : Direction::kOpposite;
  }
  if (std::abs(our_effect) <= std::max(noise, claim.no_effect())) return Direction::kWithinNoise;
  return (our_effect > 0) == (their_effect > 0) ? Direction::kAgrees : Direction::kOpposite;
}

// The number for every seed.
MeasuredTerm Measure(const Expression& expression, const std::vector<MetricSource>& seeds, const std::string& kernel,
                     ClaimResult& result) {
  MeasuredTerm term;
  for (const MetricSource& source : seeds) {
    const absl::StatusOr<Outcome> outcome = expression.Evaluate(source, kernel);
    if (!outcome.ok()) {
      term.problem = std::string(outcome.status().message());
      term.ours.seeds.clear();
      break;
    }
    term.ours.seeds.push_back(outcome->value);
    result.left_out.insert(outcome->left_out.begin(), outcome->left_out.end());
  }
  return term;
}

void ScoreValue(const v1::Claim& claim, ClaimResult& result) {
  const MeasuredTerm& term = result.terms[0];
  if (!term.problem.empty()) {
    result.problem = term.problem;
    return;
  }
  const bool structural = claim.kind() == v1::STRUCTURAL;
  if (claim.has_neutral() && !structural) {
    // A trend without a number goes up.
    const double paper = claim.has_paper() ? claim.paper() : claim.neutral() + claim.no_effect() + 1;
    result.direction = DirectionOf(claim, term.ours.mean(), term.ours.noise(), paper);
  }
  if (claim.has_paper() && claim.kind() != v1::TREND) {
    result.size = SizeAgrees(claim, term.ours.mean(), claim.paper()) ? Size::kAgrees : Size::kDiffers;
  }
}

void ScoreOrder(ClaimResult& result, const ClaimResult* noisy) {
  bool opposite = false;
  for (size_t i = 0; i < result.terms.size(); ++i) {
    if (!result.terms[i].problem.empty()) {
      result.problem = result.terms[i].label + ": " + result.terms[i].problem;
      return;
    }
    if (i == 0) continue;
    const std::vector<double>& above = result.terms[i - 1].ours.seeds;
    const std::vector<double>& below = result.terms[i].ours.seeds;
    Measured difference;
    for (size_t seed = 0; seed < std::min(above.size(), below.size()); ++seed) {
      difference.seeds.push_back(above[seed] - below[seed]);
    }
    if (noisy != nullptr && i <= noisy->step_noise.size()) difference.least_noise = noisy->step_noise[i - 1];
    result.step_noise.push_back(difference.noise());
    ++result.compared;
    if (difference.mean() > difference.noise()) {
      ++result.agreeing;
    } else if (-difference.mean() > difference.noise()) {
      opposite = true;
    }
  }
  result.direction = result.agreeing == result.compared ? Direction::kAgrees
                     : opposite                         ? Direction::kOpposite
                                                        : Direction::kWithinNoise;
}

void ScoreRows(const v1::Claim& claim, ClaimResult& result) {
  std::vector<double> ours, paper;
  size_t sides = 0;
  for (const MeasuredTerm& term : result.terms) {
    if (!term.problem.empty()) {
      result.left_out.emplace(term.label, term.problem);
      continue;
    }
    ours.push_back(term.ours.mean());
    paper.push_back(term.paper);
    result.agreeing += SizeAgrees(claim, ours.back(), paper.back());
    sides += DirectionOf(claim, ours.back(), term.ours.noise(), paper.back()) == Direction::kAgrees;
  }
  result.compared = ours.size();
  if (ours.empty()) {
    result.problem = result.terms[0].problem;
    return;
  }
  result.rank_correlation = RankCorrelation(ours, paper).value_or(0);
  const double count = static_cast<double>(ours.size());
  if (claim.kind() == v1::STRUCTURAL) {
    result.size = result.agreeing == result.compared ? Size::kAgrees : Size::kDiffers;
    return;
  }
  const bool agrees = claim.has_neutral() ? static_cast<double>(sides) >= kLeastShareOfSides * count
                                          : result.rank_correlation >= kLeastCorrelation;
  // Two numbers have no order to speak of.
  constexpr size_t kFewest = 3;
  if (claim.has_neutral() || result.compared >= kFewest) {
    result.direction = agrees ? Direction::kAgrees : Direction::kOpposite;
  }
  if (claim.kind() == v1::TREND) return;
  result.size = static_cast<double>(result.agreeing) >= kLeastShareOfSizes * count ? Size::kAgrees : Size::kDiffers;
}

}  // namespace

const char* DirectionName(Direction direction) {
  switch (direction) {
    case Direction::kAgrees:
      return "agrees";
    case Direction::kOpposite:
      return "opposite";
    case Direction::kWithinNoise:
      return "within_noise";
    case Direction::kNone:
      break;
  }
  return "none";
}

const char* SizeName(Size size) {
  return size == Size::kAgrees ? "agrees" : size == Size::kDiffers ? "differs" : "none";
}

double Measured::mean() const {
  return std::accumulate(seeds.begin(), seeds.end(), 0.0) / static_cast<double>(seeds.size());
}

double Measured::noise() const {
  const auto [lowest, highest] = std::ranges::minmax_element(seeds);
  return std::max(least_noise, (*highest - *lowest) / 2);
}

ClaimResult Evaluate(const CheckedClaim& checked, const std::vector<MetricSource>& seeds, const ClaimResult* noisy) {
  const v1::Claim& claim = *checked.claim;
  ClaimResult result;
  result.claim = &claim;
  if (!claim.not_computed().empty()) {
    result.problem = claim.not_computed();
    return result;
  }
  if (noisy != nullptr && !noisy->computed()) noisy = nullptr;
  const auto add = [&](MeasuredTerm term) {
    const size_t index = result.terms.size();
    if (noisy != nullptr && noisy->terms[index].problem.empty()) {
      term.ours.least_noise = noisy->terms[index].ours.noise();
    }
    result.terms.push_back(std::move(term));
  };
  if (claim.row_size() != 0) {
    for (const v1::Row& row : claim.row()) {
      MeasuredTerm term = Measure(checked.expressions[0], seeds, row.kernel(), result);
      term.label = row.kernel();
      term.paper = row.paper();
      add(std::move(term));
    }
    ScoreRows(claim, result);
    return result;
  }
  for (size_t i = 0; i < checked.expressions.size(); ++i) {
    add(Measure(checked.expressions[i], seeds, "", result));
    if (claim.order_size() != 0) result.terms.back().label = claim.order(static_cast<int>(i)).label();
  }
  if (claim.order_size() != 0) {
    ScoreOrder(result, noisy);
  } else {
    ScoreValue(claim, result);
  }
  return result;
}

}  // namespace heddle::tools::reproduce
