// Searches the sorted keys.
#include <algorithm>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto nodes = check.Find<int32_t>("nodes");
  const auto queries = check.Find<int32_t>("queries");
  const auto found = check.Find<int32_t>("found");
  const auto lengths = check.Find<int32_t>("lengths");
  const auto settings = check.Find<int32_t>("settings");  // keys, span
  const auto key_count = static_cast<uint64_t>(settings.before[0]);
  const int32_t* const keys = nodes.before.Range(0, key_count);
  const int32_t* const end = keys + key_count;
  int hits = 0;
  for (uint64_t q = 0; q < queries.count; ++q) {
    const int32_t key = queries.before[q];
    const int32_t* const at = std::lower_bound(keys, end, key);
    const bool hit = at != end && *at == key;
    hits += hit;
    if (!check.Equal("found", q, found.after[q], hit ? at - keys : -1)) return check.result();
    const auto length = std::lower_bound(keys, end, key + settings.before[1]) - at;
    if (!check.Equal("lengths", q, lengths.after[q], length)) return check.result();
  }
  if (hits == 0 || static_cast<uint64_t>(hits) == queries.count) return check.Fail("all queries end alike");
  return check.result();
}
