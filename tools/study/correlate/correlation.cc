#include "tools/study/correlate/correlation.h"

#include <algorithm>
#include <cmath>

#include "tools/study/statistics/intervals.h"
#include "tools/study/statistics/rank_correlation.h"

namespace heddle::tools::correlate {
namespace {

constexpr size_t kFewest = 5;         // kernels from which on a relation is looked for
constexpr double kConfidence = 0.95;  // two-sided

bool Counts(const Ladder& ladder, const KernelCorrelation& kernel, size_t rung) {
  return !(kernel.is_short && ladder.rungs[rung].only_long);
}

ComparisonSummary SummaryOf(const Ladder& ladder, const std::vector<KernelCorrelation>& kernels, size_t comparison) {
  ComparisonSummary summary;
  double absolute = 0;
  double sum = 0;
  std::vector<double> ours;
  std::vector<double> card;
  for (const KernelCorrelation& kernel : kernels) {
    const Compared& compared = kernel.compared[comparison];
    if (!compared.error.has_value()) continue;
    if (!Counts(ladder, kernel, ladder.comparisons[comparison].rung)) {
      ++summary.left_out;
      continue;
    }
    ++summary.kernels;
    absolute += std::abs(*compared.error);
    sum += *compared.error;
    ours.push_back(*compared.ours);
    card.push_back(*compared.card);
    if (!compared.within.has_value()) continue;
    ++summary.judged;
    summary.within += *compared.within ? 1 : 0;
  }
  if (summary.kernels == 0) return summary;
  summary.mean_absolute = absolute / static_cast<double>(summary.kernels);
  summary.bias = sum / static_cast<double>(summary.kernels);
  summary.rank_correlation = RankCorrelation(ours, card);
  return summary;
}

// Whether a rank correlation of so many pairs would be as strong by chance in less than one of 20 samples: by Student's
// t with two degrees of freedom fewer, as usual for Spearman's.
bool BeyondChance(double correlation, size_t pairs) {
  if (std::abs(correlation) >= 1) return true;
  const double degrees = static_cast<double>(pairs - 2);
  const double t = std::abs(correlation) * std::sqrt(degrees / (1 - correlation * correlation));
  return t > StudentQuantile((1 + kConfidence) / 2, pairs - 2);
}

Explanation Explain(const Ladder& ladder, const std::vector<KernelCorrelation>& kernels, size_t lower, size_t higher) {
  Explanation explanation{lower, higher, 0, std::nullopt, false};
  const std::optional<size_t> from = ladder.Headline(lower);
  const std::optional<size_t> to = ladder.Headline(higher);
  if (!from.has_value() || !to.has_value()) return explanation;
  std::vector<double> x;
  std::vector<double> y;
  for (const KernelCorrelation& kernel : kernels) {
    const std::optional<double>& first = kernel.compared[*from].error;
    const std::optional<double>& second = kernel.compared[*to].error;
    if (!first.has_value() || !second.has_value() || !Counts(ladder, kernel, higher)) continue;
    x.push_back(*first);
    y.push_back(*second);
  }
  explanation.kernels = x.size();
  if (x.size() < kFewest) return explanation;
  explanation.correlation = RankCorrelation(x, y);
  explanation.beyond_chance = explanation.correlation.has_value() && BeyondChance(*explanation.correlation, x.size());
  return explanation;
}

}  // namespace

void Summarise(const Ladder& ladder, Correlation& correlation) {
  std::ranges::stable_sort(correlation.kernels, {}, &KernelCorrelation::name);
  correlation.summary.clear();
  for (size_t i = 0; i < ladder.comparisons.size(); ++i) {
    correlation.summary.push_back(SummaryOf(ladder, correlation.kernels, i));
  }
  correlation.explanations.clear();
  for (size_t higher = 1; higher < ladder.rungs.size(); ++higher) {
    for (size_t lower = 0; lower < higher; ++lower) {
      correlation.explanations.push_back(Explain(ladder, correlation.kernels, lower, higher));
    }
  }
}

const Explanation* BestExplanation(const Correlation& correlation, size_t rung) {
  const Explanation* best = nullptr;
  for (const Explanation& one : correlation.explanations) {
    if (one.higher != rung || !one.beyond_chance) continue;
    if (best == nullptr || std::abs(*one.correlation) > std::abs(*best->correlation)) best = &one;
  }
  return best;
}

}  // namespace heddle::tools::correlate
