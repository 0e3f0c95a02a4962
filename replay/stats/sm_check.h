// What the counters of an SM must add up to when a launch has ended.
#ifndef HEDDLE_REPLAY_STATS_SM_CHECK_H_
#define HEDDLE_REPLAY_STATS_SM_CHECK_H_

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "replay/seams/types.h"
#include "replay/stats/sm_counters.h"
#include "replay/stats/stall_counters.h"

namespace heddle::replay {

// Checks the sums of each kind of counters, and that they tell of the same cycles. `stalls`: with instruction
// buffers. Internal error that names the SM, the cycle `end` in which the launch ended, and what is wrong.
absl::Status CheckSm(size_t sm, Cycle end, const SmCounters& counters, const std::optional<StallCounters>& stalls);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_STATS_SM_CHECK_H_
