#include "replay/core/barrier_unit.h"

#include <bit>
#include <utility>

#include "replay/core/clusters/cluster_board.h"

namespace heddle::replay {

BarrierUnit::BarrierUnit(const LaunchContext& context, const Formation& formation, const BlockTable& blocks,
                         const SmRunState& run)
    : formation_(formation),
      blocks_(blocks),
      barriers_(blocks.size(), std::vector<Barrier>(context.barrier_ids.size())),
      barriers_ahead_(formation.table().state.size()),
      number_of_(formation.table().state.size()),
      cluster_barrier_(context.DenseBarrier(LaunchContext::kClusterBarrier)),
      board_(context.clusters),
      timing_(context.block_barriers),
      run_(run) {
  if (cluster_barrier_ == LaunchContext::kNoBarrier) return;
  phases_.Resize(blocks.size(), static_cast<size_t>(context.max_threads));
}

void BarrierUnit::Arrive(SlotId slot, const Step& step, const LaneBarriers* by_lane) {
  const Lanes& lanes = formation_.table().lanes[slot];
  if (step.waits) {
    barriers_ahead_[slot] = 0;
    number_of_[slot] = by_lane == nullptr ? step.barrier : by_lane->number[std::countr_zero(lanes.mask)];
  }
  for (LaneMask left = lanes.mask; left != 0;) {
    const int first = std::countr_zero(left);
    const BlockId id = formation_.block_of(lanes.thread[first]);
    const auto number = [&](int lane) { return by_lane == nullptr ? step.barrier : by_lane->number[lane]; };
    LaneMask own = 0;
    for (LaneMask mask = left; mask != 0; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      if (formation_.block_of(lanes.thread[lane]) == id && number(lane) == number(first)) own |= LaneMask{1} << lane;
    }
    left &= ~own;
    if (step.barrier == cluster_barrier_) {
      UseCluster(slot, step, id, own);
    } else {
      const uint32_t expected = by_lane == nullptr ? step.barrier_threads : by_lane->threads[first];
      ArriveTogether(slot, step, id, number(first), expected, own);
    }
  }
}

void BarrierUnit::ArriveTogether(SlotId slot, const Step& step, BlockId id, uint8_t number, uint32_t expected,
                                 LaneMask own) {
  Barrier& barrier = barriers_[id][number];
  barrier.arrived += static_cast<uint32_t>(std::popcount(own));
  barrier.expected = expected;
  if (step.waits) {
    barrier.slots.push_back(slot);
    ++barriers_ahead_[slot];
  }
  barrier.taken = std::max(barrier.taken, run_.now) + timing_.arrival_interval();
  const uint32_t needed = expected == 0 ? blocks_[id].live : expected;
  if (barrier.arrived >= needed) Complete(id, number);
}

void BarrierUnit::Complete(BlockId id, uint8_t number) {
  Barrier& barrier = barriers_[id][number];
  const Cycle at = std::max(barrier.taken, run_.now) + timing_.release_latency();
  barrier.taken = 0;
  if (at == run_.now) return Open(id, number);
  openings_.push_back({at, id, std::exchange(barrier.slots, {})});
  barrier.arrived = 0;
  barrier.expected = 0;
}

void BarrierUnit::UseCluster(SlotId slot, const Step& step, BlockId id, LaneMask own) {
  const Lanes& lanes = formation_.table().lanes[slot];
  Barrier& barrier = barriers_[id][cluster_barrier_];
  bool pending = false;
  for (LaneMask mask = own; mask != 0; mask &= mask - 1) {
    const ThreadId thread = lanes.thread[std::countr_zero(mask)];
    if (step.arrives) barrier.arrived += phases_.Arrive(id, thread);
    pending |= phases_.HasArrived(id, thread);
  }
  if (step.waits) {
    ++barriers_ahead_[slot];
    if (pending) {
      barrier.slots.push_back(slot);
    } else {
      opened_slots_.push_back(slot);
      opened_.push_back(id);
    }
  }
  if (step.arrives) CheckCluster(id);
}

void BarrierUnit::CheckCluster(BlockId id) {
  if (barriers_[id][cluster_barrier_].arrived < blocks_[id].live || phases_.complete(id)) return;
  phases_.Complete(id);
  board_->Arrived(blocks_[id].position, run_.now);
}

void BarrierUnit::OpenCluster(BlockId id, Cycle at) {
  if (at > run_.now) {
    phases_.AddOpening(id, at);
  } else {
    Open(id, cluster_barrier_);
  }
}

void BarrierUnit::OpenDue() {
  if (phases_.any_opening()) phases_.TakeOpenings(run_.now, [this](BlockId id) { Open(id, cluster_barrier_); });
  std::erase_if(openings_, [this](const Opening& opening) {
    if (opening.at >= run_.now) return false;
    opened_slots_.insert(opened_slots_.end(), opening.slots.begin(), opening.slots.end());
    opened_.push_back(opening.block);
    return true;
  });
}

Cycle BarrierUnit::NextRelease() const {
  Cycle next = phases_.NextRelease();
  for (const Opening& opening : openings_) next = std::min(next, opening.at + 1);
  return next;
}

void BarrierUnit::Open(BlockId id, uint8_t number) {
  Barrier& barrier = barriers_[id][number];
  opened_slots_.insert(opened_slots_.end(), barrier.slots.begin(), barrier.slots.end());
  barrier.slots.clear();
  if (number == cluster_barrier_) phases_.Begin(id);
  barrier.arrived = 0;
  barrier.expected = 0;
  opened_.push_back(id);
}

void BarrierUnit::RecheckCluster(BlockId id) {
  if (blocks_[id].live == 0) return board_->Exited(blocks_[id].position, run_.now);
  Barrier& barrier = barriers_[id][cluster_barrier_];
  if (barrier.arrived == 0) return;
  // Threads that have arrived, and exited since, do not count.
  barrier.arrived = 0;
  for (size_t i = 0; i < phases_.threads(); ++i) {
    const auto thread = static_cast<ThreadId>(i);
    const bool live = formation_.is_live(thread) && formation_.block_of(thread) == id;
    barrier.arrived += live && phases_.HasArrived(id, thread);
  }
  CheckCluster(id);
}

void BarrierUnit::Recheck(BlockId id) {
  for (size_t number = 0; number < barriers_[id].size(); ++number) {
    if (number == cluster_barrier_) {
      RecheckCluster(id);
      continue;
    }
    Barrier& barrier = barriers_[id][number];
    if (barrier.arrived == 0 || barrier.expected != 0 || barrier.arrived < blocks_[id].live) continue;
    Complete(id, static_cast<uint8_t>(number));
  }
}

void BarrierUnit::Forget(BlockId id) {
  for (Barrier& barrier : barriers_[id]) barrier.arrived = barrier.expected = 0, barrier.taken = 0;
  std::erase_if(openings_, [id](const Opening& opening) { return opening.block == id; });
  phases_.Forget(id);
}

}  // namespace heddle::replay
