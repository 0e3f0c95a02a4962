#include "replay/core/block_table.h"

namespace heddle::replay {

BlockTable::BlockTable(const LaunchContext& context)
    : blocks_(static_cast<size_t>(context.capacity)),
      live_in_hw_warp_(static_cast<size_t>(context.max_threads / context.warp_size)),
      block_of_hw_warp_(live_in_hw_warp_.size(), kNone),
      hw_warp_is_free_(live_in_hw_warp_.size(), 1),
      threads_per_block_(context.threads_per_block) {}

BlockId BlockTable::Open(const BlockArrival& arrival) {
  BlockId id = static_cast<BlockId>(arrival.place_on_sm.value_or(0));
  while (blocks_[id].resident) ++id;
  Block& block = blocks_[id];
  block.resident = true;
  block.exited = false;
  block.position = arrival.position;
  block.linear_index = arrival.linear_index;
  block.live = threads_per_block_;
  block.former = kNone;
  ++resident_;
  return id;
}

BlockId BlockTable::Find(uint64_t position) const {
  for (size_t id = 0; id < blocks_.size(); ++id) {
    if (blocks_[id].resident && blocks_[id].position == position) return static_cast<BlockId>(id);
  }
  return kNone;
}

void BlockTable::BindToVirtualBlock(BlockId id, const WarpArrival::Virtual& virtual_block) {
  blocks_[id].place = virtual_block.place;
  for (BlockId other = 0; other < blocks_.size() && virtual_block.iteration != 0; ++other) {
    const Block& former = blocks_[other];
    if (other != id && former.resident && !former.exited && former.place == virtual_block.place) {
      blocks_[id].former = other;
    }
  }
}

bool BlockTable::ReleaseShared(BlockId id) {
  bool released = false;
  for (Block& block : blocks_) {
    if (block.former != id) continue;
    block.former = kNone;
    released = true;
  }
  return released;
}

void BlockTable::Retire(BlockId id) {
  SetPaused(id, false);
  blocks_[id].resident = false;
  --resident_;
  retired_.push_back(blocks_[id].position);
}

}  // namespace heddle::replay
