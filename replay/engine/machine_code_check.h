// Whether a launch has what a policy or a machine needs that goes by what machine code says.
#ifndef HEDDLE_REPLAY_ENGINE_MACHINE_CODE_CHECK_H_
#define HEDDLE_REPLAY_ENGINE_MACHINE_CODE_CHECK_H_

#include "absl/status/status.h"
#include "replay/engine/configuration.h"
#include "replay/engine/replay.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// FailedPrecondition if the divergence policy follows convergence barriers (PolicyTraits) and the launch's program is
// not of machine code, which alone has them; or if it has an instruction of a convergence barrier on a condition of
// which the recording does not tell for whom it held.
absl::Status CheckConvergence(const trace::TraceReader& reader, const trace::LaunchView& launch,
                              const CheckedConfiguration& configuration);

// Errors: FailedPrecondition, with the instruction's place, if warps of the machine issue by control bits
// (core.dependences) and an instruction of the launch has none; `nop.join`, which the machine does not have, needs
// none.
absl::Status CheckControlBits(const trace::TraceReader& reader, const trace::LaunchView& launch,
                              const ReplayOptions& options);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_MACHINE_CODE_CHECK_H_
