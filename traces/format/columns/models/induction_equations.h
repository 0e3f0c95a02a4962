// Strides of counters from differences of addresses.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_INDUCTION_EQUATIONS_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_INDUCTION_EQUATIONS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace heddle::trace {

// Equations that the strides of counters have to fulfil, brought to such a form that each has an unknown of its own.
class InductionEquations {
 public:
  explicit InductionEquations(size_t unknowns) : unknowns_(unknowns) {}
  bool solved() const { return rows_.size() == unknowns_; }
  size_t count() const { return count_; }

  // Sum over i of left[i] * unknown[i] = right; false if that contradicts the equations so far.
  bool Add(std::span<const int64_t> left, int64_t right) {
    ++count_;
    std::vector<double>& row = scratch_;
    row.assign(left.begin(), left.end());
    row.push_back(static_cast<double>(right));
    for (const Row& known : rows_) Subtract(known, row);
    const auto own = std::find_if(row.begin(), row.end() - 1, [](double x) { return std::abs(x) > kSmall; });
    if (own == row.end() - 1)
      return std::abs(row.back()) <= kSmall * std::max(1.0, std::abs(static_cast<double>(right)));
    const double factor = 1 / *own;
    Row added{static_cast<size_t>(own - row.begin()), row};
    for (double& x : added.values) x *= factor;
    for (Row& known : rows_) Subtract(added, known.values);
    rows_.push_back(std::move(added));
    return true;
  }

  // An unknown that others can stand for is 0.
  double Solution(size_t unknown) const {
    for (const Row& row : rows_) {
      if (row.own != unknown) continue;
      const double nearest = std::round(row.values.back());
      return std::abs(row.values.back() - nearest) <= kSmall * std::max(1.0, std::abs(nearest)) ? nearest
                                                                                                : row.values.back();
    }
    return 0;
  }

 private:
  static constexpr double kSmall = 1e-7;  // coefficients are differences of counts, addresses have 48 bits
  struct Row {
    size_t own = 0;  // unknown; 1 here, 0 in all other rows
    std::vector<double> values;
  };
  static void Subtract(const Row& known, std::vector<double>& from) {
    const double factor = from[known.own];
    if (factor == 0) return;
    for (size_t i = 0; i < from.size(); ++i) from[i] -= factor * known.values[i];
  }

  const size_t unknowns_;
  size_t count_ = 0;
  std::vector<Row> rows_;
  std::vector<double> scratch_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_INDUCTION_EQUATIONS_H_
