// The recurrences with a table per letter, sequence after sequence.
#include <algorithm>
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto starts = check.Find<int32_t>("starts");
  const auto letters = check.Find<int32_t>("letters");
  const auto emission = check.Find<int32_t>("emission");
  const auto transition = check.Find<int32_t>("transition");
  const auto scores = check.Find<int32_t>("scores");
  const size_t states = emission.count / 4 - 1;
  const int32_t* t = transition.before.Range(0, 6);
  constexpr int kMinus = -1000000;
  struct Row {
    std::vector<int> match, insert, erase;
  };
  for (uint64_t i = 0; i < scores.count; ++i) {
    Row old = {std::vector<int>(states + 1, kMinus), std::vector<int>(states + 1, kMinus),
               std::vector<int>(states + 1, kMinus)};
    old.match[0] = 0;
    int best = kMinus;
    for (int position = starts.before[i]; position < starts.before[i + 1]; ++position) {
      Row row = {std::vector<int>(states + 1, kMinus), std::vector<int>(states + 1, kMinus),
                 std::vector<int>(states + 1, kMinus)};
      for (size_t k = 1; k <= states; ++k) {
        row.match[k] = std::max({old.match[k - 1], old.insert[k - 1] + t[0], old.erase[k - 1] + t[1]}) +
                       emission.before[k * 4 + static_cast<size_t>(letters.before[position])];
        row.insert[k] = std::max(old.match[k] + t[2], old.insert[k] + t[3]);
        row.erase[k] = std::max(row.match[k - 1] + t[4], row.erase[k - 1] + t[5]);
        best = std::max(best, row.match[k]);
      }
      old = row;
    }
    if (!check.Equal("scores", i, scores.after[i], best)) return check.result();
  }
  return check.result();
}
