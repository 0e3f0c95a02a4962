// Gaussian elimination in double precision. The matrix has a heavy diagonal, so that errors stay small: 1e-4.
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto matrix = check.Find<float>("matrix");
  const auto offset = check.Find<float>("offset");
  uint64_t n = 1;
  while (n * n < matrix.count) ++n;
  std::vector<double> a(matrix.before.begin(), matrix.before.end());
  for (uint64_t i = 0; i < n; ++i) a[i * n + i] += offset.before[0];
  for (uint64_t k = 0; k < n; ++k) {
    for (uint64_t row = k + 1; row < n; ++row) {
      a[row * n + k] /= a[k * n + k];
      for (uint64_t column = k + 1; column < n; ++column) a[row * n + column] -= a[row * n + k] * a[k * n + column];
    }
  }
  for (uint64_t i = 0; i < matrix.count; ++i) {
    if (!check.Near("matrix", i, matrix.after[i], a[i], 1e-4, 1 + std::fabs(a[i]))) return check.result();
  }
  return check.result();
}
