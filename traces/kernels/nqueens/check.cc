// Counts by plain recursion over columns, without bit masks; the board's size follows from the number of prefixes.
#include <cstdlib>

#include "../check_support.h"

namespace {

struct Board {
  int queens = 0;
  int column[32] = {};

  bool Allows(int row, int candidate) const {
    for (int above = 0; above < row; ++above) {
      if (column[above] == candidate || std::abs(column[above] - candidate) == row - above) return false;
    }
    return true;
  }

  int64_t Count(int row) {
    if (row == queens) return 1;
    int64_t total = 0;
    for (int candidate = 0; candidate < queens; ++candidate) {
      if (!Allows(row, candidate)) continue;
      column[row] = candidate;
      total += Count(row + 1);
    }
    return total;
  }
};

}  // namespace

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto solutions = check.Find<uint32_t>("solutions");
  Board board;
  while (static_cast<uint64_t>(board.queens) * board.queens * board.queens < solutions.count) ++board.queens;
  const int queens = board.queens;
  if (static_cast<uint64_t>(queens) * queens * queens != solutions.count || queens > 16) {
    return check.Fail("solutions must have queens^3 elements, and at most 16 queens");
  }
  // Known totals guard the recursion itself.
  const int64_t known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};
  int64_t total = 0;
  for (uint64_t i = 0; i < solutions.count && !check.failed(); ++i) {
    int64_t expected = 0;
    int prefix = static_cast<int>(i);
    int row = 0;
    while (row < 3 && board.Allows(row, prefix % queens)) {
      board.column[row++] = prefix % queens;
      prefix /= queens;
    }
    if (row == 3) expected = board.Count(3);
    total += expected;
    check.Equal("solutions", i, solutions.after[i], expected);
  }
  if (!check.failed() && total != known[queens]) return check.Fail("the check itself counts wrongly");
  return check.result();
}
