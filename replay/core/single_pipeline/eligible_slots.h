// Which slots of a port may issue, before the single pipeline.
#ifndef HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_ELIGIBLE_SLOTS_H_
#define HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_ELIGIBLE_SLOTS_H_

#include "replay/core/sm_parts.h"
#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Those that the policy offers, but for paused blocks and for shared memory that another block has. Almost always that
// is all that are offered.
class EligibleSlots {
 public:
  explicit EligibleSlots(SmParts& sm) : sm_(sm) {}

  // Whether a slot of the port is offered whose block is not paused. Where some block is.
  bool AnyUnpaused(int port) const {
    bool any = false;
    sm_.formation.OfferedOn(port).ForEach([&](SlotId slot) { any |= !sm_.IsPaused(slot); });
    return any;
  }
  // The slots of the port that may issue, of the highest priority there is. Where some block is paused, or warps come
  // one by one. Good until the next call or change.
  const SlotSet& Of(int port) {
    const SlotSet& offered = sm_.blocks.any_paused() ? Unpaused(port) : sm_.formation.Eligible(port);
    return sm_.context.by_warp ? Unheld(offered) : offered;
  }

 private:
  const SlotSet& Unpaused(int port);
  // Of those, the ones that need not wait for another block to leave the shared memory.
  const SlotSet& Unheld(const SlotSet& offered);

  SmParts& sm_;
  SlotSet unpaused_;
  SlotSet unheld_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_ELIGIBLE_SLOTS_H_
