// Both formulas in double precision. The coefficient divides differences of neighbours: 1e-4; it enters the result
// weakly: 1e-5.
#include <algorithm>
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto image = check.Find<float>("image");
  const auto coefficient = check.Find<float>("coefficient");
  const auto result = check.Find<float>("result");
  const auto shape = check.Find<int32_t>("shape");
  const int w = shape.before[0];
  const int h = shape.before[1];
  std::vector<double> c(image.count);
  const auto at = [&](int x, int y) -> double {
    return image.before[std::clamp(y, 0, h - 1) * w + std::clamp(x, 0, w - 1)];
  };
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      const double here = at(x, y);
      double squares = 0;
      double sum = 0;
      for (const double other : {at(x - 1, y), at(x + 1, y), at(x, y - 1), at(x, y + 1)}) {
        squares += (other - here) * (other - here) / (here * here);
        sum += (other - here) / here;
      }
      const double q = (squares / 2 - sum * sum / 16) / std::pow(1 + sum / 4, 2);
      c[y * w + x] = std::clamp(1 / (1 + (q - 0.05) / (0.05 * 1.05)), 0.0, 1.0);
      const uint64_t i = static_cast<uint64_t>(y * w + x);
      if (!check.Near("coefficient", i, coefficient.after[i], c[i], 1e-4, 1)) return check.result();
    }
  }
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      const uint64_t i = static_cast<uint64_t>(y * w + x);
      const double here = at(x, y);
      // Beyond the border there is no difference to flow along.
      const double flow = c[i] * (at(x, y - 1) + at(x - 1, y) - 2 * here) +
                          c[std::min(y + 1, h - 1) * w + x] * (at(x, y + 1) - here) +
                          c[y * w + std::min(x + 1, w - 1)] * (at(x + 1, y) - here);
      if (!check.Near("result", i, result.after[i], here + 0.025 * flow, 1e-5, 2)) return check.result();
    }
  }
  return check.result();
}
