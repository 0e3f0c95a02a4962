// What makes the memory of a machine possible.
#ifndef HEDDLE_REPLAY_MACHINE_MACHINE_CHECK_MEMORY_H_
#define HEDDLE_REPLAY_MACHINE_MACHINE_CHECK_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "proto/machine.pb.h"

namespace heddle::replay {

// Accesses that the MSHRs of all caches of one level have room for (16 bytes of the host each).
inline constexpr uint64_t kMaxWaiters = 1u << 24;

// Checks `memory` and `clocks` of a machine whose core has been checked. Errors: InvalidArgument, with the field's
// path, the value and what it must be.
absl::Status CheckMemory(const machine::v1::Machine& machine);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MACHINE_MACHINE_CHECK_MEMORY_H_
