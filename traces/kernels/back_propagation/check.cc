// Plain sums in double precision. A partial sum has 16 products, a new weight three operations: 1e-6 of the magnitudes
// involved covers single precision.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto inputs = check.Find<float>("inputs");
  const auto delta = check.Find<float>("delta");
  const auto weights = check.Find<float>("weights");
  const auto change = check.Find<float>("change");
  const auto partial = check.Find<float>("partial");
  const uint64_t hidden = delta.count;
  if (weights.count != inputs.count * hidden || change.count != weights.count || partial.count * 16 != weights.count) {
    return check.Fail("the sizes of the buffers do not fit together");
  }
  for (uint64_t i = 0; i < partial.count; ++i) {
    double sum = 0;
    double scale = 0;
    for (uint64_t y = 0; y < 16; ++y) {
      const uint64_t row = i / hidden * 16 + y;
      const double product = double{inputs.before[row]} * weights.before[row * hidden + i % hidden];
      sum += product;
      scale += std::fabs(product);
    }
    if (!check.Near("partial", i, partial.after[i], sum, 1e-6, scale + 1e-30)) return check.result();
  }
  for (uint64_t i = 0; i < weights.count; ++i) {
    const double step = 0.3 * delta.before[i % hidden] * inputs.before[i / hidden] + 0.3 * change.before[i];
    if (!check.Near("change", i, change.after[i], step, 1e-6, 1)) return check.result();
    if (!check.Near("weights", i, weights.after[i], weights.before[i] + step, 1e-6, 2)) return check.result();
  }
  return check.result();
}
