#include "replay/core/barrier_unit.h"

#include <bit>

namespace heddle::replay {

BarrierUnit::BarrierUnit(const LaunchContext& context, const Formation& formation, const BlockTable& blocks)
    : formation_(formation),
      blocks_(blocks),
      barriers_(blocks.size(), std::vector<Barrier>(context.barrier_ids.size())),
      barriers_ahead_(formation.table().state.size()) {}

void BarrierUnit::Arrive(SlotId slot, const Step& step) {
  const Lanes& lanes = formation_.table().lanes[slot];
  barriers_ahead_[slot] = 0;
  for (LaneMask left = lanes.mask; left != 0;) {
    const BlockId id = formation_.block_of(lanes.thread[std::countr_zero(left)]);
    LaneMask own = 0;
    for (LaneMask mask = left; mask != 0; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      if (formation_.block_of(lanes.thread[lane]) == id) own |= LaneMask{1} << lane;
    }
    left &= ~own;
    Barrier& barrier = barriers_[id][step.barrier];
    barrier.arrived += static_cast<uint32_t>(std::popcount(own));
    barrier.expected = step.barrier_threads;
    barrier.slots.push_back(slot);
    ++barriers_ahead_[slot];
    const uint32_t needed = barrier.expected == 0 ? blocks_[id].live : barrier.expected;
    if (barrier.arrived >= needed) Open(id, step.barrier);
  }
}

void BarrierUnit::Open(BlockId id, uint8_t number) {
  Barrier& barrier = barriers_[id][number];
  opened_slots_.insert(opened_slots_.end(), barrier.slots.begin(), barrier.slots.end());
  barrier.slots.clear();
  barrier.arrived = 0;
  barrier.expected = 0;
  opened_.push_back(id);
}

void BarrierUnit::Recheck(BlockId id) {
  for (size_t number = 0; number < barriers_[id].size(); ++number) {
    const Barrier& barrier = barriers_[id][number];
    if (barrier.arrived == 0 || barrier.expected != 0 || barrier.arrived < blocks_[id].live) continue;
    Open(id, static_cast<uint8_t>(number));
  }
}

}  // namespace heddle::replay
