// The memory that a machine asks for.
#ifndef HEDDLE_REPLAY_MEMORY_MAKE_MEMORY_SYSTEM_H_
#define HEDDLE_REPLAY_MEMORY_MAKE_MEMORY_SYSTEM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "replay/memory/ports/address_windows.h"
#include "replay/memory/ports/memory_system.h"

namespace heddle::replay {

// Makes the memory of one run; the machine must have passed CheckMachine. `windows` are those of the trace, `seed` is
// that of jitter; with `force_tick` every component of the shared memory runs at every edge, which must not change
// anything.
absl::StatusOr<std::unique_ptr<MemorySystem>> MakeMemorySystem(const machine::v1::Machine& machine,
                                                               const AddressWindows& windows, uint64_t seed,
                                                               bool force_tick);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_MAKE_MEMORY_SYSTEM_H_
