// What the SMs of a launch tell one another of its clusters.
#ifndef HEDDLE_REPLAY_CORE_CLUSTERS_CLUSTER_BOARD_H_
#define HEDDLE_REPLAY_CORE_CLUSTERS_CLUSTER_BOARD_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// An SM, as others see it that hold blocks of its clusters.
class ClusterMember {
 public:
  virtual ~ClusterMember() = default;
  // The barrier of its cluster opens for a resident block in cycle `at`: the present one, if that is the SM that is
  // being run, or a later one.
  virtual void OpenClusterBarrier(BlockId block, Cycle at) = 0;
  // A thread of another block arrives `count` times at a transaction barrier of a resident block, in a later cycle.
  virtual void ArriveFromCluster(BlockId block, uint64_t address, uint64_t count, bool drops, Cycle at) = 0;
};

// Who runs the SMs.
class ClusterWaker {
 public:
  virtual ~ClusterWaker() = default;
  // The SM has to run in cycle `at`, a later one than the present.
  virtual void WakeSmAt(uint32_t sm, Cycle at) = 0;
};

// Where the blocks of the clusters are, and how far the clusters' barriers. Blocks are named by their number in the
// order of dispatch: rank r of cluster c is c * blocks + r. What one SM does is known to the others only after a
// latency of at least a cycle, so that it does not matter which of them is run first in a cycle.
class ClusterBoard {
 public:
  // Clusters of `blocks` blocks. `waker` outlives this.
  ClusterBoard(uint32_t blocks, Cycle network_cycles, ClusterWaker& waker)
      : blocks_(blocks), network_cycles_(network_cycles), waker_(waker) {}

  uint32_t blocks() const { return blocks_; }
  uint64_t ClusterOf(uint64_t block) const { return block / blocks_; }
  uint32_t RankOf(uint64_t block) const { return static_cast<uint32_t>(block % blocks_); }

  // --- blocks
  // A block comes to an SM, or leaves it. `member` outlives this.
  void Begin(uint64_t block, ClusterMember& member, uint32_t sm, BlockId id);
  void End(uint64_t block);
  // The SM that has, or had, the block of this rank in the cluster of `block`; -1 if it has not begun.
  int SmOf(uint64_t block, uint32_t rank) const;
  // Whether is(sm) holds of the SM of some block in the cluster of `block` that has not left; of kNotBegun for one that
  // has not come to an SM yet.
  static constexpr uint32_t kNotBegun = ~uint32_t{0};
  template <typename Is>
  bool AnySm(uint64_t block, Is is) const {
    const auto found = clusters_.find(ClusterOf(block));
    if (found == clusters_.end()) return false;
    for (const Block& other : found->second.blocks) {
      if (!other.left && is(other.member == nullptr ? kNotBegun : other.sm)) return true;
    }
    return false;
  }

  // --- barriers
  // All live threads of the block have arrived at the barrier of its cluster; once per phase.
  void Arrived(uint64_t block, Cycle now);
  // All threads of the block have exited: no phase waits for it from now on.
  void Exited(uint64_t block, Cycle now);
  // Blocks of the cluster of `block` for which the present phase does not wait any more.
  uint32_t ArrivedBlocks(uint64_t block) const;

  // A thread of `block` arrives at a transaction barrier of the block of that rank in its cluster.
  void ArriveAt(uint64_t block, uint32_t rank, uint64_t address, uint64_t count, bool drops, Cycle now);

  // --- what was counted
  uint64_t clusters_ended() const { return clusters_ended_; }
  uint64_t phases() const { return phases_; }
  // Cycles from the arrival of a block until the barrier opens for it, over blocks and phases.
  uint64_t wait_cycles() const { return wait_cycles_; }
  uint64_t remote_arrivals() const { return remote_arrivals_; }

 private:
  struct Block {
    ClusterMember* member = nullptr;  // null: it has not begun
    uint32_t sm = 0;
    BlockId id = 0;
    bool left = false;
    bool exited = false;
    bool arrived = false;
    Cycle at = 0;  // when it arrived, or exited
  };
  struct Cluster {
    std::vector<Block> blocks;
    uint32_t arrived = 0;
    uint32_t left = 0;
  };

  void Count(Cluster& cluster, Block& block, Cycle now);
  void Open(Cluster& cluster);

  const uint32_t blocks_;
  const Cycle network_cycles_;
  ClusterWaker& waker_;
  std::unordered_map<uint64_t, Cluster> clusters_;  // with a block that has begun and one that has not left
  uint64_t clusters_ended_ = 0;
  uint64_t phases_ = 0;
  uint64_t wait_cycles_ = 0;
  uint64_t remote_arrivals_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_CLUSTERS_CLUSTER_BOARD_H_
