#include "traces/format/columns/column_model.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "traces/base/varint.h"

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

int64_t Difference(uint64_t a, uint64_t b) { return static_cast<int64_t>(a - b); }

void TimeSample(const ColumnView& column, std::vector<int64_t>& out) {
  constexpr size_t kMost = 1024;
  constexpr size_t kPerThread = 64;
  const size_t stride = column.threads() / (kMost / kPerThread * 4) + 1;
  for (size_t t = 0; t < column.threads() && out.size() < kMost; t += stride) {
    const std::span<const uint64_t> values = column.of(t);
    for (size_t k = 1; k < values.size() && k <= kPerThread; ++k) out.push_back(Difference(values[k], values[k - 1]));
  }
}

}  // namespace

int64_t FindSeparable(const ColumnView& column) {
  size_t longest = 0;
  for (size_t t = 1; t < column.threads(); ++t) {
    if (column.of(t).size() > column.of(longest).size()) longest = t;
  }
  const std::span<const uint64_t> model = column.of(longest);
  if (model.size() > 1) {
    for (size_t t = 0; t < column.threads(); ++t) {
      const std::span<const uint64_t> values = column.of(t);
      const uint64_t difference = values[0] - model[0];
      uint64_t wrong = 0;
      for (size_t k = 1; k < values.size(); ++k) wrong |= (values[k] - model[k]) ^ difference;
      if (wrong != 0) return -1;
    }
  }
  return static_cast<int64_t>(longest);
}

bool HasCheapBases(const ColumnView& column) { return BaseBits(column) <= static_cast<double>(column.threads()) + 64; }

bool HasCheapBases(std::span<const uint64_t> bases) {
  return BaseBits(bases) <= static_cast<double>(bases.size()) + 64;
}

bool HasNearlyFreeBases(const ColumnView& column) {
  constexpr double kBitsPerAccess = 0.25;
  return BaseBits(column) <= kBitsPerAccess * static_cast<double>(column.values.size());
}

namespace {

// Calls `see` with the second differences of `base(t)` over the threads.
template <typename Base, typename See>
void ForSecondDifferences(size_t threads, const Base& base, const See& see) {
  uint64_t previous = 0;
  uint64_t delta = 0;
  for (size_t t = 0; t < threads; ++t) {
    const uint64_t value = base(t);
    see(static_cast<int64_t>(value - previous - delta));
    delta = value - previous;
    previous = value;
  }
}

template <typename Base>
double BaseBitsOf(size_t threads, const Base& base) {
  double bits = 0;
  ForSecondDifferences(threads, base,
                       [&](int64_t second) { bits += second == 0 ? kZeroBits : 3.0 + std::bit_width(ZigZag(second)); });
  return bits;
}

template <typename Base>
void StoreBasesOf(size_t threads, const Base& base, v1::AddressColumn& out) {
  out.mutable_base_dd()->Reserve(static_cast<int>(threads));
  ForSecondDifferences(threads, base, [&](int64_t second) { out.mutable_base_dd()->AddAlreadyReserved(second); });
}

}  // namespace

double BaseBits(const ColumnView& column) {
  return BaseBitsOf(column.threads(), [&](size_t t) { return column.values[column.starts[t]]; });
}

double BaseBits(std::span<const uint64_t> bases) {
  return BaseBitsOf(bases.size(), [&](size_t t) { return bases[t]; });
}

double ChooseModel(const ColumnView& column, bool separable, const ColumnSample& sample, ModelChoice& choice) {
  const double base_bits = BaseBits(column);
  double best;
  if (separable) {
    choice.model = v1::AddressColumn::SEPARABLE;
    choice.bias = 0;
    best = base_bits;
    if (HasCheapBases(column)) return best;
  } else {
    std::vector<int64_t> residuals;
    TimeSample(column, residuals);
    choice.model = v1::AddressColumn::TIME;
    best =
        base_bits + CostWithBias(residuals, choice.bias) * static_cast<double>(column.values.size() - column.threads());
  }
  if (sample.values.empty()) return best;
  const size_t references = sample.references.size();
  const double count = static_cast<double>(column.values.size());
  std::vector<int64_t> residuals;
  const auto residuals_for = [&](size_t r, int32_t shift, size_t most) {
    residuals.clear();
    const size_t n = std::min(most, sample.values.size());
    // Spread over the whole sample, so that the short look is not the first thread alone.
    for (size_t i = 0; i < n; ++i) {
      const size_t at = i * sample.values.size() / n;
      residuals.push_back(Difference(sample.values[at], Shifted(sample.latest[at * references + r], shift)));
    }
  };
  // A shift by -63 makes a prediction of 0 of every ordinary address: residuals then count from the bias alone, which
  // is the best one can do for a column scattered over an array.
  for (size_t r = 0; r < references; ++r) {
    for (int32_t shift : {0, 2, -2, 1, -1, 3, -3, -63}) {
      if (shift == -63 && r > 0) continue;
      constexpr size_t kShortLook = 64;
      int64_t bias = 0;
      residuals_for(r, shift, kShortLook);
      if (CostWithBias(residuals, bias) * count > 1.2 * best) continue;
      residuals_for(r, shift, sample.values.size());
      const double cost = CostWithBias(residuals, bias) * count;
      if (cost < 0.95 * best) {
        best = cost;
        choice.model = v1::AddressColumn::RELATIVE;
        choice.reference = sample.references[r];
        choice.shift = shift;
        choice.bias = bias;
      }
    }
  }
  return best;
}

void TimeResiduals(const ColumnView& column, int64_t bias, std::vector<int64_t>& out) {
  out.resize(column.values.size() - column.threads());
  int64_t* next = out.data();
  for (size_t t = 0; t < column.threads(); ++t) {
    const std::span<const uint64_t> values = column.of(t);
    for (size_t k = 1; k < values.size(); ++k) {
      *next++ = static_cast<int64_t>(values[k] - values[k - 1] - static_cast<uint64_t>(bias));
    }
  }
}

void StoreBases(const ColumnView& column, v1::AddressColumn& out) {
  StoreBasesOf(column.threads(), [&](size_t t) { return column.values[column.starts[t]]; }, out);
}

void StoreBases(std::span<const uint64_t> bases, v1::AddressColumn& out) {
  StoreBasesOf(bases.size(), [&](size_t t) { return bases[t]; }, out);
}

void StoreSteps(std::span<const uint64_t> longest, v1::AddressColumn& out) {
  out.mutable_step_dd()->Reserve(static_cast<int>(longest.size()));
  uint64_t delta = 0;
  for (size_t k = 1; k < longest.size(); ++k) {
    const uint64_t step = longest[k] - longest[k - 1];
    out.mutable_step_dd()->AddAlreadyReserved(static_cast<int64_t>(step - delta));
    delta = step;
  }
}

void StoreTerms(std::span<const InductionTerm> terms, v1::AddressColumn& out) {
  if (terms.empty()) return;
  out.set_counted_block(terms[0].counter.counted_block);
  out.set_reset_block(terms[0].counter.reset_block);
  out.set_stride(terms[0].stride);
  for (const InductionTerm& term : terms.subspan(1)) {
    v1::InductionTerm& further = *out.add_further_term();
    further.set_counted_block(term.counter.counted_block);
    further.set_reset_block(term.counter.reset_block);
    further.set_stride(term.stride);
  }
}

}  // namespace heddle::trace
