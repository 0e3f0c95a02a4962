// Loads of shared memory that no thread of a cluster has written.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_CLUSTER_LOADS_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_CLUSTER_LOADS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tracegen/execute/checks/shared_paths.h"
#include "tracegen/execute/checks/uninitialized_loads.h"

namespace heddle::tracegen {

// The blocks of a cluster write into one another's shared memory, so what none of them has ever written is known when
// all have ended. When it was written is not looked at.
class ClusterLoads {
 public:
  // `units` of shared memory of all `blocks` of a cluster.
  ClusterLoads(uint32_t blocks, uint32_t units) : blocks_(blocks), stored_(units), loads_(units) {}

  // Looks at what was walked last of block number `block`; `last`: the block ends with it. One cluster after the other.
  void LookAt(const SharedAccesses& accesses, uint64_t block, bool last);

  // The first one of the first cluster that has some: the lowest of its block, thread and instruction.
  const std::optional<UninitializedLoad>& found() const { return found_; }

 private:
  void EndCluster();

  const uint32_t blocks_;
  uint32_t ended_ = 0;                                   // blocks of the cluster
  std::vector<bool> stored_;                             // by place
  std::vector<std::optional<UninitializedLoad>> loads_;  // of a place, the first one that was seen
  std::optional<UninitializedLoad> found_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_CLUSTER_LOADS_H_
