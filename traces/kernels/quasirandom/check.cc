// The sequence bit by bit, exactly; the normal numbers by asking the distribution function for the number they came
// from. The polynomials' large terms cancel in single precision, most of all between middle and tails: 2e-3 of what is
// left of the distribution there.
#include <algorithm>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto directions = check.Find<uint32_t>("directions");
  const auto numbers = check.Find<float>("numbers");
  const auto values = check.Find<float>("values");
  const uint64_t dimensions = directions.count / 31;
  const uint64_t per_dimension = numbers.count / dimensions;
  for (uint64_t i = 0; i < numbers.count; ++i) {
    uint32_t value = 0;
    for (uint64_t bit = 0; bit < 31; ++bit) {
      if ((i % per_dimension >> bit & 1) != 0) value ^= directions.before[i / per_dimension * 31 + bit];
    }
    const float expected = static_cast<float>(value >> 7) / 16777216.0f;
    if (!check.Near("numbers", i, numbers.after[i], expected, 0, 1)) return check.result();
    const double p = std::min(std::max(double{expected}, 1e-6), 1 - 1e-6);
    const double back = 0.5 * std::erfc(-double{values.after[i]} / std::sqrt(2.0));
    // In the tails a small change of the probability is a large one of the value.
    const double scale = std::min(p, 1 - p) + 0.001;
    if (!check.Near("distribution of values", i, back, p, 2e-3, scale)) return check.result();
  }
  return check.result();
}
