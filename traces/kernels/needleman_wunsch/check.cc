// The recurrence, row by row.
#include <algorithm>
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto a = check.Find<int32_t>("a");
  const auto b = check.Find<int32_t>("b");
  const auto score = check.Find<int32_t>("score");
  const auto settings = check.Find<int32_t>("settings");  // the penalty of a gap
  const uint64_t n = a.count;
  if (b.count != n || score.count != (n + 1) * (n + 1)) return check.Fail("sequences and scores do not fit together");
  const int penalty = settings.before[0];
  std::vector<int64_t> row(n + 1);
  for (uint64_t x = 0; x <= n; ++x) row[x] = -static_cast<int64_t>(x) * penalty;
  for (uint64_t y = 0; y <= n; ++y) {
    int64_t diagonal = row[0];
    if (y > 0) {
      row[0] = -static_cast<int64_t>(y) * penalty;
      for (uint64_t x = 1; x <= n; ++x) {
        const int64_t match = diagonal + (a.before[y - 1] == b.before[x - 1] ? 5 : -4);
        diagonal = row[x];
        row[x] = std::max(match, std::max(row[x], row[x - 1]) - penalty);
      }
    }
    for (uint64_t x = 0; x <= n; ++x) {
      if (!check.Equal("score", y * (n + 1) + x, score.after[y * (n + 1) + x], row[x])) return check.result();
    }
  }
  return check.result();
}
