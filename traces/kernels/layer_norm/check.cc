// The same in double precision. A thread adds up some ten numbers and a warp 32 sums, so that mean and deviation are
// off by about 20 * 2^-24 of elements of magnitude 4; results have magnitude 10: 1e-5 of that is enough.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto input = check.Find<float>("input");
  const auto weight = check.Find<float>("weight");
  const auto bias = check.Find<float>("bias");
  const auto output = check.Find<float>("output");
  const auto means = check.Find<float>("means");
  const auto scales = check.Find<float>("scales");
  const uint64_t columns = weight.count;
  if (input.count != means.count * columns || output.count != input.count || scales.count != means.count ||
      bias.count != columns) {
    return check.Fail("input and output must have a row of weights' length for every mean");
  }
  for (uint64_t row = 0; row < means.count; ++row) {
    const float* x = input.before.Range(row * columns, columns);
    double mean = 0;
    for (uint64_t i = 0; i < columns; ++i) mean += x[i];
    mean /= static_cast<double>(columns);
    double variance = 0;
    for (uint64_t i = 0; i < columns; ++i) variance += (x[i] - mean) * (x[i] - mean);
    variance /= static_cast<double>(columns);
    const double scale = 1 / std::sqrt(variance + 1e-5);
    if (!check.Near("means", row, means.after[row], mean, 1e-5, 1)) return check.result();
    if (!check.Near("scales", row, scales.after[row], scale, 1e-5, scale)) return check.result();
    for (uint64_t i = 0; i < columns; ++i) {
      const double expected = (x[i] - mean) * scale * weight.before[i] + bias.before[i];
      if (!check.Near("output", row * columns + i, output.after[row * columns + i], expected, 1e-5, 10))
        return check.result();
    }
  }
  return check.result();
}
