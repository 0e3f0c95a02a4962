#include "replay/core/issue_accounting.h"

#include <array>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

IssueAccounting::IssueAccounting(const LaunchContext& context, uint32_t sm, int issue_slots, const Formation& formation,
                                 const BlockTable& blocks, const EventNotifier& notifier, SmRunState& run)
    : context_(context),
      sm_(sm),
      unwatched_(context.profile == nullptr && context.observer == nullptr),
      // Threads of several slots may share a home lane; they take the lanes in the order in which they were chosen.
      // Slots of static warps issue together only if their lanes are disjoint.
      own_lanes_(issue_slots == 1 || context.static_warps),
      formation_(formation),
      blocks_(blocks),
      notifier_(notifier),
      run_(run),
      progress_(sm, context.warp_size, context.max_threads, context.capacity, context.static_warps,
                *context.warp_progress) {}

void IssueAccounting::Count(int port, std::span<const SlotId> slots, bool inserted) {
  uint32_t threads = 0;
  for (const SlotId slot : slots) threads += static_cast<uint32_t>(formation_.table().thread_count(slot));
  Count(port, slots, threads, inserted);
}

void IssueAccounting::Count(int port, std::span<const SlotId> slots, uint32_t threads, bool inserted) {
  run_.last_progress = run_.now;
  if (context_.profile != nullptr) ProfileIssue(slots, inserted);
  if (inserted) {
    ++counters_.inserted_instructions;
    return;
  }
  if (context_.static_warps) {
    for (const SlotId slot : slots) progress_.Issued(formation_.table().lanes[slot]);
  }
  notifier_.NotifyIssues(slots);
  AddTracedIssues(threads, 1);
  if (context_.observer != nullptr) Observe(port, slots);
}

void IssueAccounting::CountGroup(int port, SlotId slot, Pc pc, const Lanes& lanes) {
  const int threads = std::popcount(lanes.mask);
  run_.last_progress = run_.now;
  if (context_.profile != nullptr) {
    context_.profile->PortIssued(pc, /*inserted=*/false);
    context_.profile->ThreadsIssued(pc, threads);
  }
  if (context_.static_warps) progress_.Issued(lanes);
  notifier_.NotifyIssue(slot);
  AddTracedIssues(static_cast<uint32_t>(threads), 1);
  if (context_.observer == nullptr) return;
  std::array<IssueEvent::Lane, kMaxLanes> observed;
  size_t count = 0;
  ForEachLane(lanes.mask, [&](int lane) {
    const ThreadId thread = lanes.thread[lane];
    IssueEvent::Lane& out = observed[count++];
    out.lane = static_cast<uint32_t>(thread % context_.warp_size);
    out.pc = pc;
    out.block = blocks_[formation_.block_of(thread)].linear_index;
    out.thread = formation_.index_in_block(thread);
  });
  ObserveLanes(port, slot, std::span(observed).first(count));
}

void IssueAccounting::Observe(int port, std::span<const SlotId> slots) {
  std::array<IssueEvent::Lane, kMaxLanes> lanes;
  size_t count = 0;
  for (const SlotId slot : slots) {
    const Lanes& inside = formation_.table().lanes[slot];
    ForEachLane(inside.mask, [&](int lane) {
      const ThreadId thread = inside.thread[lane];
      IssueEvent::Lane& out = lanes[count];
      out.lane = own_lanes_ ? static_cast<uint32_t>(lane) : static_cast<uint32_t>(count);
      out.pc = formation_.table().position[slot].pc();
      out.block = blocks_[formation_.block_of(thread)].linear_index;
      out.thread = formation_.index_in_block(thread);
      ++count;
    });
  }
  ObserveLanes(port, slots[0], std::span(lanes).first(count));
}

void IssueAccounting::ObserveLanes(int port, SlotId slot, std::span<const IssueEvent::Lane> lanes) {
  IssueEvent event;
  event.configuration = context_.configuration_index;
  event.launch = context_.launch.launch.id();
  event.sm = sm_;
  event.port = static_cast<uint32_t>(port);
  event.slot = slot;
  event.cycle = run_.now;
  event.lanes = lanes;
  context_.observer->Issued(event);
}

void IssueAccounting::ProfileIssue(std::span<const SlotId> slots, bool inserted) {
  InstructionProfile& profile = *context_.profile;
  const WarpTable& warps = formation_.table();
  profile.PortIssued(warps.position[slots[0]].pc(), inserted);
  if (inserted) return;
  for (const SlotId slot : slots) profile.ThreadsIssued(warps.position[slot].pc(), warps.thread_count(slot));
}

void IssueAccounting::ProfileLoss(SlotId slot, PortLoss loss, bool waw, uint64_t cycles) {
  const WarpTable& warps = formation_.table();
  if (slot == kNoSlot || warps.position[slot].is_exit()) {
    context_.profile->LostElsewhere(loss, waw, cycles);
  } else {
    context_.profile->Lost(warps.position[slot].pc(), loss, waw, cycles);
  }
}

}  // namespace heddle::replay
