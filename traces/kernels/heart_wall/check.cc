// All places for every point, in order; the first of the best wins.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto before = check.Find<uint8_t>("before");
  const auto now = check.Find<uint8_t>("now");
  const auto x = check.Find<int32_t>("x");
  const auto y = check.Find<int32_t>("y");
  const auto new_x = check.Find<int32_t>("new_x");
  const auto new_y = check.Find<int32_t>("new_y");
  int width = 1;
  while (static_cast<uint64_t>(width) * static_cast<uint64_t>(width) < before.count) ++width;
  for (uint64_t point = 0; point < x.count; ++point) {
    const int px = x.before[point];
    const int py = y.before[point];
    int64_t least = -1;
    int found_x = 0;
    int found_y = 0;
    for (int cy = py - 6; cy <= py + 6; ++cy) {
      for (int cx = px - 6; cx <= px + 6; ++cx) {
        int64_t sum = 0;
        for (int dy = -2; dy <= 2; ++dy) {
          for (int dx = -2; dx <= 2; ++dx) {
            const int d = now.before[(cy + dy) * width + cx + dx] - before.before[(py + dy) * width + px + dx];
            sum += d * d;
          }
        }
        if (least >= 0 && sum >= least) continue;
        least = sum;
        found_x = cx;
        found_y = cy;
      }
    }
    if (!check.Equal("new_x", point, new_x.after[point], found_x)) return check.result();
    if (!check.Equal("new_y", point, new_y.after[point], found_y)) return check.result();
  }
  return check.result();
}
