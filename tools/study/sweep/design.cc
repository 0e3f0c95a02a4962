#include "tools/study/sweep/design.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace heddle::tools::sweep {
namespace {

bool IsPrime(size_t n) {
  if (n < 2) return false;
  for (size_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return true;
}

// Signs of a design with `runs` runs and runs - 1 columns; empty if no construction goes.
DesignRows SquareDesign(size_t runs) {
  if (runs == 2) return {{1}, {0}};
  if (runs % 4 != 0) return {};
  const size_t prime = runs - 1;  // 3 modulo 4, so that of a number and its negative one is a quadratic residue
  if (IsPrime(prime)) {
    std::vector<bool> high(prime, false);
    for (size_t i = 0; i < prime; ++i) high[i * i % prime] = true;  // with 0
    DesignRows rows(runs, std::vector<size_t>(prime, 0));
    for (size_t row = 0; row < prime; ++row) {
      for (size_t column = 0; column < prime; ++column) rows[row][column] = high[(row + prime - column) % prime];
    }
    return rows;
  }
  // Sylvester: the half design H with a column of ones makes (H H; H -H).
  const DesignRows half = SquareDesign(runs / 2);
  if (half.empty()) return {};
  DesignRows rows;
  for (const size_t sign : {1, 0}) {
    for (const std::vector<size_t>& row : half) {
      std::vector<size_t> doubled = row;
      doubled.push_back(sign);
      for (const size_t level : row) doubled.push_back(sign == 1 ? level : 1 - level);
      rows.push_back(std::move(doubled));
    }
  }
  return rows;
}

}  // namespace

DesignRows FullFactorial(std::span<const size_t> levels) {
  DesignRows rows = {{}};
  for (const size_t count : levels) {
    DesignRows longer;
    longer.reserve(rows.size() * count);
    for (const std::vector<size_t>& row : rows) {
      for (size_t level = 0; level < count; ++level) {
        longer.push_back(row);
        longer.back().push_back(level);
      }
    }
    rows = std::move(longer);
  }
  return rows;
}

absl::StatusOr<DesignRows> Paired(std::span<const size_t> levels) {
  size_t length = 1;
  for (const size_t count : levels) length = std::max(length, count);
  DesignRows rows(length, std::vector<size_t>(levels.size(), 0));
  for (size_t factor = 0; factor < levels.size(); ++factor) {
    if (levels[factor] == 1) continue;
    if (levels[factor] != length) {
      return absl::InvalidArgumentError(
          absl::StrCat("PAIRED takes the values of all parameters side by side, but parameter ", factor + 1, " has ",
                       levels[factor], " values and another ", length));
    }
    for (size_t row = 0; row < length; ++row) rows[row][factor] = row;
  }
  return rows;
}

DesignRows PlackettBurman(size_t factors) {
  size_t runs = (factors + 1 + 3) / 4 * 4;
  DesignRows rows;
  while ((rows = SquareDesign(runs)).empty()) runs += 4;
  for (std::vector<size_t>& row : rows) row.resize(factors);
  return rows;
}

DesignRows WithFoldover(DesignRows rows) {
  const size_t runs = rows.size();
  for (size_t i = 0; i < runs; ++i) {
    std::vector<size_t> mirror = rows[i];
    for (size_t& level : mirror) level = 1 - level;
    rows.push_back(std::move(mirror));
  }
  return rows;
}

std::vector<double> Effects(const DesignRows& rows, std::span<const double> responses) {
  std::vector<double> effects(rows.empty() ? 0 : rows.front().size(), 0.0);
  for (size_t factor = 0; factor < effects.size(); ++factor) {
    double sum = 0;
    for (size_t run = 0; run < rows.size(); ++run) sum += rows[run][factor] == 1 ? responses[run] : -responses[run];
    effects[factor] = sum / (static_cast<double>(rows.size()) / 2);
  }
  return effects;
}

}  // namespace heddle::tools::sweep
