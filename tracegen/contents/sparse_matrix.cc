#include "tracegen/contents/sparse_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "traces/base/random.h"

namespace heddle::contents {
namespace {

void Shuffle(std::vector<uint64_t>& values, Random& random) {
  for (uint64_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.Below(i)]);
}

uint64_t Columns(const Csr& shape) { return shape.columns == 0 ? shape.rows : shape.columns; }
uint64_t Limit(const Csr& shape) {
  return shape.max_degree == 0 ? Columns(shape) : std::min(shape.max_degree, Columns(shape));
}
uint64_t Total(const Csr& shape) {
  const auto total = static_cast<uint64_t>(std::llround(static_cast<double>(shape.rows) * shape.mean_degree));
  return std::min(total, shape.rows * Limit(shape));
}

std::vector<uint64_t> EqualRowLengths(const Csr& shape) {
  std::vector<uint64_t> lengths(shape.rows);
  const uint64_t total = Total(shape);
  for (uint64_t i = 0; i < shape.rows; ++i) lengths[i] = total / shape.rows + (i < total % shape.rows ? 1 : 0);
  return lengths;
}

bool LengthsFit(const Csr& shape) {
  uint64_t sum = 0;
  for (const uint64_t length : shape.lengths) {
    if (length > Limit(shape)) return false;
    sum += length;
  }
  return shape.lengths.size() == shape.rows && sum == Total(shape);
}

void PickColumns(uint64_t length, uint64_t columns, Random& random, std::vector<uint64_t>& out) {
  size_t first = out.size();
  if (length * 4 > columns) {
    // Dense rows: take each column with the probability that leaves the right number (Knuth, Algorithm 3.4.2 S).
    uint64_t wanted = length;
    for (uint64_t c = 0; c < columns && wanted > 0; ++c) {
      if (random.Below(columns - c) < wanted) {
        out.push_back(c);
        --wanted;
      }
    }
    return;
  }
  while (out.size() - first < length) {
    for (uint64_t missing = length - (out.size() - first); missing > 0; --missing) out.push_back(random.Below(columns));
    auto begin = out.begin() + static_cast<ptrdiff_t>(first);
    std::sort(begin, out.end());
    out.erase(std::unique(begin, out.end()), out.end());
  }
}

}  // namespace

std::vector<uint64_t> SkewedRowLengths(const Csr& shape, const Functions& functions) {
  const uint64_t rows = shape.rows;
  const uint64_t total = Total(shape);
  const uint64_t limit = Limit(shape);
  std::vector<uint64_t> lengths(rows, 0);
  std::vector<double> weights(rows);
  for (uint64_t i = 0; i < rows; ++i) weights[i] = functions.pow(static_cast<double>(i + 1), -shape.skew);
  // The factor for which the clipped lengths add up to the total, by bisection.
  double low = 0;
  double high = static_cast<double>(limit) / weights.back();
  auto sum = [&](double factor) {
    double all = 0;
    for (double weight : weights) all += std::min(static_cast<double>(limit), factor * weight);
    return all;
  };
  for (int step = 0; step < 200; ++step) {
    double middle = (low + high) / 2;
    (sum(middle) < static_cast<double>(total) ? low : high) = middle;
  }
  uint64_t used = 0;
  for (uint64_t i = 0; i < rows; ++i) {
    lengths[i] = std::min(limit, static_cast<uint64_t>(low * weights[i]));
    used += lengths[i];
  }
  // What rounding down has left over goes to the shorter rows, evenly.
  for (uint64_t i = rows; used < total;) {
    i = i == 0 ? rows - 1 : i - 1;
    if (lengths[i] < limit) {
      ++lengths[i];
      ++used;
    }
  }
  for (uint64_t i = 0; used > total; i = (i + 1) % rows) {
    if (lengths[i] > 0) {
      --lengths[i];
      --used;
    }
  }
  return lengths;
}

std::string MakeSparseMatrix(const Csr& shape, const Functions& functions, SparseMatrix* result) {
  if (shape.rows == 0) return "csr: rows must be above 0";
  if (!(shape.mean_degree >= 0) || shape.mean_degree > static_cast<double>(Limit(shape))) {
    char degree[40];
    std::snprintf(degree, sizeof(degree), "%g", shape.mean_degree);
    return std::string("csr: mean_degree ") + degree + " must be between 0 and the largest degree, " +
           std::to_string(Limit(shape));
  }
  if (!(shape.skew >= 0)) return "csr: skew must not be negative";
  if (static_cast<double>(shape.rows) * shape.mean_degree > 4e9) return "csr: more than 4e9 elements";
  std::vector<uint64_t> lengths;
  if (!shape.lengths.empty()) {
    if (!LengthsFit(shape)) return "csr: the lengths of the rows are of another shape";
    lengths = shape.lengths;
  } else if (shape.skew > 0) {
    if (functions.pow == nullptr) return "csr: a skew cannot be made here";
    lengths = SkewedRowLengths(shape, functions);
  } else {
    lengths = EqualRowLengths(shape);
  }
  Random random(shape.seed);
  Shuffle(lengths, random);
  SparseMatrix matrix;
  matrix.row_pointers.reserve(shape.rows + 1);
  matrix.row_pointers.push_back(0);
  matrix.column_indices.reserve(Total(shape));
  for (uint64_t length : lengths) {
    PickColumns(length, Columns(shape), random, matrix.column_indices);
    matrix.row_pointers.push_back(matrix.column_indices.size());
  }
  *result = std::move(matrix);
  return "";
}

}  // namespace heddle::contents
