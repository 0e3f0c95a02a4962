#include "tracegen/execute/launch/live_blocks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/launch/launch_limits.h"

namespace heddle::tracegen {

uint32_t LiveBlocks(uint32_t wanted, const Geometry& geometry, bool uses_local) {
  const uint32_t room = (uses_local ? kMaxLiveThreadsWithLocal : kMaxLiveThreads) / geometry.threads();
  return static_cast<uint32_t>(std::min<uint64_t>(geometry.blocks(), std::min(wanted, std::max(room, 1u))));
}

std::string LiveBlocksAdvice(const Geometry& geometry, bool uses_local, uint32_t live, const std::string& setting,
                             bool all) {
  const uint64_t blocks = geometry.blocks();
  const uint32_t most = LiveBlocks(kMaxResidentBlocks, geometry, uses_local);
  if (most == blocks) {
    return all ? absl::StrCat(setting, blocks, " lets all of them live at once")
               : absl::StrCat(setting, "N lets N of them live at once");
  }
  const std::string limit =
      absl::StrCat("at most ", most, " blocks of ", geometry.threads(), " threads can be live at once");
  if (all || live >= most) return absl::StrCat(limit, ": launch fewer blocks, or smaller ones");
  return absl::StrCat(setting, "N lets N of them live at once; ", limit);
}

}  // namespace heddle::tracegen
