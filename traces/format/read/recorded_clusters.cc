#include "traces/format/read/recorded_clusters.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"

namespace heddle::trace {

absl::StatusOr<std::vector<uint64_t>> RecordedBlockNumbers(const TraceReader& reader, const LaunchView& launch) {
  if (launch.totals.blocks() > kMostClusteredBlocks) {
    return absl::ResourceExhaustedError(absl::StrCat("launch ", launch.launch.id(), ": clusters of more than ",
                                                     kMostClusteredBlocks,
                                                     " blocks, of a grid that was recorded in part"));
  }
  std::vector<uint64_t> numbers;
  v1::BlockChunk chunk;
  for (const v1::ChunkReference& reference : launch.chunks) {
    if (reference.part() != 0) continue;
    const uint64_t first = reference.first_block();
    const uint64_t count = reference.block_count();
    if (reference.last_block() - first + 1 == count) {
      for (uint64_t i = 0; i < count; ++i) numbers.push_back(first + i);
      continue;
    }
    HEDDLE_RETURN_IF_ERROR(reader.ReadChunk(reference, chunk));
    uint64_t number = first;
    numbers.push_back(number);
    for (const uint64_t gap : chunk.block_gap()) numbers.push_back(number += gap + 1);
  }
  return numbers;
}

absl::StatusOr<RecordedClusters> RecordedClusters::Of(const TraceReader& reader, const LaunchView& launch) {
  RecordedClusters out;
  out.clusters_ = Clusters(launch.launch);
  const uint32_t blocks = out.clusters_.blocks();
  out.count_ = launch.totals.blocks() / blocks;
  if (blocks == 1 || launch.totals.blocks() == launch.grid_blocks) return out;
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, RecordedBlockNumbers(reader, launch));
  struct Member {
    uint64_t cluster;
    uint64_t position;
    auto operator<=>(const Member&) const = default;
  };
  std::vector<Member> members(numbers.size());
  for (uint64_t i = 0; i < numbers.size(); ++i) members[i] = {out.clusters_.ClusterOf(numbers[i]), i};
  std::sort(members.begin(), members.end());
  // Within a cluster, ranks ascend as numbers do.
  for (size_t begin = 0; begin < members.size();) {
    size_t end = begin;
    while (end < members.size() && members[end].cluster == members[begin].cluster) ++end;
    if (end - begin != blocks) {
      return absl::FailedPreconditionError(absl::StrCat("launch ", launch.launch.id(), ": of the ", blocks,
                                                        " blocks of cluster ", members[begin].cluster, " only ",
                                                        end - begin, " were recorded; capture whole clusters"));
    }
    begin = end;
  }
  for (const Member& member : members) out.positions_.push_back(member.position);
  return out;
}

}  // namespace heddle::trace
