// Sorts the pages.
#include <algorithm>
#include <numeric>
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto views = check.Find<uint32_t>("views");
  const auto rank = check.Find<int32_t>("rank");
  std::vector<uint64_t> order(views.count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint64_t a, uint64_t b) { return views.before[a] > views.before[b]; });
  for (uint64_t place = 0; place < order.size(); ++place) {
    const uint64_t page = order[place];
    if (!check.Equal("rank", page, rank.after[page], static_cast<int64_t>(place))) return check.result();
  }
  return check.result();
}
