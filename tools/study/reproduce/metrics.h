// Metrics of results by name, as the expressions of claims use them.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_METRICS_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_METRICS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/claims.pb.h"
#include "proto/result.pb.h"

namespace heddle::tools::reproduce {

// A number of a result, over all of its launches:
//
//   cycles, ipc, lane_activity ...            a field of `total` in proto/result.proto
//   stalls.data_memory, l2.cache.misses ...   a field of a launch. Integers are added, of blocks_per_sm*,
//                                             registers_per_thread and policies' counters that are maxima it is the
//                                             largest; ratios are means that launches weigh in by their cycles.
//   divergence_counter.NAME                   a counter of the policy; also scheduler_, dispatch_, fetch_,
//   memory_counter issues_by_size.N, issues_by_size.N_to_M   an element, or a sum of elements, of a list of counts,
//   from 1 warp_progress.divergence.P.cycle_blocks   of the entry for more than P per cent; also instruction_blocks
//   memory_instructions.transactions          the sum of the counts of all sizes
//   launch_count                              of launches
//
// NotFound if the result does not have it.
absl::StatusOr<double> MetricOf(const result::v1::Result& result, const std::string& path);

// Refuses names that no result of the run could have. (Counters of policies are not looked up.)
absl::Status CheckMetric(const std::string& path, const claims::v1::Run& run);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_METRICS_H_
