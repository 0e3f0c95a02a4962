// Byte after byte.
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto words = check.Find<uint32_t>("words");
  const auto bins = check.Find<uint32_t>("bins");
  std::vector<int64_t> expected(bins.count);
  const auto* bytes = reinterpret_cast<const uint8_t*>(words.before.begin());
  for (uint64_t i = 0; i < words.count * 4; ++i) ++expected[bytes[i]];
  for (uint64_t i = 0; i < bins.count && !check.failed(); ++i) check.Equal("bins", i, bins.after[i], expected[i]);
  return check.result();
}
