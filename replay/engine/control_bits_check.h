// Code that cannot issue by control bits.
#ifndef HEDDLE_REPLAY_ENGINE_CONTROL_BITS_CHECK_H_
#define HEDDLE_REPLAY_ENGINE_CONTROL_BITS_CHECK_H_

#include "absl/status/status.h"
#include "replay/engine/replay.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// Errors: FailedPrecondition, with the instruction's place, if warps of the machine issue by control bits
// (core.dependences) and an instruction of the launch has none; `nop.join`, which the machine does not have, needs
// none.
absl::Status CheckControlBits(const trace::TraceReader& reader, const trace::LaunchView& launch,
                              const ReplayOptions& options);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_CONTROL_BITS_CHECK_H_
