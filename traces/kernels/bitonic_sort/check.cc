// Sorts a copy with the standard library.
#include <algorithm>
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto values = check.Find<uint32_t>("values");
  std::vector<uint32_t> expected(values.before.begin(), values.before.end());
  std::sort(expected.begin(), expected.end());
  for (uint64_t i = 0; i < values.count && !check.failed(); ++i) {
    check.Equal("values", i, values.after[i], expected[i]);
  }
  return check.result();
}
