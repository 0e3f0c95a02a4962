// Sums on the host. One addition rounds the same way everywhere: the comparison is exact.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto a = check.Find<float>("a");
  const auto b = check.Find<float>("b");
  const auto sum = check.Find<float>("sum");
  for (uint64_t i = 0; i < sum.count && !check.failed(); ++i) {
    check.Near("sum", i, sum.after[i], a.before[i] + b.before[i], 0.0, 1.0);
  }
  return check.result();
}
