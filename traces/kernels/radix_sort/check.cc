// Puts keys into one list per key, in their order: a stable sort. The keys are below 65536.
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  constexpr uint32_t kKeys = 65536;
  heddle::kernels::Check check(buffers, count, message, size);
  const auto keys = check.Find<uint32_t>("keys");
  const auto values = check.Find<int32_t>("values");
  std::vector<std::vector<int32_t>> lists(kKeys);
  for (uint64_t i = 0; i < keys.count; ++i) {
    if (keys.before[i] >= kKeys) return check.Fail("keys must be below 65536");
    lists[keys.before[i]].push_back(values.before[i]);
  }
  uint64_t i = 0;
  for (uint32_t key = 0; key < kKeys; ++key) {
    for (int32_t value : lists[key]) {
      if (!check.Equal("keys", i, keys.after[i], key)) return check.result();
      if (!check.Equal("values", i, values.after[i], value)) return check.result();
      ++i;
    }
  }
  return check.result();
}
