// The product row by row in double precision.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto rows = check.Find<int32_t>("row_pointers");
  const auto columns = check.Find<int32_t>("columns");
  const auto values = check.Find<float>("values");
  const auto x = check.Find<float>("x");
  const auto y = check.Find<float>("y");
  if (rows.count != y.count + 1) return check.Fail("row_pointers must have one element more than y");
  for (uint64_t row = 0; row < y.count && !check.failed(); ++row) {
    double sum = 0;
    double magnitude = 0;
    for (int32_t i = rows.before[row]; i < rows.before[row + 1]; ++i) {
      const double product = static_cast<double>(values.before[i]) * x.before[columns.before[i]];
      sum += product;
      magnitude += std::fabs(product);
    }
    const double terms = rows.before[row + 1] - rows.before[row];
    check.Near("y", row, y.after[row], sum, terms * 6e-8, magnitude);
  }
  return check.result();
}
