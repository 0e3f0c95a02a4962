// An access to shared memory on the path of a thread.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_SHARED_STEP_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_SHARED_STEP_H_

#include <cstdint>

#include "tracegen/execute/checks/access_kind.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// An access of a path that may be to shared memory.
struct SharedStep {
  uint32_t position = 0;  // among the path's accesses
  trace::Pc pc = 0;
  uint64_t order = 0;  // within an interval: the lowest goes first
  uint16_t bytes = 0;
  AccessKind::Value kind = AccessKind::kLoad;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_SHARED_STEP_H_
