// What warps and ports do, for an observer that wants to know: both front ends.
#include <vector>

#include "replay/core/ibuffer_core.h"
#include "replay/core/sm_core.h"
#include "replay/core/thesis_core.h"
#include "replay/stats/instruction_profile.h"

namespace heddle::replay {
namespace {

// No state for a slot that holds no warp.
constexpr int kNoState = -1;

int StateOf(WarpClass one) {
  switch (one) {
    case WarpClass::kStructural:
      return static_cast<int>(WarpState::kReady);
    case WarpClass::kMemory:
    case WarpClass::kMemoryWaw:
      return static_cast<int>(WarpState::kMemory);
    case WarpClass::kArithmetic:
    case WarpClass::kArithmeticWaw:
      return static_cast<int>(WarpState::kArithmetic);
    case WarpClass::kControl:
      return static_cast<int>(WarpState::kControl);
    case WarpClass::kFetch:
      return static_cast<int>(WarpState::kFetch);
    case WarpClass::kPolicy:
      return static_cast<int>(WarpState::kPolicy);
    case WarpClass::kBarrier:
      return static_cast<int>(WarpState::kBarrier);
    case WarpClass::kExit:
    case WarpClass::kNone:
      break;
  }
  return kNoState;
}

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

template <typename StateOf>
void SmCore::TellStates(Cycle first, uint64_t cycles, std::span<const PortLoss> ports, StateOf state_of) const {
  const WarpTable& warps = formation_.table();
  std::vector<StateEvent::Warp> states;
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

void IBufferCore::ObserveStates(Cycle first, uint64_t cycles) const {
  std::vector<PortLoss> ports;
  for (int port = 0; port < context_.ports; ++port) ports.push_back(PortLossOf(standings_.present(port)));
  TellStates(first, cycles, ports, [this](SlotId slot) { return StateOf(standings_.of(slot).state()); });
}

void ThesisCore::ObserveStates(Cycle first, uint64_t cycles) const {
  std::vector<PortLoss> ports;
  for (int port = 0; port < context_.ports; ++port) {
    ports.push_back(formation_.AnyOffered(port) ? PortLoss::kStall
                    : AllWaitForMemory()        ? PortLoss::kMemory
                                                : PortLoss::kIdle);
  }
  TellStates(first, cycles, ports, [this](SlotId slot) { return StateOf(table().state[slot]); });
}

}  // namespace heddle::replay
