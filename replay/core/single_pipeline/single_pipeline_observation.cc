// What an observer and a profile are told of warps and ports.
#include <vector>

#include "replay/core/notify_states.h"
#include "replay/core/single_pipeline/single_pipeline_core.h"
#include "replay/stats/instruction_profile.h"

namespace heddle::replay {
namespace {

int StateOf(SlotState state) {
  switch (state) {
    case SlotState::kOffered:
      return static_cast<int>(WarpState::kReady);
    case SlotState::kInFlight:
    case SlotState::kResolving:
      return static_cast<int>(WarpState::kInFlight);
    case SlotState::kBarrier:
      return static_cast<int>(WarpState::kBarrier);
    case SlotState::kParked:
      return static_cast<int>(WarpState::kPolicy);
    case SlotState::kFree:
      break;
  }
  return kNoState;
}

}  // namespace

void SinglePipelineCore::ObserveStates(Cycle first, uint64_t cycles) const {
  std::vector<PortLoss> ports;
  for (int port = 0; port < sm_.context.ports; ++port) {
    ports.push_back(AnyOffered(port) ? PortLoss::kStall : AllWaitForMemory() ? PortLoss::kMemory : PortLoss::kIdle);
  }
  sm_.issues.NotifyStates(first, cycles, ports, [this](SlotId slot) {
    return sm_.IsPaused(slot) ? static_cast<int>(WarpState::kPolicy) : StateOf(table().state[slot]);
  });
}

// `count` scheduler cycles of a port that issued nothing. The warp closest to issue is looked for among those offered,
// then in flight, at barriers, and held by the policy; the oldest of the first kind that there is.
void SinglePipelineCore::ProfilePort(int port, PortLoss loss, uint64_t count) {
  const auto rank = [this](SlotId slot) {
    if (sm_.IsPaused(slot)) return 3;
    switch (table().state[slot]) {
      case SlotState::kOffered:
        return 0;
      case SlotState::kInFlight:
      case SlotState::kResolving:
        return 1;
      case SlotState::kBarrier:
        return 2;
      default:
        return 3;
    }
  };
  const WarpTable& warps = table();
  SlotId first = kNoSlot;
  int live = warps.live;
  for (size_t slot = 0; live > 0; ++slot) {
    if (warps.state[slot] == SlotState::kFree) continue;
    --live;
    if (warps.port[slot] != port) continue;
    const int own = rank(static_cast<SlotId>(slot));
    const int best = first == kNoSlot ? 4 : rank(first);
    if (own < best || (own == best && warps.formed[slot] < warps.formed[first])) first = static_cast<SlotId>(slot);
  }
  sm_.issues.ProfileLoss(first, loss, /*waw=*/false, count);
}

}  // namespace heddle::replay
