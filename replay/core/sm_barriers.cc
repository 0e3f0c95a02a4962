// Barriers of the resident blocks.
#include <algorithm>
#include <bit>

#include "replay/core/sm_core.h"

namespace heddle::replay {

void SmCore::ArriveAtBarrier(SlotId slot, const Step& step) {
  const Lanes& lanes = formation_.table().lanes[slot];
  counters_.barriers += std::popcount(lanes.mask);
  warp_progress_.Arrived(lanes, now_);
  barriers_ahead_[slot] = 0;
  deferred_.push_back({slot, step.barrier, true});
  for (LaneMask left = lanes.mask; left != 0;) {
    const BlockId id = formation_.block_of(lanes.thread[std::countr_zero(left)]);
    LaneMask own = 0;
    for (LaneMask mask = left; mask != 0; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      if (formation_.block_of(lanes.thread[lane]) == id) own |= LaneMask{1} << lane;
    }
    left &= ~own;
    Barrier& barrier = blocks_[id].barriers[step.barrier];
    barrier.arrived += static_cast<uint32_t>(std::popcount(own));
    barrier.expected = step.barrier_threads;
    barrier.slots.push_back(slot);
    ++barriers_ahead_[slot];
    const uint32_t needed = barrier.expected == 0 ? blocks_[id].live : barrier.expected;
    if (barrier.arrived >= needed) OpenBarrier(id, step.barrier);
  }
}

// Its slots go on in the next cycle at the earliest. Later arrivals are for its next use.
void SmCore::OpenBarrier(BlockId id, uint8_t number) {
  Barrier& barrier = blocks_[id].barriers[number];
  opened_slots_.insert(opened_slots_.end(), barrier.slots.begin(), barrier.slots.end());
  barrier.slots.clear();
  barrier.arrived = 0;
  barrier.expected = 0;
  opened_.push_back(id);
}

// Threads that exited may be what a barrier waited for.
void SmCore::CheckBarriers(BlockId id) {
  ResidentBlock& block = blocks_[id];
  for (size_t number = 0; number < block.barriers.size(); ++number) {
    const Barrier& barrier = block.barriers[number];
    if (barrier.arrived == 0 || barrier.expected != 0 || barrier.arrived < block.live) continue;
    OpenBarrier(id, static_cast<uint8_t>(number));
  }
}

void SmCore::ReleaseBarriers(Cycle now) {
  last_progress_ = now;
  for (const BlockId block : releasing_) {
    if (!context_.by_warp) warp_progress_.Released(block);
    for (const auto& scheduler : schedulers_) scheduler->BarrierReleased(block);
  }
  releasing_.clear();
  std::sort(resuming_.begin(), resuming_.end());
  for (const SlotId slot : resuming_) {
    if (--barriers_ahead_[slot] != 0 || formation_.table().state[slot] != SlotState::kBarrier) continue;
    if (resolve_waits_) {
      write_back_.Hold({slot, Completion::kResume, 0});
    } else {
      ResumeFromBarrier(slot);
    }
  }
  resuming_.clear();
}

bool SmCore::ResumeFromBarrier(SlotId slot) {
  warp_progress_.Resumed(formation_.table().lanes[slot], now_);
  bool ask = false;
  if ((interests_ & kBarriers) != 0) {
    const Pc pc = formation_.table().position[slot].pc();
    ask = policy_->BarrierReleased(slot, context_.barrier_ids[steps_[pc].barrier], formation_.editor());
  }
  return FinishInstruction(slot, ask);
}

}  // namespace heddle::replay
