#include "replay/policies/divergence/large_warps/large_warp.h"

#include <algorithm>

namespace heddle::replay {

void LargeWarpFetch::AddPath(const PathGroup& group, const std::vector<SubWarpPart>& parts, size_t rows) {
  size_t place = 0;
  while (place < paths_used && paths[place].at < group.at) ++place;
  if (place == paths_used || paths[place].at != group.at) {
    if (paths_used == paths.size()) paths.emplace_back();
    LargeWarpPath& added = paths[paths_used++];
    added.at = group.at;
    added.taken = group.taken;
    added.threads.assign(rows, 0);
    const auto begin = paths.begin() + static_cast<ptrdiff_t>(place);
    const auto end = paths.begin() + static_cast<ptrdiff_t>(paths_used);
    std::rotate(begin, end - 1, end);
  }
  for (const SubWarpPart& part : parts) paths[place].threads[part.row] |= part.lanes & group.lanes;
}

}  // namespace heddle::replay
