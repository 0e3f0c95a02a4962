#include "replay/core/single_pipeline/eligible_slots.h"

namespace heddle::replay {

const SlotSet& EligibleSlots::Unpaused(int port) {
  unpaused_.Clear();
  sm_.formation.OfferedOn(port).ForEach([&](SlotId slot) {
    if (!sm_.IsPaused(slot)) unpaused_.Insert(slot);
  });
  const bool choose = sm_.formation.prioritised() && !unpaused_.empty();
  return choose ? sm_.formation.HighestPriority(unpaused_) : unpaused_;
}

const SlotSet& EligibleSlots::Unheld(const SlotSet& offered) {
  unheld_.Clear();
  offered.ForEach([&](SlotId slot) {
    if (sm_.formation.inserted(slot) != 0 || !sm_.SharedHeld(slot, sm_.steps[sm_.table().position[slot].pc()]))
      unheld_.Insert(slot);
  });
  return unheld_;
}

}  // namespace heddle::replay
