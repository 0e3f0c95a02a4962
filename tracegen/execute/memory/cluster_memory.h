// Shared memory of blocks that see one another's: those of a cluster.
#ifndef HEDDLE_TRACEGEN_EXECUTE_MEMORY_CLUSTER_MEMORY_H_
#define HEDDLE_TRACEGEN_EXECUTE_MEMORY_CLUSTER_MEMORY_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace heddle::tracegen {

// While it lives, the window of shared memory (kSharedBase) and that of clusters (kClusterBase) show a file: the former
// the share of one block, the latter those of all blocks of its cluster. So a byte is the same in both. Shares of
// blocks that have not begun, or have ended, are inaccessible in the window of clusters.
class ClusterMemory {
 public:
  // For so many clusters that are live at once, of at most 16 blocks each. Errors: no file, or no mapping.
  static absl::StatusOr<std::unique_ptr<ClusterMemory>> Create(uint32_t clusters);
  // Puts memory of its own back into the window of shared memory.
  ~ClusterMemory();
  ClusterMemory(const ClusterMemory&) = delete;
  ClusterMemory& operator=(const ClusterMemory&) = delete;

  // The windows show the block of this rank in that cluster from here on.
  void Show(uint32_t cluster, uint32_t rank);
  // The block begins, or has ended: the others of its cluster may access its share, or no longer.
  void Open(uint32_t cluster, uint32_t rank);
  void Close(uint32_t cluster, uint32_t rank);

 private:
  ClusterMemory(int file, uint32_t clusters);
  // Makes a share accessible in the window, if that shows the cluster, or inaccessible.
  void Protect(uint32_t cluster, uint32_t rank) const;

  static constexpr uint32_t kNone = ~uint32_t{0};

  const int file_;
  std::unique_ptr<uint32_t[]> open_;  // by cluster: the ranks whose shares are accessible, as bits
  uint32_t shown_cluster_ = kNone;
  uint32_t shown_rank_ = kNone;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_MEMORY_CLUSTER_MEMORY_H_
