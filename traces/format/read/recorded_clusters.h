// The recorded blocks of a launch, cluster by cluster.
#ifndef HEDDLE_TRACES_FORMAT_READ_RECORDED_CLUSTERS_H_
#define HEDDLE_TRACES_FORMAT_READ_RECORDED_CLUSTERS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/format/program/clusters.h"
#include "traces/format/read/reader.h"

namespace heddle::trace {

// Numbers of the blocks that were recorded, ascending. Errors: those of reading chunks; ResourceExhausted for more than
// kMostClusteredBlocks of them.
inline constexpr uint64_t kMostClusteredBlocks = uint64_t{1} << 22;
absl::StatusOr<std::vector<uint64_t>> RecordedBlockNumbers(const TraceReader& reader, const LaunchView& launch);

// Which of the recorded blocks belong together. Memory: 8 bytes per recorded block, for launches whose clusters have
// several blocks, and which were recorded in part.
class RecordedClusters {
 public:
  // Errors: FailedPrecondition for a cluster of which only some blocks were recorded; those of RecordedBlockNumbers.
  static absl::StatusOr<RecordedClusters> Of(const TraceReader& reader, const LaunchView& launch);

  // The launch's clusters, for numbers and ranks of blocks.
  const Clusters& clusters() const { return clusters_; }
  // Recorded clusters, which count from 0 in ascending order of their numbers.
  uint64_t count() const { return count_; }
  // Where the block with this rank stands among the recorded blocks of the launch, which are in ascending order of
  // their numbers.
  uint64_t PositionOf(uint64_t cluster, uint32_t rank) const {
    if (!positions_.empty()) return positions_[cluster * clusters_.blocks() + rank];
    return clusters_.have_several_blocks() ? clusters_.BlockOf(cluster, rank) : cluster;
  }

 private:
  Clusters clusters_;
  uint64_t count_ = 0;
  std::vector<uint64_t> positions_;  // by cluster and rank; empty unless clusters were recorded in part
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_RECORDED_CLUSTERS_H_
