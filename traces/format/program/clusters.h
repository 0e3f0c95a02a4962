// Thread block clusters: which blocks of a launch belong together, and whose shared memory an address names.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_CLUSTERS_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_CLUSTERS_H_

#include <array>
#include <cstdint>
#include <optional>

#include "proto/trace.pb.h"

namespace heddle::trace {

// Blocks that a cluster has at most (PTX ISA, %cluster_nctarank), and those that every device offers.
inline constexpr uint32_t kMostClusterBlocks = 16;
inline constexpr uint32_t kPortableClusterBlocks = 8;

// Numbers of clusters and of blocks within them, of a launch without clusters, too: there each block is one. A grid's
// clusters are numbered as its blocks are, x first (PTX ISA, %clusterid), and so are the blocks of a cluster: their
// number is the rank (%cluster_ctarank). A cluster's blocks have consecutive numbers in the grid only if it extends
// along x alone.
class Clusters {
 public:
  using Extent = std::array<uint32_t, 3>;

  Clusters() = default;
  // `cluster` divides the grid, dimension by dimension.
  Clusters(const Extent& grid, const Extent& cluster);
  // Of a launch that GeometryOf accepts.
  explicit Clusters(const v1::Launch& launch);

  uint32_t blocks() const { return blocks_; }  // of each cluster
  bool have_several_blocks() const { return blocks_ > 1; }
  uint64_t count() const { return uint64_t{clusters_[0]} * clusters_[1] * clusters_[2]; }
  const Extent& grid() const { return grid_; }  // in blocks
  const Extent& extent() const { return extent_; }

  // The cluster that a block of the grid belongs to; its rank there; the block with that rank.
  uint64_t ClusterOf(uint64_t block) const;
  uint32_t RankOf(uint64_t block) const;
  uint64_t BlockOf(uint64_t cluster, uint32_t rank) const;

  // Clusters with consecutive numbers that make up blocks with consecutive numbers, the fewest: the first so many do,
  // the next, and so on.
  uint64_t span() const;

 private:
  Extent grid_ = {1, 1, 1};
  Extent extent_ = {1, 1, 1};    // of a cluster, in blocks
  Extent clusters_ = {1, 1, 1};  // of the grid
  uint32_t blocks_ = 1;
};

// The window of a memory space in a trace; null if the header lists none.
const v1::AddressWindow* FindWindow(const v1::FileHeader& header, v1::MemorySpace space);

// A byte of shared memory: the block of the cluster that it belongs to, and where in its shared memory it lies.
struct SharedPlace {
  uint32_t rank = 0;
  uint64_t offset = 0;
};

// The windows of shared memory of a trace: SPACE_SHARED is that of the thread's own block, SPACE_CLUSTER_SHARED has one
// behind the other those of all blocks of the cluster, its own among them. Instructions of SPACE_CLUSTER_SHARED and
// SPACE_GENERIC may name the own block's shared memory by an address in either of them.
class SharedWindows {
 public:
  explicit SharedWindows(const v1::FileHeader& header);

  // Whose shared memory an address of a thread names whose block has this rank; nullopt: no shared memory.
  std::optional<SharedPlace> Find(uint64_t address, uint32_t own_rank) const {
    if (address - own_base_ < own_bytes_) return SharedPlace{own_rank, address - own_base_};
    const uint64_t place = address - cluster_base_;
    if (place >= cluster_bytes_) return std::nullopt;
    return SharedPlace{static_cast<uint32_t>(place / own_bytes_), place % own_bytes_};
  }

 private:
  uint64_t own_base_ = 0;
  uint64_t own_bytes_ = 0;
  uint64_t cluster_base_ = 0;
  uint64_t cluster_bytes_ = 0;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_CLUSTERS_H_
