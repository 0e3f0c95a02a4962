// Sums in double precision; the kernel's trees are short: 1e-6 of the sum of magnitudes.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto a = check.Find<float>("a");
  const auto b = check.Find<float>("b");
  const auto products = check.Find<float>("products");
  const uint64_t length = a.count / products.count;
  for (uint64_t pair = 0; pair < products.count; ++pair) {
    double sum = 0;
    double scale = 0;
    for (uint64_t i = pair * length; i < (pair + 1) * length; ++i) {
      sum += double{a.before[i]} * b.before[i];
      scale += std::fabs(double{a.before[i]} * b.before[i]);
    }
    if (!check.Near("products", pair, products.after[pair], sum, 1e-6, scale)) return check.result();
  }
  return check.result();
}
