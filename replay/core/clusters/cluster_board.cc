#include "replay/core/clusters/cluster_board.h"

#include <algorithm>

namespace heddle::replay {

void ClusterBoard::Begin(uint64_t block, ClusterMember& member, uint32_t sm, BlockId id) {
  Cluster& cluster = clusters_[ClusterOf(block)];
  cluster.blocks.resize(blocks_);
  Block& begun = cluster.blocks[RankOf(block)];
  begun.member = &member;
  begun.sm = sm;
  begun.id = id;
}

void ClusterBoard::End(uint64_t block) {
  const auto found = clusters_.find(ClusterOf(block));
  if (found == clusters_.end()) return;
  found->second.blocks[RankOf(block)].left = true;
  if (++found->second.left != blocks_) return;
  ++clusters_ended_;
  clusters_.erase(found);
}

int ClusterBoard::SmOf(uint64_t block, uint32_t rank) const {
  const auto found = clusters_.find(ClusterOf(block));
  if (found == clusters_.end() || found->second.blocks[rank].member == nullptr) return -1;
  return static_cast<int>(found->second.blocks[rank].sm);
}

void ClusterBoard::Arrived(uint64_t block, Cycle now) {
  Cluster& cluster = clusters_[ClusterOf(block)];
  Count(cluster, cluster.blocks[RankOf(block)], now);
}

void ClusterBoard::Exited(uint64_t block, Cycle now) {
  Cluster& cluster = clusters_[ClusterOf(block)];
  Block& exited = cluster.blocks[RankOf(block)];
  exited.exited = true;
  if (!exited.arrived) Count(cluster, exited, now);
}

void ClusterBoard::Count(Cluster& cluster, Block& block, Cycle now) {
  block.arrived = true;
  block.at = now;
  if (++cluster.arrived == blocks_) Open(cluster);
}

// Each block's SM knows at once what happens on it, and of the others after a latency.
void ClusterBoard::Open(Cluster& cluster) {
  bool any = false;
  std::vector<Cycle> opens(blocks_, 0);
  for (uint32_t rank = 0; rank < blocks_; ++rank) {
    for (const Block& other : cluster.blocks) {
      const Cycle way = other.sm == cluster.blocks[rank].sm ? 0 : network_cycles_;
      opens[rank] = std::max(opens[rank], other.at + way);
    }
  }
  cluster.arrived = 0;
  for (Block& block : cluster.blocks) {
    any |= !block.exited;
    block.arrived = block.exited;
    cluster.arrived += block.arrived;
  }
  if (!any) return;
  ++phases_;
  for (uint32_t rank = 0; rank < blocks_; ++rank) {
    const Block& block = cluster.blocks[rank];
    if (block.exited) continue;
    wait_cycles_ += opens[rank] - block.at;
    block.member->OpenClusterBarrier(block.id, opens[rank]);
    waker_.WakeSmAt(block.sm, opens[rank] + 1);
  }
}

uint32_t ClusterBoard::ArrivedBlocks(uint64_t block) const {
  const auto found = clusters_.find(ClusterOf(block));
  return found == clusters_.end() ? 0 : found->second.arrived;
}

void ClusterBoard::ArriveAt(uint64_t block, uint32_t rank, uint64_t address, uint64_t count, bool drops, Cycle now) {
  ++remote_arrivals_;
  const Block& to = clusters_[ClusterOf(block)].blocks[rank];
  if (to.left) return;  // nobody is there to wait for it
  const Cycle at = now + network_cycles_;
  to.member->ArriveFromCluster(to.id, address, count, drops, at);
  waker_.WakeSmAt(to.sm, at);
}

}  // namespace heddle::replay
