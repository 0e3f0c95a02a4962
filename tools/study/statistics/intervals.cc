#include "tools/study/statistics/intervals.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace heddle::tools {
namespace {

// Where `rising`, which rises from below 0 to above 0 between the two, is 0.
template <typename Function>
double Root(double low, double high, const Function& rising) {
  for (int step = 0; step < 200; ++step) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (rising(middle) < 0 ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

// The integral of cos^power from 0 to `angle`, at most pi/2, by Simpson's rule.
double CosineIntegral(double power, double angle) {
  constexpr int kPieces = 400;  // even; the integrand is smooth
  const double width = angle / kPieces;
  double sum = 0;
  for (int i = 0; i <= kPieces; ++i) {
    const int weight = i == 0 || i == kPieces ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::pow(std::max(0.0, std::cos(i * width)), power);
  }
  return sum * width / 3;
}

// The probability of at least `least` successes.
double UpperTail(size_t least, size_t trials, double probability) {
  if (probability <= 0) return least == 0 ? 1 : 0;
  if (probability >= 1) return 1;
  const double n = static_cast<double>(trials);
  double sum = 0;
  for (size_t i = least; i <= trials; ++i) {
    const double k = static_cast<double>(i);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(probability) +
                    (n - k) * std::log1p(-probability));
  }
  return std::min(1.0, sum);
}

double Mean(const std::vector<double>& sample) {
  return std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
}

// Of the distribution that the sample is drawn from.
double Deviation(const std::vector<double>& sample) {
  const double mean = Mean(sample);
  double squares = 0;
  for (const double value : sample) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(sample.size() - 1));
}

constexpr size_t kFewest = 3;  // values that an interval is made of

bool Usable(const std::vector<double>& sample) {
  return sample.size() >= kFewest && std::ranges::all_of(sample, [](double value) { return std::isfinite(value); });
}

Interval Predicted(const std::vector<double>& sample, double quantile) {
  const double mean = Mean(sample);
  const double half = quantile * Deviation(sample) * std::sqrt(1 + 1 / static_cast<double>(sample.size()));
  return {mean - half, mean + half};
}

Interval OfDifference(const std::vector<double>& sample, double quantile) {
  const double half = quantile * Deviation(sample) * std::numbers::sqrt2;
  return {-half, half};
}

std::vector<double> Without(const std::vector<double>& sample, size_t first, size_t count) {
  std::vector<double> rest(sample.begin(), sample.begin() + static_cast<ptrdiff_t>(first));
  rest.insert(rest.end(), sample.begin() + static_cast<ptrdiff_t>(first + count), sample.end());
  return rest;
}

}  // namespace

std::optional<double> Median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : values[half - 1] + (values[half] - values[half - 1]) / 2;
}

double StudentQuantile(double probability, size_t degrees) {
  if (probability < 0.5) return -StudentQuantile(1 - probability, degrees);
  // With t = sqrt(degrees) * tan(angle), the density becomes a power of the cosine.
  const double n = static_cast<double>(degrees);
  const double scale = std::exp(std::lgamma((n + 1) / 2) - std::lgamma(n / 2)) / std::sqrt(std::numbers::pi);
  const double angle = Root(0, std::numbers::pi / 2, [&](double candidate) {
    return scale * CosineIntegral(n - 1, candidate) - (probability - 0.5);
  });
  return std::sqrt(n) * std::tan(angle);
}

Interval BinomialInterval(size_t happened, size_t trials, double confidence) {
  const double tail = (1 - confidence) / 2;
  Interval interval{0, 1};
  if (happened > 0) {
    interval.low = Root(0, 1, [&](double p) { return UpperTail(happened, trials, p) - tail; });
  }
  if (happened < trials) {
    interval.high = Root(0, 1, [&](double p) { return UpperTail(happened + 1, trials, p) - (1 - tail); });
  }
  return interval;
}

std::optional<Interval> PredictionInterval(const std::vector<double>& sample, double confidence) {
  if (!Usable(sample)) return std::nullopt;
  return Predicted(sample, StudentQuantile((1 + confidence) / 2, sample.size() - 1));
}

std::optional<Interval> DifferenceInterval(const std::vector<double>& sample, double confidence) {
  if (!Usable(sample)) return std::nullopt;
  return OfDifference(sample, StudentQuantile((1 + confidence) / 2, sample.size() - 1));
}

Coverage LeaveOneOut(const std::vector<double>& sample, double confidence) {
  Coverage coverage;
  if (Usable(sample) && sample.size() > kFewest) {
    const double quantile = StudentQuantile((1 + confidence) / 2, sample.size() - 2);
    for (size_t i = 0; i < sample.size(); ++i) {
      ++coverage.trials;
      coverage.covered += Predicted(Without(sample, i, 1), quantile).Contains(sample[i]) ? 1 : 0;
    }
  }
  coverage.probability = BinomialInterval(coverage.covered, coverage.trials, confidence);
  return coverage;
}

Coverage LeavePairsOut(const std::vector<double>& sample, double confidence) {
  Coverage coverage;
  if (Usable(sample) && sample.size() > kFewest + 1) {
    const double quantile = StudentQuantile((1 + confidence) / 2, sample.size() - 3);
    for (size_t i = 0; i + 1 < sample.size(); i += 2) {
      ++coverage.trials;
      coverage.covered += OfDifference(Without(sample, i, 2), quantile).Contains(sample[i] - sample[i + 1]) ? 1 : 0;
    }
  }
  coverage.probability = BinomialInterval(coverage.covered, coverage.trials, confidence);
  return coverage;
}

}  // namespace heddle::tools
