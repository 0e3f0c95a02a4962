#include "replay/warps/formation.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "absl/strings/str_cat.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {
namespace {

// Every slot holds a thread, save parked ones that wait for a Place; twice the threads leaves room for those.
int SlotsFor(int max_threads) { return std::min(kMaxSlots, std::max(64, 2 * max_threads)); }

}  // namespace

Formation::Formation(const Setup& setup)
    : changes_(static_cast<size_t>(SlotsFor(setup.max_threads))),
      offered_(table_, setup.ports),
      threads_(setup.max_threads),
      editor_(*this, table_),
      table_(SlotsFor(setup.max_threads)),
      pool_(table_, setup.ports),
      rules_(threads_, setup.warp_size, setup.any_lane),
      inserted_(table_.state.size(), 0),
      failure_(setup.policy_name, setup.error_flag),
      ports_(setup.ports),
      one_port_per_block_(setup.one_port_per_block) {}

void Formation::RemoveBlock(BlockId block, ThreadId first_thread, uint32_t hardware_threads) {
  const std::optional<ThreadId> live = threads_.Remove(block, first_thread, hardware_threads);
  if (live.has_value()) Fail("Retire", kNoSlot, absl::StrCat("thread ", *live, " is still live"));
}

// --- states and issue

void Formation::SetState(SlotId slot, SlotState state, HeldReason reason) {
  const SlotState old = table_.state[slot];
  const ThreadState before = StateOfSlot(slot);
  table_.state[slot] = state;
  changes_.Note(slot, SlotChanges::kState);
  table_.held[slot] = reason;
  threads_.Count(before, StateOfSlot(slot), ThreadsIn(slot));
  if (old == SlotState::kOffered) {
    offered_.Erase(slot);
    if (WarpScheduler* watcher = scheduler(slot)) watcher->Withdrawn(slot);
  }
  if (state == SlotState::kOffered) Offered(slot);
}

void Formation::IssueTogether(std::span<const SlotId> slots, uint64_t threads) {
  if (slots.empty()) return;
  const uint8_t port = table_.port[slots.front()];
  SlotState* const state = table_.state.data();
  offered_.EraseTogether(port, slots.size(), [&](size_t i) {
    const SlotId slot = slots[i];
    assert(state[slot] == SlotState::kOffered && table_.port[slot] == port);
    state[slot] = SlotState::kInFlight;
    return slot;
  });
  threads_.Count(ThreadState::kReady, ThreadState::kDependency, threads);
  changes_.NoteStates(slots);
  offered_.CountPriorities(slots, -1);
}

void Formation::AdvanceTogether(std::span<const SlotId> slots, std::span<const Position> at) {
  const uint8_t* const ports = table_.port.data();
  SlotState* const state = table_.state.data();
  SlotEntry* const entries = table_.entries.data();
  const Lanes* const lanes = table_.lanes.data();
  uint64_t threads = 0;
  while (!slots.empty()) {
    // Slots of one port, which they mostly are.
    const uint8_t port = ports[slots.front()];
    size_t count = 1;
    while (count < slots.size() && ports[slots[count]] == port) ++count;
    const std::span<const SlotId> own = slots.first(count);
    offered_.InsertTogether(port, count, [&](size_t i) {
      const SlotId slot = own[i];
      assert(state[slot] == SlotState::kInFlight);
      entries[slot].position = at[i];
      state[slot] = SlotState::kOffered;
      threads += static_cast<uint64_t>(std::popcount(lanes[slot].mask));
      return slot;
    });
    changes_.NoteStates(own);
    offered_.CountPriorities(own, 1);
    if (WarpScheduler* watcher = scheduler(own.front())) watcher->OfferedInOrder(own);
    slots = slots.subspan(count);
    at = at.subspan(count);
  }
  threads_.Count(ThreadState::kDependency, ThreadState::kReady, threads);
}

// --- resolve

void Formation::UnassignThreadsNow() {
  const SlotId slot = resolving_.together;
  const Lanes& lanes = table_.lanes[slot];
  ForEachLane(lanes.mask,
              [&](int lane) { threads_.Unassign(lanes.thread[lane], resolving_.at, ThreadTable::kResolving); });
  table_.lanes[slot].mask = 0;
  changes_.Note(slot, SlotChanges::kThreads);
  resolving_.together = kNoSlot;
  resolving_.unassigned = true;
}

void Formation::UnassignGroups(SlotId slot, std::span<const PathGroup> groups, LaneMask exited) {
  const Lanes& lanes = table_.lanes[slot];
  threads_.Finish(lanes, exited);
  for (const PathGroup& group : groups) {
    ForEachLane(group.lanes,
                [&](int lane) { threads_.Unassign(lanes.thread[lane], group.at, ThreadTable::kResolving); });
  }
  changes_.Note(slot, SlotChanges::kThreads);
}

void Formation::BeginResolve(SlotId slot, std::span<const PathGroup> groups, LaneMask exited) {
  SetState(slot, SlotState::kResolving);
  resolving_.lanes = table_.lanes[slot].mask & ~exited;
  resolving_.unassigned = false;
  if (exited == 0 && groups.size() == 1) {
    resolving_.together = slot;
    resolving_.at = groups[0].at;
    return;
  }
  UnassignGroups(slot, groups, exited);
  table_.lanes[slot].mask = 0;
  resolving_.unassigned = true;
}

void Formation::EndResolve(SlotId slot, const Lanes& lanes) {
  if (table_.state[slot] == SlotState::kResolving) {
    Fail("Resolve", slot, "the slot was neither continued, placed, parked nor dissolved");
  }
  if (resolving_.unassigned && resolving_.lanes != 0) EndTake(lanes);
}

void Formation::BeginTake(SlotId slot, LaneMask taken, std::span<const PathGroup> groups, LaneMask exited) {
  UnassignGroups(slot, groups, exited);
  table_.lanes[slot].mask &= ~taken;
}

}  // namespace heddle::replay
