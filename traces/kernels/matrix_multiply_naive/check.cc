// Sums in double precision: 1e-6 of the sum of magnitudes for some hundred terms.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto left = check.Find<float>("left");
  const auto right = check.Find<float>("right");
  const auto result = check.Find<float>("result");
  uint64_t n = 1;
  while (n * n < result.count) ++n;
  for (uint64_t i = 0; i < result.count; ++i) {
    double sum = 0;
    double scale = 0;
    for (uint64_t k = 0; k < n; ++k) {
      const double product = double{left.before[i / n * n + k]} * right.before[k * n + i % n];
      sum += product;
      scale += std::fabs(product);
    }
    if (!check.Near("result", i, result.after[i], sum, 2e-6, scale)) return check.result();
  }
  return check.result();
}
