#include "tools/study/statistics/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace heddle::tools {
namespace {

std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
    begin = end;
  }
  return ranks;
}

}  // namespace

std::optional<double> RankCorrelation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto finite = [](double value) { return std::isfinite(value); };
  if (a.size() < 2 || a.size() != b.size()) return std::nullopt;
  if (!std::ranges::all_of(a, finite) || !std::ranges::all_of(b, finite)) return std::nullopt;
  const std::vector<double> x = Ranks(a);
  const std::vector<double> y = Ranks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
    xy += (x[i] - mean) * (y[i] - mean);
  }
  if (xx == 0 || yy == 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

}  // namespace heddle::tools
