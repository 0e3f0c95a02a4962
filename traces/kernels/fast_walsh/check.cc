// The definition for some of the outputs, and for all of them that transforming twice gives the input times its length.
#include <bit>
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto data = check.Find<int32_t>("data");
  const uint64_t n = data.count;
  for (uint64_t k = 0; k < n; k += n / 16 + 1) {
    int64_t sum = 0;
    for (uint64_t i = 0; i < n; ++i) {
      sum += std::popcount(i & k) % 2 == 0 ? data.before[i] : -int64_t{data.before[i]};
    }
    if (!check.Equal("data", k, data.after[k], sum)) return check.result();
  }
  std::vector<int64_t> back(data.after.begin(), data.after.end());
  for (uint64_t stride = 1; stride < n; stride *= 2) {
    for (uint64_t i = 0; i < n; ++i) {
      if ((i & stride) != 0) continue;
      const int64_t a = back[i];
      const int64_t b = back[i + stride];
      back[i] = a + b;
      back[i + stride] = a - b;
    }
  }
  for (uint64_t i = 0; i < n; ++i) {
    const int64_t expected = data.before[i] * static_cast<int64_t>(n);
    if (back[i] == expected) continue;
    return check.Fail("data transformed again has %lld at %llu, expected %lld", static_cast<long long>(back[i]),
                      static_cast<unsigned long long>(i), static_cast<long long>(expected));
  }
  return check.result();
}
