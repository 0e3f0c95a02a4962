// Triangle by triangle, row by row: between the crossings of the row with the edges, in exact fractions.
#include <algorithm>
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto triangles = check.Find<int32_t>("triangles");
  const auto seen = check.Find<int32_t>("seen");
  const auto shape = check.Find<int32_t>("shape");
  const int w = shape.before[0];
  const int h = shape.before[1];
  std::vector<int> nearest(seen.count, 0x7fffffff);
  std::vector<int> visible(seen.count, -1);
  for (uint64_t i = 0; i < triangles.count / 7; ++i) {
    const int32_t* t = triangles.before.Range(7 * i, 7);
    for (int y = 0; y < h; ++y) {
      // A point is inside if it is not left of all crossings, nor right of all.
      std::vector<std::pair<int64_t, int64_t>> crossings;  // numerator, positive denominator
      for (int e = 0; e < 3; ++e) {
        const int64_t xa = t[2 * e], ya = t[2 * e + 1], xb = t[2 * ((e + 1) % 3)], yb = t[2 * ((e + 1) % 3) + 1];
        if (std::min(ya, yb) > y || std::max(ya, yb) < y) continue;
        if (ya == yb) {
          crossings.push_back({xa, 1});
          crossings.push_back({xb, 1});
        } else {
          const int64_t sign = yb > ya ? 1 : -1;
          crossings.push_back({sign * (xa * (yb - ya) + (xb - xa) * (y - ya)), sign * (yb - ya)});
        }
      }
      for (int x = 0; x < w; ++x) {
        bool above = false;
        bool below = false;
        for (const auto& [numerator, denominator] : crossings) {
          above |= numerator >= x * denominator;
          below |= numerator <= x * denominator;
        }
        if (!above || !below || t[6] >= nearest[y * w + x]) continue;
        nearest[y * w + x] = t[6];
        visible[y * w + x] = static_cast<int>(i);
      }
    }
  }
  for (uint64_t i = 0; i < seen.count; ++i) {
    if (!check.Equal("seen", i, seen.after[i], visible[i])) return check.result();
  }
  return check.result();
}
