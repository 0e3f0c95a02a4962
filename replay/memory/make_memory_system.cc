#include "replay/memory/make_memory_system.h"

#include "replay/memory/fixed_latency.h"

namespace heddle::replay {

std::unique_ptr<MemorySystem> MakeMemorySystem(const machine::v1::Machine& machine, const AddressWindows& windows) {
  return std::make_unique<FixedLatencySystem>(machine.memory().fixed(), windows);
}

}  // namespace heddle::replay
