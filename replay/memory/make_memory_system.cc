#include "replay/memory/make_memory_system.h"

#include "replay/memory/fixed_latency.h"
#include "replay/memory/hierarchy_system.h"

namespace heddle::replay {

absl::StatusOr<std::unique_ptr<MemorySystem>> MakeMemorySystem(const machine::v1::Machine& machine,
                                                               const AddressWindows& windows, uint64_t seed,
                                                               bool force_tick) {
  if (machine.memory().has_hierarchy()) return HierarchySystem::Make(machine, windows, seed, force_tick);
  return std::make_unique<FixedLatencySystem>(machine.memory().fixed(), machine.clusters(), windows);
}

}  // namespace heddle::replay
