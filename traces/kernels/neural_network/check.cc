// Both layers in double precision. The sums have a thousand terms of about 0.1; the hyperbolic tangent is flat where
// they are large: 1e-4.
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto pictures = check.Find<float>("pictures");
  const auto filters = check.Find<float>("filters");
  const auto weights = check.Find<float>("weights");
  const auto maps = check.Find<float>("maps");
  const auto outputs = check.Find<float>("outputs");
  const int length = 6 * 13 * 13;
  for (uint64_t p = 0; p < pictures.count / 784; ++p) {
    std::vector<double> map(length);
    for (int i = 0; i < length; ++i) {
      const float* filter = filters.before.Range(i / 169 * 26, 26);
      double sum = filter[25];
      for (int f = 0; f < 25; ++f) {
        const int x = 2 * (i % 13) + f % 5 - 1;
        const int y = 2 * (i / 13 % 13) + f / 5 - 1;
        if (x < 0 || y < 0 || x >= 28 || y >= 28) continue;
        sum += double{filter[f]} * pictures.before[p * 784 + static_cast<uint64_t>(28 * y + x)];
      }
      map[i] = sum > 0 ? sum : 0.1 * sum;
      const uint64_t at = p * length + static_cast<uint64_t>(i);
      if (!check.Near("maps", at, maps.after[at], map[i], 1e-5, 1)) return check.result();
    }
    for (uint64_t c = 0; c < 10; ++c) {
      double sum = 0;
      for (int i = 0; i < length; ++i) sum += weights.before[c * length + static_cast<uint64_t>(i)] * map[i];
      const double expected = 1.7159 * std::tanh(0.666667 * sum);
      if (!check.Near("outputs", p * 10 + c, outputs.after[p * 10 + c], expected, 1e-4, 1)) return check.result();
    }
  }
  return check.result();
}
