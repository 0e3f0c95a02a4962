// Which SMs the blocks of the next cluster go to.
#ifndef HEDDLE_REPLAY_POLICIES_DISPATCH_SHARED_CLUSTER_PLACES_H_
#define HEDDLE_REPLAY_POLICIES_DISPATCH_SHARED_CLUSTER_PLACES_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/seams/block_dispatcher.h"

namespace heddle::replay {

// All blocks of a cluster, or none: on the SMs of one group, spread as widely as there are SMs. The group of the SM
// behind the one that got the last block is tried first, from that SM on round and round, then the next groups in turn,
// each from its first SM on. A single block goes to the next SM with room.
class ClusterPlaces {
 public:
  explicit ClusterPlaces(const DispatchContext& context)
      : sms_(context.sms), blocks_(context.cluster_blocks), group_(context.cluster_sms) {}

  // The SMs of the blocks by rank, good until the next call; none if there is no room. `room(sm)`: how many blocks the
  // SM could take now.
  template <typename Room>
  std::span<const uint32_t> Next(Room room) {
    const uint32_t groups = (sms_ + group_ - 1) / group_;
    for (uint32_t i = 0; i < groups; ++i) {
      const uint32_t group = (turn_ / group_ + i) % groups;
      const uint32_t first = group * group_;
      const uint32_t size = std::min(group_, sms_ - first);
      const uint32_t start = i == 0 ? turn_ - first : 0;
      if (!Fill(first, size, start, room)) continue;
      turn_ = (chosen_.back() + 1) % sms_;
      return chosen_;
    }
    return {};
  }

 private:
  // Fills chosen_ with SMs of a group, from place `start` on round and round. Whether there are enough.
  template <typename Room>
  bool Fill(uint32_t first, uint32_t size, uint32_t start, Room room) {
    chosen_.clear();
    for (uint32_t round = 0; round < MostOnSm(blocks_, size); ++round) {
      for (uint32_t i = 0; i < size; ++i) {
        const uint32_t sm = first + (start + i) % size;
        if (room(sm) <= round) continue;
        chosen_.push_back(sm);
        if (chosen_.size() == blocks_) return true;
      }
    }
    return false;
  }

  const uint32_t sms_;
  const uint32_t blocks_;
  const uint32_t group_;
  uint32_t turn_ = 0;  // the SM to ask first
  std::vector<uint32_t> chosen_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DISPATCH_SHARED_CLUSTER_PLACES_H_
