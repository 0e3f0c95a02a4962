#include "traces/base/suggest.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace heddle {
namespace {

// Optimal string alignment distance: like Levenshtein's, with a swap of two neighbours as one step.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool equal = a[i - 1] == b[j - 1];
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (equal ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string NearestName(std::string_view name, const std::vector<std::string>& known) {
  constexpr size_t kLongest = 100;  // nobody means a known name by more than that
  if (name.empty() || name.size() > kLongest) return "";
  size_t best = std::max<size_t>(1, name.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : known) {
    if (const size_t distance = Distance(name, candidate); distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  if (!nearest.empty()) return nearest;
  for (const std::string& candidate : known) {
    if (candidate.starts_with(name) || (!candidate.empty() && name.starts_with(candidate))) return candidate;
  }
  return "";
}

std::string UnknownNameMessage(std::string_view kind, std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(name, known);
  return absl::StrCat("unknown ", std::string(kind), " \"", std::string(name), "\"",
                      nearest.empty() ? "; " : absl::StrCat(": did you mean \"", nearest, "\"? "),
                      known.empty() ? "there are none" : absl::StrCat("known: ", absl::StrJoin(known, ", ")));
}

}  // namespace heddle
