// Whether a program says what a policy needs that follows the code's own convergence barriers.
#ifndef HEDDLE_REPLAY_ENGINE_CONVERGENCE_CHECK_H_
#define HEDDLE_REPLAY_ENGINE_CONVERGENCE_CHECK_H_

#include "absl/status/status.h"
#include "replay/engine/configuration.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// FailedPrecondition if the divergence policy follows convergence barriers (PolicyTraits) and the launch's program is
// not of machine code, which alone has them; or if it has an instruction of a convergence barrier on a condition of
// which the recording does not tell for whom it held.
absl::Status CheckConvergence(const trace::TraceReader& reader, const trace::LaunchView& launch,
                              const CheckedConfiguration& configuration);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_CONVERGENCE_CHECK_H_
