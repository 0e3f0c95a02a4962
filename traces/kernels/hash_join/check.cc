// With a table by key.
#include <map>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto small = check.Find<int32_t>("small_keys");
  const auto large = check.Find<int32_t>("large_keys");
  const auto match = check.Find<int32_t>("match");
  std::map<int32_t, int64_t> row;
  for (uint64_t i = 0; i < small.count; ++i) row[small.before[i]] = static_cast<int64_t>(i);
  if (row.size() != small.count) return check.Fail("small_keys has a key twice");
  for (uint64_t i = 0; i < large.count; ++i) {
    const auto found = row.find(large.before[i]);
    if (!check.Equal("match", i, match.after[i], found == row.end() ? -1 : found->second)) return check.result();
  }
  return check.result();
}
