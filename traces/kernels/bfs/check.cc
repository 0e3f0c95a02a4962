// Breadth-first search from node 0 with a queue.
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto rows = check.Find<int32_t>("row_pointers");
  const auto neighbours = check.Find<int32_t>("neighbours");
  const auto distance = check.Find<int32_t>("distance");
  if (rows.count != distance.count + 1) return check.Fail("row_pointers must have one element more than distance");

  const int32_t unreached = 0x7fffffff;
  std::vector<int32_t> expected(distance.count, unreached);
  std::vector<int32_t> queue = {0};
  expected[0] = 0;
  for (uint64_t head = 0; head < queue.size(); ++head) {
    const int32_t node = queue[head];
    for (int32_t edge = rows.before[node]; edge < rows.before[node + 1]; ++edge) {
      const int32_t neighbour = neighbours.before[edge];
      if (expected[neighbour] != unreached) continue;
      expected[neighbour] = expected[node] + 1;
      queue.push_back(neighbour);
    }
  }
  if (queue.size() < 2) return check.Fail("nothing can be reached from node 0: choose another seed");
  for (uint64_t i = 0; i < distance.count && !check.failed(); ++i) {
    check.Equal("distance", i, distance.after[i], expected[i]);
  }
  return check.result();
}
