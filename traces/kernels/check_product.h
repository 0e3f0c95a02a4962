// What the checks of products of matrices share.
#ifndef HEDDLE_TRACES_KERNELS_CHECK_PRODUCT_H_
#define HEDDLE_TRACES_KERNELS_CHECK_PRODUCT_H_

#include "check_support.h"

namespace heddle::kernels {

// The textbook product in double precision: `result` = left * right * unit^2, row-major, of the shape (rows, inner,
// columns) that the buffer `shape` has. Each term may be off by `rounding` of the sum of magnitudes so far, in whatever
// order they are added. The return value is that of heddle_check.
template <typename T>
int CheckProduct(Check& check, const Buffer<T>& left, const Buffer<T>& right, double unit, double rounding) {
  const auto result = check.Find<float>("result");
  const auto shape = check.Find<int32_t>("shape");
  if (shape.count != 3) {
    return check.Fail("shape has %d elements, expected rows, inner and columns", static_cast<int>(shape.count));
  }
  const uint64_t rows = shape.before[0];
  const uint64_t inner = shape.before[1];
  const uint64_t columns = shape.before[2];
  if (left.count != rows * inner || right.count != inner * columns || result.count != rows * columns) {
    return check.Fail("the buffers do not have the shape that `shape` tells");
  }
  for (uint64_t row = 0; row < rows; ++row) {
    for (uint64_t column = 0; column < columns; ++column) {
      double sum = 0;
      double magnitude = 0;
      for (uint64_t k = 0; k < inner; ++k) {
        const double product = unit * left.before[row * inner + k] * unit * right.before[k * columns + column];
        sum += product;
        magnitude += std::fabs(product);
      }
      const double tolerance = static_cast<double>(inner) * rounding;
      const uint64_t i = row * columns + column;
      if (!check.Near("result", i, result.after[i], sum, tolerance, magnitude)) return check.result();
    }
  }
  return check.result();
}

}  // namespace heddle::kernels

#endif  // HEDDLE_TRACES_KERNELS_CHECK_PRODUCT_H_
