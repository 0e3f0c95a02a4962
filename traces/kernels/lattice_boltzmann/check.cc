// The step in double precision, and that no mass is lost. Some 20 operations on numbers below 2: 1e-5.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto obstacle = check.Find<int32_t>("obstacle");
  const auto before = check.Find<float>("before");
  const auto after = check.Find<float>("after");
  const int64_t plane = static_cast<int64_t>(obstacle.count);
  int64_t n = 1;
  while (n * n < plane) ++n;
  if (before.count != 9 * obstacle.count || after.count != before.count) return check.Fail("not nine planes");
  const int c[9][2] = {{0, 0}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
  double mass[2] = {};
  for (int64_t i = 0; i < plane; ++i) {
    double f[9];
    double density = 0;
    double v[2] = {};
    for (int d = 0; d < 9; ++d) {
      const int64_t x = (i % n - c[d][0] + n) % n;
      const int64_t y = (i / n - c[d][1] + n) % n;
      f[d] = before.before[d * plane + y * n + x];
      density += f[d];
      for (int axis = 0; axis < 2; ++axis) v[axis] += c[d][axis] * f[d];
    }
    mass[0] += density;
    for (int d = 0; d < 9; ++d) {
      int target = d;
      double expected = f[d];
      if (obstacle.before[i] == 0) {
        for (int o = 0; o < 9; ++o) {
          if (c[o][0] == -c[d][0] && c[o][1] == -c[d][1]) target = o;
        }
      } else {
        const double weight = d == 0 ? 4.0 / 9 : d < 5 ? 1.0 / 9 : 1.0 / 36;
        const double along = 3 * (c[d][0] * v[0] + c[d][1] * v[1]) / density;
        const double square = (v[0] * v[0] + v[1] * v[1]) / density / density;
        expected += 0.6 * (weight * density * (1 + along + along * along / 2 - 1.5 * square) - f[d]);
      }
      const uint64_t index = static_cast<uint64_t>(target * plane + i);
      mass[1] += after.after[index];
      if (!check.Near("after", index, after.after[index], expected, 1e-5, 2)) return check.result();
    }
  }
  check.Near("mass", 0, mass[1], mass[0], 1e-5, mass[0]);
  return check.result();
}
