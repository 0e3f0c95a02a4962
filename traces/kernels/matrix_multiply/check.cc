// The textbook product in double precision. The shape is in the buffer `shape`: rows, inner, columns.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto left = check.Find<float>("left");
  const auto right = check.Find<float>("right");
  const auto result = check.Find<float>("result");
  const auto shape = check.Find<int32_t>("shape");
  if (check.failed()) return check.result();
  if (shape.count != 3)
    return check.Fail("shape has %d elements, expected rows, inner and columns", static_cast<int>(shape.count));
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
        const double product = static_cast<double>(left.before[row * inner + k]) * right.before[k * columns + column];
        sum += product;
        magnitude += std::fabs(product);
      }
      // A sum of n rounded terms is off by at most about n * 2^-24 of the sum of magnitudes.
      const double tolerance = static_cast<double>(inner) * 6e-8;
      const uint64_t i = row * columns + column;
      if (!check.Near("result", i, result.after[i], sum, tolerance, magnitude)) return check.result();
    }
  }
  return check.result();
}
