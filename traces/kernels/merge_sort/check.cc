// Every segment, sorted by the standard library.
#include <algorithm>
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto values = check.Find<uint32_t>("values");
  const auto settings = check.Find<int32_t>("settings");
  const uint64_t length = static_cast<uint64_t>(settings.before[0]);
  if (length == 0 || values.count % length != 0) return check.Fail("values must be whole segments");
  std::vector<uint32_t> expected(values.before.begin(), values.before.end());
  for (uint64_t first = 0; first < values.count; first += length) {
    std::sort(expected.begin() + static_cast<int64_t>(first), expected.begin() + static_cast<int64_t>(first + length));
  }
  for (uint64_t i = 0; i < values.count && !check.failed(); ++i) {
    check.Equal("values", i, values.after[i], expected[i]);
  }
  return check.result();
}
