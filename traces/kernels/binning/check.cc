// Every cell's particles, in any order.
#include <algorithm>
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto x = check.Find<float>("x");
  const auto y = check.Find<float>("y");
  const auto counts = check.Find<int32_t>("counts");
  const auto order = check.Find<int32_t>("order");
  int side = 1;
  while (static_cast<uint64_t>(side) * static_cast<uint64_t>(side) < counts.count) ++side;
  std::vector<std::vector<int>> cells(counts.count);
  for (uint64_t i = 0; i < x.count; ++i) {
    const int cx = std::min(static_cast<int>(std::fabs(x.before[i])), side - 1);
    const int cy = std::min(static_cast<int>(std::fabs(y.before[i])), side - 1);
    const int cell = cy * side + cx;
    cells[static_cast<uint64_t>(cell)].push_back(static_cast<int>(i));
  }
  uint64_t first = 0;
  for (uint64_t cell = 0; cell < cells.size(); ++cell) {
    if (!check.Equal("counts", cell, counts.after[cell], static_cast<int64_t>(cells[cell].size())))
      return check.result();
    const int* const sorted = order.after.Range(first, cells[cell].size());
    std::vector<int> got(sorted, sorted + cells[cell].size());
    std::sort(got.begin(), got.end());
    for (size_t i = 0; i < got.size(); ++i) {
      if (!check.Equal("sorted order", first + i, got[i], cells[cell][i])) return check.result();
    }
    first += cells[cell].size();
  }
  return check.result();
}
