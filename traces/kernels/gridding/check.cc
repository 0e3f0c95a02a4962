// For every cell the samples that reach it.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto x = check.Find<int32_t>("x");
  const auto y = check.Find<int32_t>("y");
  const auto value = check.Find<int32_t>("value");
  const auto radius = check.Find<int32_t>("radius");
  const auto grid = check.Find<int32_t>("grid");
  int side = 1;
  while (static_cast<uint64_t>(side) * static_cast<uint64_t>(side) < grid.count) ++side;
  for (uint64_t cell = 0; cell < grid.count; ++cell) {
    int64_t sum = 0;
    for (uint64_t i = 0; i < x.count; ++i) {
      const int64_t dx = static_cast<int64_t>(cell) % side - x.before[i];
      const int64_t dy = static_cast<int64_t>(cell) / side - y.before[i];
      const int64_t r = radius.before[i];
      const int64_t weight = (r + 1) * (r + 1) - dx * dx - dy * dy;
      if (dx <= r && -dx <= r && dy <= r && -dy <= r && weight > 0) sum += weight * value.before[i];
    }
    if (!check.Equal("grid", cell, grid.after[cell], sum)) return check.result();
  }
  return check.result();
}
