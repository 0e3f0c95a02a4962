// Sizes of a launch, checked.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_GEOMETRY_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_GEOMETRY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/trace.pb.h"

namespace heddle::trace {

struct Geometry {
  uint64_t grid_blocks = 0;
  uint64_t block_threads = 0;
};

// Refuses dimensions of 0, more than kMaxThreadsPerBlock threads, grids of 2^62 blocks or more, and clusters that do
// not divide the grid.
absl::StatusOr<Geometry> GeometryOf(const v1::Launch& launch);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_GEOMETRY_H_
