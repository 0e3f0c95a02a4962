// Divides by recursion.
#include <vector>

#include "../check_support.h"

namespace {

void Divide(const std::vector<uint32_t>& points, int depth, std::vector<int64_t>& levels) {
  if (points.empty()) return;
  if (points.size() <= 8 || depth == 8) {
    ++levels[static_cast<size_t>(depth)];
    return;
  }
  for (uint32_t child = 0; child < 8; ++child) {
    std::vector<uint32_t> inside;
    for (const uint32_t p : points) {
      bool same = true;
      for (uint32_t axis = 0; axis < 3; ++axis) {
        same &= (p >> (8 * axis + 7 - static_cast<uint32_t>(depth)) & 1) == (child >> axis & 1);
      }
      if (same) inside.push_back(p);
    }
    Divide(inside, depth + 1, levels);
  }
}

}  // namespace

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto points = check.Find<uint32_t>("points");
  const auto leaves = check.Find<int32_t>("leaves");
  const auto levels = check.Find<int32_t>("levels");
  const uint64_t each = points.count / leaves.count;
  for (uint64_t block = 0; block < leaves.count; ++block) {
    std::vector<int64_t> expected(9);
    const uint32_t* const own = points.before.Range(block * each, each);
    Divide({own, own + each}, 0, expected);
    int64_t sum = 0;
    for (uint64_t depth = 0; depth < 9; ++depth) {
      sum += expected[depth];
      if (!check.Equal("levels", block * 9 + depth, levels.after[block * 9 + depth], expected[depth]))
        return check.result();
    }
    if (!check.Equal("leaves", block, leaves.after[block], sum)) return check.result();
  }
  return check.result();
}
