#include "replay/core/rendezvous_unit.h"

#include <algorithm>
#include <bit>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

RendezvousUnit::RendezvousUnit(const LaunchContext& context, const Formation& formation, ThreadCursors& cursors,
                               MemoryPort& memory)
    : context_(context), formation_(formation), cursors_(cursors), memory_(memory) {
  if (!context.threads_meet()) return;
  members_.resize(static_cast<size_t>(context.capacity) * WarpsPerBlock());
  for (int block = 0; block < context.capacity; ++block) Forget(static_cast<BlockId>(block));
  threads_left_.resize(formation.table().state.size());
  ready_.resize(static_cast<size_t>(context.ports));
}

// --- arrivals

void RendezvousUnit::Forget(BlockId block) {
  if (!used()) return;
  for (uint32_t warp = 0; warp < WarpsPerBlock(); ++warp) {
    Members& members = members_[block * WarpsPerBlock() + warp];
    members.live = std::min(trace::kMatrixThreads, context_.threads_per_block - warp * trace::kMatrixThreads);
    members.here.mask = 0;
  }
}

bool RendezvousUnit::IsWhole(SlotId slot) const {
  const Lanes& lanes = formation_.table().lanes[slot];
  const size_t warp = WarpOf(lanes.thread[std::countr_zero(lanes.mask)]);
  if (static_cast<uint32_t>(std::popcount(lanes.mask)) != members_[warp].live) return false;
  bool whole = true;
  ForEachLane(lanes.mask, [&](int lane) {
    const ThreadId thread = lanes.thread[lane];
    whole &= WarpOf(thread) == warp && thread % context_.warp_size == lane;
  });
  return whole;
}

Position RendezvousUnit::Arrive(SlotId slot) {
  const Position at = formation_.table().position[slot];
  const Lanes& lanes = formation_.table().lanes[slot];
  Position elsewhere = Position::Exit();
  ++surplus_;
  threads_left_[slot] = static_cast<uint8_t>(std::popcount(lanes.mask));
  ForEachLane(lanes.mask, [&](int lane) {
    const ThreadId thread = lanes.thread[lane];
    Members& members = members_[WarpOf(thread)];
    if (members.here.mask == 0) members.at = at;
    if (members.at != at) elsewhere = members.at;
    const uint32_t member = formation_.index_in_block(thread) % trace::kMatrixThreads;
    members.here.mask |= LaneMask{1} << member;
    members.here.thread[member] = thread;
    members.last = slot;
  });
  // Only now: a group knows the slot that came last.
  ForEachLane(lanes.mask, [&](int lane) { MakeReadyIfComplete(members_[WarpOf(lanes.thread[lane])]); });
  return elsewhere;
}

void RendezvousUnit::Exit(ThreadId thread) {
  Members& members = members_[WarpOf(thread)];
  --members.live;
  MakeReadyIfComplete(members);
}

void RendezvousUnit::MakeReadyIfComplete(Members& members) {
  const auto here = static_cast<uint32_t>(std::popcount(members.here.mask));
  if (here == 0 || here != members.live) return;
  ready_[formation_.table().port[members.last]].push_back({members.at, members.here, members.last});
  members.here.mask = 0;
}

// --- groups

RendezvousUnit::Group RendezvousUnit::Issue(int port, Cycle result) {
  std::deque<Group>& ready = ready_[static_cast<size_t>(port)];
  const Group group = ready.front();
  ready.pop_front();
  --surplus_;
  const uint32_t number = issued_.Add({group});
  if (context_.steps[group.at.pc()].kind == Step::kMemory) {
    issued_.Queue(number);
  } else {
    issued_.NotBefore(number, result);
    issued_.End(number);
  }
  return group;
}

void RendezvousUnit::SubmitNext(SharedLocator& locator, Cycle now) {
  const uint32_t number = issued_.TakeQueued();
  auto& [group, unacknowledged] = issued_[number];
  const Pc pc = group.at.pc();
  const Step& step = context_.steps[pc];
  const LaneMask lanes = step.LanesThatAccess(group.lanes.mask);
  const bool addresses = step.has_address && (step.by_lane() || memory_.memory().needs_addresses());
  if (addresses) {
    cursors_.TakeAddresses(group.lanes, pc, memory_.addresses());
    if (step.cluster) locator.Locate(pc, lanes, group.lanes.thread, memory_);
  } else if (step.has_address) {
    cursors_.SkipAddresses(group.lanes);
  }
  issued_.Submitted(number, lanes);
  unacknowledged = step.op == trace::v1::OP_STORE;
  memory_.Submit(kFirstAccess + number, group.slot, pc, lanes, group.lanes.thread, addresses, now);
}

void RendezvousUnit::LanesDone(AccessId access, LaneMask lanes, Cycle at) {
  const uint32_t number = access - kFirstAccess;
  if (issued_.LanesDone(number, lanes, at) && !issued_[number].unacknowledged) issued_.End(number);
}

void RendezvousUnit::StoreAcknowledged(AccessId access, Cycle at) {
  const uint32_t number = access - kFirstAccess;
  issued_[number].unacknowledged = false;
  issued_.NotBefore(number, at);
  if (issued_.IsDone(number)) issued_.End(number);
}

void RendezvousUnit::Release(const Group& group) {
  ForEachLane(group.lanes.mask, [&](int lane) {
    const SlotId slot = formation_.slot_of(group.lanes.thread[lane]);
    if (--threads_left_[slot] == 0) released_.push_back(slot);
  });
}

// --- a cycle

void RendezvousUnit::RunCycle(SharedLocator& locator, Cycle now) {
  released_.clear();
  issued_.TakeEnded(now, [this](uint32_t number) {
    Release(issued_[number].group);
    issued_.Remove(number);
  });
  std::sort(released_.begin(), released_.end());
  if (issued_.any_queued() && memory_.memory().StageFree()) SubmitNext(locator, now);
}

}  // namespace heddle::replay
