// Compares every position of every query with every position of the text.
#include <algorithm>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto text = check.Find<int32_t>("text");
  const auto queries = check.Find<int32_t>("queries");
  const auto matched = check.Find<int32_t>("matched");
  const auto settings = check.Find<int32_t>("settings");  // letters of a query
  const uint64_t length = static_cast<uint64_t>(settings.before[0]);
  for (uint64_t i = 0; i < queries.count; ++i) {
    const uint64_t end = (i / length + 1) * length;
    uint64_t best = 0;
    for (uint64_t at = 0; at < text.count; ++at) {
      uint64_t same = 0;
      while (i + same < end && at + same < text.count && queries.before[i + same] == text.before[at + same]) ++same;
      best = std::max(best, same);
    }
    if (!check.Equal("matched", i, matched.after[i], static_cast<int64_t>(best))) return check.result();
  }
  return check.result();
}
