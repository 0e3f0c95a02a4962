#include "traces/format/program/clusters.h"

#include <algorithm>

namespace heddle::trace {
namespace {

Clusters::Extent ExtentOf(const v1::Dim3& dim) { return {dim.x(), dim.y(), dim.z()}; }

// Where in a box a number stands that counts x first, and the number of such a place.
std::array<uint64_t, 3> PlaceOf(uint64_t number, const Clusters::Extent& box) {
  return {number % box[0], number / box[0] % box[1], number / box[0] / box[1]};
}

uint64_t NumberOf(const std::array<uint64_t, 3>& place, const Clusters::Extent& box) {
  return place[0] + box[0] * (place[1] + box[1] * place[2]);
}

}  // namespace

Clusters::Clusters(const Extent& grid, const Extent& cluster) : grid_(grid), extent_(cluster) {
  for (size_t i = 0; i < 3; ++i) clusters_[i] = grid[i] / cluster[i];
  blocks_ = cluster[0] * cluster[1] * cluster[2];
}

Clusters::Clusters(const v1::Launch& launch)
    : Clusters(ExtentOf(launch.grid()), launch.has_cluster() ? ExtentOf(launch.cluster()) : Extent{1, 1, 1}) {}

uint64_t Clusters::ClusterOf(uint64_t block) const {
  std::array<uint64_t, 3> place = PlaceOf(block, grid_);
  for (size_t i = 0; i < 3; ++i) place[i] /= extent_[i];
  return NumberOf(place, clusters_);
}

uint32_t Clusters::RankOf(uint64_t block) const {
  std::array<uint64_t, 3> place = PlaceOf(block, grid_);
  for (size_t i = 0; i < 3; ++i) place[i] %= extent_[i];
  return static_cast<uint32_t>(NumberOf(place, extent_));
}

uint64_t Clusters::BlockOf(uint64_t cluster, uint32_t rank) const {
  std::array<uint64_t, 3> place = PlaceOf(cluster, clusters_);
  const std::array<uint64_t, 3> within = PlaceOf(rank, extent_);
  for (size_t i = 0; i < 3; ++i) place[i] = place[i] * extent_[i] + within[i];
  return NumberOf(place, grid_);
}

uint64_t Clusters::span() const {
  const uint64_t row = clusters_[0];
  if (extent_[2] > 1) return row * clusters_[1];
  return extent_[1] > 1 ? row : 1;
}

const v1::AddressWindow* FindWindow(const v1::FileHeader& header, v1::MemorySpace space) {
  const auto& windows = header.window();
  const auto found = std::find_if(windows.begin(), windows.end(),
                                  [space](const v1::AddressWindow& window) { return window.space() == space; });
  return found == windows.end() ? nullptr : &*found;
}

SharedWindows::SharedWindows(const v1::FileHeader& header) {
  if (const v1::AddressWindow* own = FindWindow(header, v1::SPACE_SHARED); own != nullptr) {
    own_base_ = own->base();
    own_bytes_ = own->bytes();
  }
  if (const v1::AddressWindow* of_cluster = FindWindow(header, v1::SPACE_CLUSTER_SHARED); of_cluster != nullptr) {
    cluster_base_ = of_cluster->base();
    cluster_bytes_ = of_cluster->bytes();
  }
  // Without the size of a share the other window means nothing.
  cluster_bytes_ = std::min(cluster_bytes_, own_bytes_ * kMostClusterBlocks);
}

}  // namespace heddle::trace
