#include "replay/stats/warp_timeline.h"

#include <algorithm>
#include <tuple>

namespace heddle::replay {

void WarpTimelines::Fill(result::v1::LaunchResult& out) {
  std::sort(warps_.begin(), warps_.end(), [](const WarpPhases& a, const WarpPhases& b) {
    return std::tie(a.block, a.warp) < std::tie(b.block, b.warp);
  });
  for (const WarpPhases& warp : warps_) {
    result::v1::WarpTimeline& timeline = *out.add_warp_timeline();
    timeline.set_block(warp.block);
    timeline.set_warp(warp.warp);
    timeline.set_sm(warp.sm);
    for (const Phase& phase : warp.phases) {
      result::v1::WarpTimeline::Phase& one = *timeline.add_phase();
      one.set_start(phase.start);
      one.set_arrival(phase.arrival);
      one.set_release(phase.release);
    }
  }
}

}  // namespace heddle::replay
