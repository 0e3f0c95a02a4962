// Sorts the keys and cuts them into buckets.
#include <algorithm>
#include <climits>
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto keys = check.Find<int32_t>("keys");
  const auto counts = check.Find<int32_t>("counts");
  const auto sorted = check.Find<int32_t>("first");
  const auto settings = check.Find<int32_t>("settings");  // bits that a square is shifted by
  std::vector<int32_t> expected(keys.before.begin(), keys.before.end());
  std::sort(expected.begin(), expected.end());
  uint64_t place = 0;
  uint64_t next = 0;
  for (uint64_t bucket = 0; bucket < counts.count; ++bucket) {
    const uint64_t begin = next;
    for (; next < expected.size(); ++next) {
      const uint64_t key = static_cast<uint64_t>(expected[next]);
      if (key * key >> settings.before[0] != bucket) break;
      if (!check.Equal("first", place, sorted.after[place], expected[next])) return check.result();
      ++place;
    }
    if (!check.Equal("counts", bucket, counts.after[bucket], static_cast<int64_t>(next - begin))) {
      return check.result();
    }
    for (; place % 4 != 0; ++place) {
      if (!check.Equal("first", place, sorted.after[place], INT_MAX)) return check.result();
    }
  }
  for (; place < sorted.count; ++place) {
    if (!check.Equal("first", place, sorted.after[place], INT_MAX)) return check.result();
  }
  return check.result();
}
