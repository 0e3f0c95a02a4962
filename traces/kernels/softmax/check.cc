// Two passes in double precision: the maximum, then the sum of exponentials. An exponential of a number x in single
// precision is off by about |x| 2^-24 (its argument is rounded), here at most 20 * 6e-8; the sum has positive terms
// only. So 1e-5 of each result is enough.
#include "../check_support.h"

namespace {

bool CheckRows(heddle::kernels::Check& check, const char* input_name, const char* output_name, uint64_t columns) {
  const auto input = check.Find<float>(input_name);
  const auto output = check.Find<float>(output_name);
  if (columns == 0 || input.count % columns != 0 || input.count != output.count) {
    check.Fail("%s and %s must be whole rows", input_name, output_name);
    return false;
  }
  for (uint64_t row = 0; row < input.count; row += columns) {
    double greatest = input.before[row];
    for (uint64_t i = 1; i < columns; ++i) greatest = std::fmax(greatest, input.before[row + i]);
    double sum = 0;
    for (uint64_t i = 0; i < columns; ++i) sum += std::exp(input.before[row + i] - greatest);
    for (uint64_t i = row; i < row + columns; ++i) {
      const double expected = std::exp(input.before[i] - greatest) / sum;
      if (!check.Near(output_name, i, output.after[i], expected, 1e-5, expected)) return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto columns = check.Find<int32_t>("columns");
  if (columns.count != 2) return check.Fail("columns must be those of short and of long rows");
  if (CheckRows(check, "short_rows", "short_output", static_cast<uint64_t>(columns.before[0])))
    CheckRows(check, "long_rows", "long_output", static_cast<uint64_t>(columns.before[1]));
  return check.result();
}
