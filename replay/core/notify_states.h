// The states of an SM's warps and ports, for an observer that wants them.
#ifndef HEDDLE_REPLAY_CORE_NOTIFY_STATES_H_
#define HEDDLE_REPLAY_CORE_NOTIFY_STATES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "replay/core/issue_accounting.h"

namespace heddle::replay {

// The state of a slot without a warp.
inline constexpr int kNoState = -1;

template <typename StateOf>
void IssueAccounting::NotifyStates(Cycle first, uint64_t cycles, std::span<const PortLoss> ports,
                                   StateOf state_of) const {
  const WarpTable& warps = formation_.table();
  std::vector<StateEvent::WarpSample> states;
  for (size_t slot = 0; slot < warps.state.size(); ++slot) {
    const int state = warps.state[slot] == SlotState::kFree ? kNoState : state_of(static_cast<SlotId>(slot));
    if (state == kNoState) continue;
    const Position at = warps.position[slot];
    states.push_back({static_cast<uint32_t>(slot), static_cast<uint32_t>(warps.thread_count(static_cast<SlotId>(slot))),
                      at.is_exit() ? 0 : at.pc(), static_cast<WarpState>(state)});
  }
  StateEvent event;
  event.configuration = context_.configuration_index;
  event.launch = context_.launch.launch.id();
  event.sm = sm_;
  event.cycle = first;
  event.cycles = cycles;
  event.warps = states;
  event.ports = ports;
  context_.observer->States(event);
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_NOTIFY_STATES_H_
