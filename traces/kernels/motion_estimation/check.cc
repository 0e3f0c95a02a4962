// Every block and every place.
#include <algorithm>
#include <cstdlib>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto now = check.Find<uint8_t>("now");
  const auto before = check.Find<uint8_t>("before");
  const auto sums = check.Find<uint16_t>("sums");
  const auto shape = check.Find<int32_t>("shape");  // width, height, radius
  const int w = shape.before[0];
  const int h = shape.before[1];
  const int r = shape.before[2];
  uint64_t i = 0;
  for (int by = 0; by < h; by += 4) {
    for (int bx = 0; bx < w; bx += 4) {
      for (int dy = -r; dy <= r; ++dy) {
        for (int dx = -r; dx <= r; ++dx, ++i) {
          int sum = 0;
          for (int pixel = 0; pixel < 16; ++pixel) {
            const int x = bx + pixel % 4;
            const int y = by + pixel / 4;
            sum += std::abs(now.before[y * w + x] -
                            before.before[std::clamp(y + dy, 0, h - 1) * w + std::clamp(x + dx, 0, w - 1)]);
          }
          if (!check.Equal("sums", i, sums.after[i], sum)) return check.result();
        }
      }
    }
  }
  return check.result();
}
