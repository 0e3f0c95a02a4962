#include "tracegen/execute/launch/launch_record.h"

#include <algorithm>
#include <utility>

#include "traces/format/limits.h"
#include "traces/format/program/clusters.h"

namespace heddle::tracegen {

trace::v1::Launch DescribeLaunch(const Geometry& geometry, const DeviceMemory& memory) {
  trace::v1::Launch launch;
  const auto dimensions = [](trace::v1::Dim3* to, const uint32_t* from) {
    to->set_x(from[0]);
    to->set_y(from[1]);
    to->set_z(from[2]);
  };
  dimensions(launch.mutable_grid(), geometry.grid);
  dimensions(launch.mutable_block(), geometry.block);
  if (geometry.is_explicit_cluster) dimensions(launch.mutable_cluster(), geometry.cluster);
  launch.set_dynamic_shared_bytes(geometry.dynamic_shared_bytes);
  for (trace::v1::Allocation& allocation : memory.allocations()) *launch.add_allocation() = std::move(allocation);
  return launch;
}

bool TellClusters(trace::v1::FileHeader& header) {
  if (trace::FindWindow(header, trace::v1::SPACE_CLUSTER_SHARED) != nullptr) return false;
  header.set_minor(std::max(header.minor(), trace::kCollectiveMinorVersion));
  *header.add_window() = DeviceMemory::ClusterWindow();
  return true;
}

}  // namespace heddle::tracegen
