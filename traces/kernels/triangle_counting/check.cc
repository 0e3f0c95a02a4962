// With a set of marks per node.
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto rows = check.Find<int32_t>("row_pointers");
  const auto neighbours = check.Find<int32_t>("neighbours");
  const auto triangles = check.Find<int32_t>("triangles");
  int64_t total = 0;
  for (uint64_t u = 0; u < triangles.count; ++u) {
    std::vector<bool> marked(triangles.count);
    for (int e = rows.before[u]; e < rows.before[u + 1]; ++e) marked[static_cast<size_t>(neighbours.before[e])] = true;
    int64_t found = 0;
    for (int e = rows.before[u]; e < rows.before[u + 1]; ++e) {
      const int v = neighbours.before[e];
      for (int f = rows.before[v]; f < rows.before[v + 1]; ++f)
        found += marked[static_cast<size_t>(neighbours.before[f])];
    }
    total += found;
    if (!check.Equal("triangles", u, triangles.after[u], found)) return check.result();
  }
  if (total == 0) return check.Fail("the graph has no triangle: choose another seed");
  return check.result();
}
