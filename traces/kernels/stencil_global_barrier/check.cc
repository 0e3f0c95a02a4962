// All steps over the whole field, in double precision; means of numbers below 10 keep six digits over a few steps.
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto first = check.Find<float>("first");
  const auto second = check.Find<float>("second");
  const auto shape = check.Find<int32_t>("shape");  // width, height, steps
  const int width = shape.before[0];
  const int height = shape.before[1];
  const int steps = shape.before[2];
  if (first.count != static_cast<uint64_t>(width) * static_cast<uint64_t>(height)) {
    return check.Fail("shape is not the field's");
  }
  std::vector<double> now(first.before.begin(), first.before.end());
  std::vector<double> last;
  for (int step = 0; step < steps; ++step) {
    last = now;
    const auto at = [&](int x, int y) {
      const int nearest_x = x < 0 ? 0 : x < width ? x : width - 1;
      const int nearest_y = y < 0 ? 0 : y < height ? y : height - 1;
      return last[static_cast<size_t>(nearest_y * width + nearest_x)];
    };
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        now[static_cast<size_t>(y * width + x)] =
            0.5 * at(x, y) + 0.125 * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1));
      }
    }
  }
  // The last step wrote one of the two, the step before it the other.
  const bool odd = steps % 2 == 1;
  for (uint64_t i = 0; i < now.size(); ++i) {
    if (!check.Near("first", i, first.after[i], odd ? last[i] : now[i], 1e-6, 10)) return check.result();
    if (!check.Near("second", i, second.after[i], odd ? now[i] : last[i], 1e-6, 10)) return check.result();
  }
  return check.result();
}
