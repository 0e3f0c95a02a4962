// What a policy with a list of paths per warp says in the report of a deadlock.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_EXPLAIN_DIVERGED_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_EXPLAIN_DIVERGED_H_

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"

namespace heddle::replay {

// "warp 2: (...)(...); warp 5: (...)(...); and 3 more diverged warps": the first four of `warps` that have diverged, by
// their index. `what` is what they are called, and describe(warp) the text of one, empty if it has not diverged.
template <typename Warps, typename Describe>
std::string ExplainDiverged(const std::string& what, const Warps& warps, Describe describe) {
  constexpr int kShown = 4;
  std::string text;
  int diverged = 0;
  for (size_t index = 0; index < warps.size(); ++index) {
    const std::string paths = describe(warps[index]);
    if (paths.empty() || ++diverged > kShown) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", what, " ", index, ": ", paths);
  }
  if (diverged > kShown) absl::StrAppend(&text, "; and ", diverged - kShown, " more diverged ", what, "s");
  return text;
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_EXPLAIN_DIVERGED_H_
