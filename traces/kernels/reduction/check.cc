// One loop over the values; unsigned sums wrap around alike in any order.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto values = check.Find<uint32_t>("values");
  const auto partial = check.Find<uint32_t>("partial");
  const auto total = check.Find<uint32_t>("total");
  uint32_t expected = 0;
  for (uint64_t i = 0; i < values.count; ++i) expected += values.before[i];
  uint32_t of_blocks = 0;
  for (uint64_t i = 0; i < partial.count; ++i) of_blocks += partial.after[i];
  if (of_blocks != expected) return check.Fail("the sums of the blocks add up to %u, expected %u", of_blocks, expected);
  check.Equal("total", 0, total.after[0], expected);
  return check.result();
}
