// One step in double precision: six additions and a product of numbers below 1.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto before = check.Find<float>("before");
  const auto after = check.Find<float>("after");
  const auto shape = check.Find<int32_t>("shape");
  const int64_t nx = shape.before[0];
  const int64_t ny = shape.before[1];
  const int64_t nz = shape.before[2];
  if (static_cast<uint64_t>(nx * ny * nz) != before.count) return check.Fail("shape is not the grid's");
  for (int64_t i = 0; i < nx * ny * nz; ++i) {
    const int64_t x = i % nx;
    const int64_t y = i / nx % ny;
    const int64_t z = i / nx / ny;
    const float* u = before.before.begin() + i;
    double expected = *u;
    if (x != 0 && x != nx - 1 && y != 0 && y != ny - 1 && z != 0 && z != nz - 1) {
      expected = (double{u[-1]} + u[1] + u[-nx] + u[nx] + u[-nx * ny] + u[nx * ny]) / 6;
    }
    if (!check.Near("after", static_cast<uint64_t>(i), after.after[i], expected, 1e-6, 1)) return check.result();
  }
  return check.result();
}
