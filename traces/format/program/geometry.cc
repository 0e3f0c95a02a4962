#include "traces/format/program/geometry.h"

#include "absl/strings/str_cat.h"
#include "traces/format/limits.h"
#include "traces/format/program/clusters.h"

namespace heddle::trace {
namespace {

// 0 if a dimension is 0 or the product does not fit.
uint64_t Volume(const v1::Dim3& dim) {
  uint64_t volume = 0;
  if (__builtin_mul_overflow(uint64_t{dim.x()} * dim.y(), uint64_t{dim.z()}, &volume)) return 0;
  return volume;
}

}  // namespace

absl::StatusOr<Geometry> GeometryOf(const v1::Launch& launch) {
  const Geometry geometry{Volume(launch.grid()), Volume(launch.block())};
  if (geometry.grid_blocks == 0 || geometry.grid_blocks >= uint64_t{1} << 62) {
    return absl::InvalidArgumentError(
        absl::StrCat("launch ", launch.id(), ": the grid must have between 1 and 2^62 - 1 blocks"));
  }
  if (geometry.block_threads == 0 || geometry.block_threads > kMaxThreadsPerBlock) {
    return absl::InvalidArgumentError(
        absl::StrCat("launch ", launch.id(), ": a block must have between 1 and ", kMaxThreadsPerBlock, " threads"));
  }
  if (!launch.has_cluster()) return geometry;
  const v1::Dim3& cluster = launch.cluster();
  const uint64_t blocks = Volume(cluster);
  if (blocks == 0 || blocks > kMostClusterBlocks || launch.grid().x() % cluster.x() != 0 ||
      launch.grid().y() % cluster.y() != 0 || launch.grid().z() % cluster.z() != 0) {
    return absl::InvalidArgumentError(absl::StrCat("launch ", launch.id(), ": its clusters must have between 1 and ",
                                                   kMostClusterBlocks, " blocks, and divide the grid"));
  }
  return geometry;
}

}  // namespace heddle::trace
