// What an observer and a profile are told of warps and ports.
#include <vector>

#include "replay/core/ibuffer/ibuffer_core.h"
#include "replay/core/notify_states.h"
#include "replay/stats/instruction_profile.h"

namespace heddle::replay {
namespace {

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

}  // namespace

void IBufferCore::ObserveStates(Cycle first, uint64_t cycles) const {
  std::vector<PortLoss> ports;
  for (int port = 0; port < context_.ports; ++port) ports.push_back(PortLossOf(standings_.present(port)));
  NotifyStates(first, cycles, ports, [this](SlotId slot) { return StateOf(standings_.of(slot).state()); });
}

// `count` cycles in which the ports in `issued` (bits) issued and the others did not.
void IBufferCore::ProfilePorts(uint64_t count, uint32_t issued) {
  constexpr WarpClassMask kReads = MaskOf(WarpClass::kMemory) | MaskOf(WarpClass::kArithmetic);
  for (int port = 0; port < context_.ports; ++port) {
    if ((issued >> port & 1) != 0) continue;
    const WarpClassMask classes = standings_.present(port);
    const PortLoss loss = PortLossOf(classes);
    const bool data = loss == PortLoss::kDataMemory || loss == PortLoss::kDataArithmetic;
    ProfileLoss(standings_.Oldest(port, ClassesOf(loss), table().rows), loss, data && (classes & kReads) == 0, count);
  }
}

}  // namespace heddle::replay
