// Timers of HARP: what a tag of WarpEditor::StartTimer means.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_TIMER_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_TIMER_H_

#include <cstdint>

namespace heddle::replay {

struct HarpTimer {
  enum class Event : uint8_t {
    kTransitions,  // the cycle's completions are done
    kArrival,      // slot `which` enters the Second-Level
    kFirstLevel,   // slot `which` enters the First-Level
    kCommit,       // pending commit `which`: the search of the barrier table is done
  };

  Event event = Event::kTransitions;
  uint8_t port = 0;  // the scheduler
  uint32_t which = 0;

  uint64_t Tag() const { return uint64_t{static_cast<uint8_t>(event)} << 40 | uint64_t{port} << 32 | which; }
  static HarpTimer Of(uint64_t tag) {
    return {static_cast<Event>(tag >> 40), static_cast<uint8_t>(tag >> 32), static_cast<uint32_t>(tag)};
  }
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_TIMER_H_
