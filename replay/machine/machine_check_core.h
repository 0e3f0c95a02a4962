// What makes the core of a machine possible.
#ifndef HEDDLE_REPLAY_MACHINE_MACHINE_CHECK_CORE_H_
#define HEDDLE_REPLAY_MACHINE_MACHINE_CHECK_CORE_H_

#include "absl/status/status.h"
#include "proto/machine.pb.h"

namespace heddle::replay {

// Checks a machine's core; groups of fields that its front end does not use are not looked at, so that the front end
// can be exchanged. Errors: InvalidArgument, with the field's path, the value and what it must be.
absl::Status CheckCore(const machine::v1::Core& core);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MACHINE_MACHINE_CHECK_CORE_H_
