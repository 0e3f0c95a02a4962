// Until when threads pause by the stall counts of machine code.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_PAUSES_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_PAUSES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// A warp keeps its own pause. Where registers are not looked at a thread must not lose its pause when a policy puts it
// into another warp. So pauses are noted here by hardware warp, for its lanes: a few at a time, since they are short.
class Pauses {
 public:
  explicit Pauses(uint32_t hw_warps) : by_hw_warp_(hw_warps) {}

  // These lanes of the hardware warp pause until cycle `until`; `now` is the present one.
  void Note(uint32_t hw_warp, LaneMask lanes, Cycle now, Cycle until) {
    std::vector<Pause>& pauses = by_hw_warp_[hw_warp];
    std::erase_if(pauses, [=](const Pause& one) { return one.until <= now; });
    pauses.push_back({lanes, until});
  }
  // The cycle up to which some of the lanes pause; 0 if they do not.
  Cycle Of(uint32_t hw_warp, LaneMask lanes) const {
    Cycle until = 0;
    for (const Pause& one : by_hw_warp_[hw_warp]) {
      if ((one.lanes & lanes) != 0) until = std::max(until, one.until);
    }
    return until;
  }
  // Other threads have come into the hardware warp.
  void Forget(uint32_t hw_warp) { by_hw_warp_[hw_warp].clear(); }

 private:
  struct Pause {
    LaneMask lanes = 0;
    Cycle until = 0;
  };
  std::vector<std::vector<Pause>> by_hw_warp_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_PAUSES_H_
