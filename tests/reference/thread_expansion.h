// Every thread of a launch, expanded to one record per dynamic instruction: the plain reading of a trace.
#ifndef HEDDLE_TESTS_REFERENCE_THREAD_EXPANSION_H_
#define HEDDLE_TESTS_REFERENCE_THREAD_EXPANSION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/random/random_kernel.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// A recorded block and the steps of its threads, in linear order of the threads.
struct ExpandedBlock {
  uint64_t block = 0;  // linear index in the grid
  std::vector<std::vector<ScriptStep>> threads;
};

// Follows every path from the rules in the schema's comments (proto/trace.proto), independently of
// traces/format/chunk/walk.h. A step has the first of the numbers that an instruction records, if it is an address, and
// the values of uniform registers.
// Errors are those of the reader, and internal ones where a path does not end as it says.
absl::StatusOr<std::vector<ExpandedBlock>> ExpandLaunch(const trace::TraceReader& reader,
                                                        const trace::LaunchView& launch);

// The same as warps walk it: a thread whose guard is false comes by what it guards, and there are no joins. Which
// guards these are is worked out independently of traces/format/program/predication.h.
absl::StatusOr<std::vector<ExpandedBlock>> ExpandWalk(const trace::TraceReader& reader,
                                                      const trace::LaunchView& launch);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REFERENCE_THREAD_EXPANSION_H_
