#include "traces/format/columns/models/costs.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "traces/base/varint.h"
#include "traces/format/columns/models/bases.h"

namespace heddle::trace {
namespace {

// What Zstandard leaves of a zero among other values, in bits.
constexpr double kZeroBits = 0.1;

}  // namespace

double CostOf(std::span<const int64_t> sorted) {
  uint64_t any = 0;
  for (int64_t r : sorted) any |= static_cast<uint64_t>(r);
  if (any == 0) return kZeroBits / 8;
  const int shift = std::countr_zero(any);
  const bool has_sign = sorted.front() < 0;
  double magnitude = 0;
  double entropy = 0;
  const double n = static_cast<double>(sorted.size());
  for (size_t i = 0; i < sorted.size();) {
    size_t j = i;
    while (j < sorted.size() && sorted[j] == sorted[i]) ++j;
    const double run = static_cast<double>(j - i);
    const int64_t value = sorted[i] >> shift;
    const uint64_t number = has_sign ? ZigZag(value) : static_cast<uint64_t>(value);
    const double bits = number == 0 ? kZeroBits : 2.0 + std::bit_width(number);
    magnitude += run * bits;
    entropy += run * std::log2(n / run) + bits;
    i = j;
  }
  return std::min(magnitude, entropy) / n;
}

namespace {

// Sorts `residuals` and returns the value that occurs most often (the lowest of several).
int64_t Mode(std::vector<int64_t>& residuals) {
  std::sort(residuals.begin(), residuals.end());
  int64_t mode = 0;
  size_t best = 0;
  for (size_t i = 0; i < residuals.size();) {
    size_t j = i;
    while (j < residuals.size() && residuals[j] == residuals[i]) ++j;
    if (j - i > best) {
      best = j - i;
      mode = residuals[i];
    }
    i = j;
  }
  return mode;
}

}  // namespace

double CostWithBias(std::vector<int64_t>& residuals, int64_t& bias) {
  if (residuals.empty()) return 0;
  const int64_t mode = Mode(residuals);
  const int64_t lowest = residuals.front();
  std::vector<int64_t> moved(residuals);
  const auto cost_at = [&](int64_t candidate) {
    for (size_t i = 0; i < moved.size(); ++i) {
      moved[i] = static_cast<int64_t>(static_cast<uint64_t>(residuals[i]) - static_cast<uint64_t>(candidate));
    }
    // Differences wrap modulo 2^64, so the order may have changed.
    if (!std::is_sorted(moved.begin(), moved.end())) std::sort(moved.begin(), moved.end());
    return CostOf(moved);
  };
  const double mode_cost = cost_at(mode);
  const double lowest_cost = cost_at(lowest);
  // The lowest of a sample may miss that of all, so it need not be much better.
  constexpr double kSign = 0.95;
  const bool use_mode = mode_cost < kSign * lowest_cost;
  bias = use_mode ? mode : lowest;
  return use_mode ? mode_cost : lowest_cost;
}

namespace {

template <typename Base>
double BaseBitsOf(size_t threads, const Base& base) {
  double bits = 0;
  ForSecondDifferences(threads, base,
                       [&](int64_t second) { bits += second == 0 ? kZeroBits : 3.0 + std::bit_width(ZigZag(second)); });
  return bits;
}

}  // namespace

double BaseBits(const ColumnView& column) {
  return BaseBitsOf(column.threads(), [&](size_t t) { return column.values[column.starts[t]]; });
}

double BaseBits(std::span<const uint64_t> bases) {
  return BaseBitsOf(bases.size(), [&](size_t t) { return bases[t]; });
}

bool HasCheapBases(const ColumnView& column) { return BaseBits(column) <= static_cast<double>(column.threads()) + 64; }

bool HasCheapBases(std::span<const uint64_t> bases) {
  return BaseBits(bases) <= static_cast<double>(bases.size()) + 64;
}

bool HasNearlyFreeBases(const ColumnView& column) {
  constexpr double kBitsPerAccess = 0.25;
  return BaseBits(column) <= kBitsPerAccess * static_cast<double>(column.values.size());
}

}  // namespace heddle::trace
