// Whether a launch whose threads have waited for one another could run as it is to be replayed.
#ifndef HEDDLE_REPLAY_ENGINE_WAIT_CHECK_H_
#define HEDDLE_REPLAY_ENGINE_WAIT_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "replay/engine/configuration.h"
#include "replay/engine/replay.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// A wait that ends with the waiting thread's own atomic exchange or compare-and-swap takes a lock: whoever holds it
// runs already, so it ends on every machine. Any other wait is for a signal.

// FailedPrecondition if blocks that wait for signals of a later block can take up all places of the machine before it
// begins: hardware gives places in the order of the blocks and takes none back, so the launch would hang. Blocks of a
// cluster come together, and clusters in their order: a place is that of a whole cluster, which all of its blocks must
// wait for, since those that do not wait give theirs back. `resident_clusters`: that the whole machine holds at once.
absl::Status CheckGridWaits(const trace::LaunchView& launch, uint64_t resident_clusters);

// FailedPrecondition if a thread has waited for a lock that a thread of its own warp held which, once it has the lock,
// cannot give it back before it meets the others at the immediate post-dominator of the branch that ends the waiting:
// a warp that waits there for all its threads never goes on.
absl::Status CheckWarpLocks(const trace::LaunchView& launch, uint32_t warp_size);

// CheckWarpLocks for locks that threads of a warp take together, according to the launch's certificate, even if nobody
// had to wait for them while recording.
absl::Status CheckWarpLocks(const trace::LaunchView& launch, const trace::v1::Certificate& certificate,
                            uint32_t warp_size);

// Both of one launch, and for all launches that options.kernels selects; for policies whose warps wait at immediate
// post-dominators alone. The message names the policy.
absl::Status CheckWarpLocks(const trace::TraceReader& reader, const trace::LaunchView& launch,
                            const CheckedConfiguration& configuration, const ReplayOptions& options);
absl::Status CheckWarpLocks(const trace::TraceReader& reader, const CheckedConfiguration& configuration,
                            const ReplayOptions& options);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_WAIT_CHECK_H_
