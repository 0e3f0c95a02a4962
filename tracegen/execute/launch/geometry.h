// A launch's grid and blocks.
#ifndef HEDDLE_TRACEGEN_EXECUTE_LAUNCH_GEOMETRY_H_
#define HEDDLE_TRACEGEN_EXECUTE_LAUNCH_GEOMETRY_H_

#include <cstdint>

#include "tracegen/instrument/instrument.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/format/program/clusters.h"

namespace heddle::tracegen {

using KernelEntry = void (*)(ThreadContext*, const void* const*);

struct Geometry {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  // Blocks of a cluster, which divide the grid, and whether the launch asks for clusters.
  uint32_t cluster[3] = {1, 1, 1};
  bool is_explicit_cluster = false;
  uint32_t dynamic_shared_bytes = 0;
  uint32_t grid_id = 0;
  uint32_t environment[8] = {};  // ThreadContext::environment
  // The blocks that a Run executes: [first_block, end_block), 0 as the end means all. A launch may be run in several
  // ranges, in order.
  uint64_t first_block = 0;
  uint64_t end_block = 0;

  uint64_t blocks() const { return uint64_t{grid[0]} * grid[1] * grid[2]; }
  uint32_t threads() const { return block[0] * block[1] * block[2]; }
  uint32_t cluster_blocks() const { return cluster[0] * cluster[1] * cluster[2]; }
  trace::Clusters clusters() const {
    return trace::Clusters({grid[0], grid[1], grid[2]}, {cluster[0], cluster[1], cluster[2]});
  }
};

// Shared memory of a block: static, to a multiple of 16 bytes, then dynamic.
inline uint32_t SharedBytes(const InstrumentedKernel& kernel, const Geometry& geometry) {
  return (kernel.static_shared_bytes + 15) / 16 * 16 + geometry.dynamic_shared_bytes;
}

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_LAUNCH_GEOMETRY_H_
