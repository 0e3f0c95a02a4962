// What the checks of attention share.
#ifndef HEDDLE_TRACES_KERNELS_CHECK_ATTENTION_H_
#define HEDDLE_TRACES_KERNELS_CHECK_ATTENTION_H_

#include <algorithm>
#include <vector>

#include "check_support.h"

namespace heddle::kernels {

// Attention row by row in double precision, of queries, keys and values that are multiples of 1/64. The buffer `shape`
// has the number of sequences, their length, and the width of a row. Scores are divided by the root of the width.
class AttentionCheck {
 public:
  // `weight_rounding`: the relative error of the weights of values, such as 2^-11 for those in half precision.
  AttentionCheck(Check& check, double weight_rounding)
      : check_(check),
        weight_rounding_(weight_rounding),
        queries_(check.Find<int8_t>("query_values")),
        keys_(check.Find<int8_t>("key_values")),
        values_(check.Find<int8_t>("value_values")) {
    const auto shape = check.Find<int32_t>("shape");
    if (shape.count != 3) {
      check.Fail("shape has %d elements, expected sequences, length and width", static_cast<int>(shape.count));
      return;
    }
    rows_ = static_cast<uint64_t>(shape.before[0]) * shape.before[1];
    length_ = shape.before[1];
    width_ = shape.before[2];
    const uint64_t count = rows_ * width_;
    if (queries_.count != count || keys_.count != count || values_.count != count) {
      check.Fail("the buffers do not have the shape that `shape` tells");
    }
  }

  // Whether the outputs are right, and `log(row)`, the natural logarithm of the sum of a row's exponentials. A row sees
  // all keys of its sequence, or if `causal` those up to its own place. The names are those of the buffers.
  template <typename Log>
  bool Right(bool causal, const char* outputs_name, const char* log_name, const Log& log) {
    const auto outputs = check_.Find<float>(outputs_name);
    if (outputs.count != rows_ * width_) {
      return check_.Fail("the buffers do not have the shape that `shape` tells") == 0;
    }
    for (uint64_t row = 0; row < rows_; ++row) {
      const Weights weights = WeightsOf(row, causal);
      if (!check_.Near(log_name, row, log(row), weights.log, weights.error, 1)) return false;
      for (uint64_t d = 0; d < width_; ++d) {
        double sum = 0;
        double magnitude = 0;
        for (uint64_t j = 0; j < weights.of_key.size(); ++j) {
          const double value = Value(values_, weights.first_key + j, d);
          sum += weights.of_key[j] * value;
          // The smallest weights of half precision have fewer digits.
          magnitude += (weights.of_key[j] + 0x1p-14) * std::fabs(value);
        }
        // Weights are off once in the numerator and once in the denominator; sums of n terms by n * 2^-23.
        const double tolerance = 2 * weights.error + weight_rounding_ + static_cast<double>(length_) * 0x1p-23;
        const uint64_t i = row * width_ + d;
        if (!check_.Near(outputs_name, i, outputs.after[i], sum, tolerance, magnitude)) return false;
      }
    }
    return true;
  }

 private:
  struct Weights {
    uint64_t first_key = 0;
    std::vector<double> of_key;  // their sum is 1
    double log = 0;
    double error = 0;  // of a weight, relative; of the logarithm, absolute
  };

  double Value(const Buffer<int8_t>& buffer, uint64_t row, uint64_t d) const {
    return buffer.before[row * width_ + d] / 64.0;
  }

  Weights WeightsOf(uint64_t row, bool causal) const {
    Weights weights;
    weights.first_key = row / length_ * length_;
    const uint64_t keys = causal ? row % length_ + 1 : length_;
    double maximum = -1e300;
    double magnitude = 0;
    for (uint64_t j = 0; j < keys; ++j) {
      double score = 0;
      double terms = 0;
      for (uint64_t d = 0; d < width_; ++d) {
        const double product = Value(queries_, row, d) * Value(keys_, weights.first_key + j, d);
        score += product;
        terms += std::fabs(product);
      }
      const double root = std::sqrt(static_cast<double>(width_));
      weights.of_key.push_back(score / root);
      maximum = std::max(maximum, score / root);
      magnitude = std::max(magnitude, terms / root);
    }
    double sum = 0;
    for (double& weight : weights.of_key) sum += weight = std::exp(weight - maximum);
    for (double& weight : weights.of_key) weight /= sum;
    weights.log = maximum + std::log(sum);
    // A score of n terms is off by n * 2^-23 of their magnitudes, which is the relative error of its exponential; so is
    // the rounding of what is scaled and subtracted. The exponential itself is good to some 2^-21.
    weights.error = static_cast<double>(width_ + 4) * 0x1p-23 * magnitude + 0x1p-20;
    return weights;
  }

  Check& check_;
  double weight_rounding_;
  Buffer<int8_t> queries_;
  Buffer<int8_t> keys_;
  Buffer<int8_t> values_;
  uint64_t rows_ = 0;
  uint64_t length_ = 0;
  uint64_t width_ = 0;
};

}  // namespace heddle::kernels

#endif  // HEDDLE_TRACES_KERNELS_CHECK_ATTENTION_H_
