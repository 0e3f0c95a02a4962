#include "tracegen/execute/launch/launch_limits.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {

absl::Status CheckGeometry(const std::string& kernel, const KernelBounds& bounds, const Geometry& geometry) {
  for (int i = 0; i < 3; ++i) {
    if (geometry.grid[i] == 0 || geometry.block[i] == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(geometry.grid[i] == 0 ? "grid" : "block", " dimension ", i, " of kernel '", kernel, "' is 0"));
    }
    if (geometry.grid[i] > kMaxGrid[i]) {
      return absl::InvalidArgumentError(absl::StrCat("grid dimension ", i, " is ", geometry.grid[i], ", but at most ",
                                                     kMaxGrid[i], " blocks are possible"));
    }
    if (geometry.block[i] > kMaxBlock[i]) {
      return absl::InvalidArgumentError(absl::StrCat("block dimension ", i, " is ", geometry.block[i], ", but at most ",
                                                     kMaxBlock[i], " threads are possible"));
    }
  }
  const uint64_t threads = uint64_t{geometry.block[0]} * geometry.block[1] * geometry.block[2];
  if (threads > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("a block of ", threads, " threads, but at most ", kMaxThreads, " are possible"));
  }
  if (bounds.max_threads != 0 && threads > bounds.max_threads) {
    return absl::InvalidArgumentError(absl::StrCat("a block of ", threads, " threads, but kernel '", kernel,
                                                   "' is declared for at most ", bounds.max_threads,
                                                   " (__launch_bounds__)"));
  }
  const uint32_t* required = bounds.required_block;
  if (required[0] != 0 && !std::equal(required, required + 3, geometry.block)) {
    auto shape = [](const uint32_t* size) { return absl::StrCat("(", size[0], ",", size[1], ",", size[2], ")"); };
    return absl::InvalidArgumentError(absl::StrCat("a block of ", shape(geometry.block), " threads, but kernel '",
                                                   kernel, "' is declared for exactly ", shape(required),
                                                   " (reqd_work_group_size)"));
  }
  return absl::OkStatus();
}

absl::Status ChooseClusters(const std::string& kernel, const KernelBounds& bounds, const uint32_t* asked,
                            Geometry* geometry) {
  const auto is_given = [](const uint32_t* size) { return size[0] != 0 || size[1] != 0 || size[2] != 0; };
  const auto shape = [](const uint32_t* size) { return absl::StrCat("(", size[0], ",", size[1], ",", size[2], ")"); };
  const uint32_t* size = is_given(asked) ? asked : bounds.cluster;
  if (!is_given(size)) return absl::OkStatus();
  uint32_t cluster[3];
  uint64_t blocks = 1;
  for (int i = 0; i < 3; ++i) {
    cluster[i] = std::max(1u, size[i]);
    blocks = std::min<uint64_t>(blocks * cluster[i], ~uint32_t{0});
  }
  const std::string clusters = absl::StrCat("kernel '", kernel, "' in clusters of ", shape(cluster), " blocks");
  if (is_given(bounds.cluster) && !std::equal(cluster, cluster + 3, bounds.cluster)) {
    return absl::InvalidArgumentError(
        absl::StrCat(clusters, ", but it was compiled for ", shape(bounds.cluster), " (__cluster_dims__)"));
  }
  const uint32_t most = bounds.max_cluster_blocks == 0 ? trace::kMostClusterBlocks
                                                       : std::min(bounds.max_cluster_blocks, trace::kMostClusterBlocks);
  if (blocks > most) return absl::InvalidArgumentError(absl::StrCat(clusters, ", but at most ", most, " are possible"));
  for (int i = 0; i < 3; ++i) {
    if (geometry->grid[i] % cluster[i] == 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(clusters, ", which do not divide its grid of ", shape(geometry->grid), " blocks"));
  }
  std::copy(std::begin(cluster), std::end(cluster), geometry->cluster);
  geometry->is_explicit_cluster = true;
  return absl::OkStatus();
}

absl::Status CheckShared(const std::string& kernel, uint64_t static_bytes, uint64_t dynamic_bytes) {
  if (static_bytes <= kMaxStaticShared && DynamicSharedStart(static_bytes) + dynamic_bytes <= kMaxShared) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("kernel '", trace::BriefKernelName(kernel), "' needs ", static_bytes,
                                                 " + ", dynamic_bytes,
                                                 " bytes of shared memory (static + dynamic), but a block has at most ",
                                                 kMaxStaticShared, " static and ", kMaxShared, " in all"));
}

}  // namespace heddle::tracegen
