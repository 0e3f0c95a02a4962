// Counts with a map; every page has exactly one slot.
#include <map>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto log = check.Find<uint32_t>("log");
  const auto keys = check.Find<uint32_t>("keys");
  const auto counts = check.Find<uint32_t>("counts");
  std::map<uint32_t, int64_t> expected;
  for (uint64_t i = 0; i < log.count; ++i) ++expected[log.before[i]];
  for (uint64_t slot = 0; slot < keys.count; ++slot) {
    const auto page = expected.find(keys.after[slot]);
    if (page == expected.end()) {
      if (!check.Equal("keys", slot, keys.after[slot], 0xffffffff)) return check.result();
      if (!check.Equal("counts", slot, counts.after[slot], 0)) return check.result();
      continue;
    }
    if (!check.Equal("counts", slot, counts.after[slot], page->second)) return check.result();
    expected.erase(page);
  }
  if (!expected.empty()) return check.Fail("keys lacks page %u", expected.begin()->first);
  return check.result();
}
