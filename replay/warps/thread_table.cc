#include "replay/warps/thread_table.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

ThreadState ThreadStateOf(SlotState state) {
  switch (state) {
    case SlotState::kOffered:
      return ThreadState::kReady;
    case SlotState::kBarrier:
      return ThreadState::kBarrier;
    case SlotState::kInFlight:
    case SlotState::kResolving:
    case SlotState::kParked:
    case SlotState::kFree:
      break;
  }
  return ThreadState::kDependency;
}

ThreadState ThreadStateOf(HeldReason reason) {
  switch (reason) {
    case HeldReason::kInactive:
      return ThreadState::kInactive;
    case HeldReason::kReconverging:
      return ThreadState::kReconverging;
    case HeldReason::kDependency:
      return ThreadState::kDependency;
    case HeldReason::kReady:
      break;
  }
  return ThreadState::kReady;
}

ThreadTable::ThreadTable(int max_threads)
    : slot_(static_cast<size_t>(max_threads), kNoSlot),
      position_(slot_.size(), Position::Exit()),
      block_(slot_.size(), 0),
      index_(slot_.size(), 0),
      life_(slot_.size(), kAbsent),
      held_(slot_.size(), kInactive) {}

void ThreadTable::Add(ThreadId thread, BlockId block, uint32_t index_in_block, Position at) {
  life_[thread] = kLive;
  slot_[thread] = kNoSlot;
  position_[thread] = at;
  block_[thread] = block;
  index_[thread] = index_in_block;
  held_[thread] = kInactive;
  ++counts_[static_cast<int>(ThreadState::kInactive)];
}

void ThreadTable::AddWarp(ThreadId first, uint32_t count, BlockId block, uint32_t first_index, Position at) {
  std::fill_n(life_.begin() + first, count, kLive);
  std::fill_n(slot_.begin() + first, count, kNoSlot);
  std::fill_n(position_.begin() + first, count, at);
  std::fill_n(block_.begin() + first, count, block);
  std::iota(index_.begin() + first, index_.begin() + first + count, first_index);
  std::fill_n(held_.begin() + first, count, kInactive);
  counts_[static_cast<int>(ThreadState::kInactive)] += count;
}

std::optional<ThreadId> ThreadTable::Remove(BlockId block, ThreadId first, uint32_t count) {
  // Loops without an exit, which run over many threads at a time, in numbers of one width if they can.
  uint8_t* const life = &life_[first];
  const BlockId* const block_of = &block_[first];
  BlockId others = 0;
  for (uint32_t i = 0; i < count; ++i) others |= block_of[i] ^ block;
  uint8_t unfinished = 0;
  for (uint32_t i = 0; i < count; ++i) unfinished |= life[i] ^ kFinished;
  if ((others | unfinished) == 0) {
    std::fill_n(life, count, kAbsent);
    counts_[static_cast<int>(ThreadState::kFinished)] -= count;
    return std::nullopt;
  }
  uint16_t live = 0;
  for (uint32_t i = 0; i < count; ++i) live |= life[i] == kLive && block_of[i] == block;
  if (live != 0) {
    uint32_t i = 0;
    while (life[i] != kLive || block_of[i] != block) ++i;
    return static_cast<ThreadId>(first + i);
  }
  uint16_t removed = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const bool leaves = life[i] == kFinished && block_of[i] == block;
    removed = static_cast<uint16_t>(removed + leaves);
    life[i] = leaves ? uint8_t{kAbsent} : life[i];
  }
  counts_[static_cast<int>(ThreadState::kFinished)] -= removed;
  return std::nullopt;
}

void ThreadTable::Finish(const Lanes& lanes, LaneMask exited) {
  if (exited == lanes.mask && exited != 0 && AreNeighbours(lanes)) {
    const auto count = static_cast<uint32_t>(std::popcount(exited));
    const ThreadId first = lanes.thread[std::countr_zero(exited)];
    std::fill_n(slot_.begin() + first, count, kNoSlot);
    std::fill_n(life_.begin() + first, count, kFinished);
  } else {
    ForEachLane(exited, [&](int lane) {
      const ThreadId thread = lanes.thread[lane];
      slot_[thread] = kNoSlot;
      life_[thread] = kFinished;
    });
  }
  Count(ThreadState::kDependency, ThreadState::kFinished, static_cast<uint64_t>(std::popcount(exited)));
}

bool ThreadTable::AreNeighbours(const Lanes& lanes) {
  const int low = std::countr_zero(lanes.mask);
  const LaneMask from_low = lanes.mask >> low;
  if ((from_low & (from_low + 1)) != 0) return false;
  return FollowOneAnother(&lanes.thread[low], static_cast<uint32_t>(std::popcount(lanes.mask)));
}

bool ThreadTable::AllUnassignedAt(ThreadId from, uint32_t count, Position at) const {
  const int first = from;
  const int end = first + static_cast<int>(count);
  if (end > size()) return false;
  // Each in numbers of its own width, so that the loops run over many threads at a time.
  const uint8_t* const life = life_.data();
  const SlotId* const slot = slot_.data();
  const Position* const position = position_.data();
  uint8_t dead = 0;
  for (int thread = first; thread < end; ++thread) dead |= life[thread] ^ kLive;
  uint16_t placed = 0;
  for (int thread = first; thread < end; ++thread) placed |= slot[thread] ^ kNoSlot;
  uint32_t elsewhere = 0;
  for (int thread = first; thread < end; ++thread) elsewhere |= position[thread] != at ? 1u : 0u;
  return (dead | placed | elsewhere) == 0;
}

void ThreadTable::Enter(SlotId slot, ThreadState state, const Lanes& lanes, Lanes& inside) {
  const int low = std::countr_zero(lanes.mask);
  const auto count = static_cast<uint32_t>(std::popcount(lanes.mask));
  const ThreadId first = lanes.thread[low];
  uint8_t* const held = &held_[first];
  bool alike = AreNeighbours(lanes);
  if (alike) {
    uint8_t differs = 0;
    for (uint32_t i = 0; i < count; ++i) differs |= held[i] ^ held[0];
    alike = differs == 0;
  }
  if (alike) {
    std::copy_n(&lanes.thread[low], count, &inside.thread[low]);
    std::fill_n(slot_.begin() + first, count, slot);
    Count(StateOf(static_cast<Held>(*held)), state, count);
    std::fill_n(held, count, kInactive);
  } else {
    ForEachLane(lanes.mask, [&](int lane) {
      const ThreadId thread = lanes.thread[lane];
      inside.thread[lane] = thread;
      slot_[thread] = slot;
      Count(StateOf(static_cast<Held>(held_[thread])), state, 1);
      held_[thread] = kInactive;
    });
  }
  inside.mask |= lanes.mask;
}

void ThreadTable::Hold(ThreadId thread, HeldReason reason) {
  Count(StateOfUnassigned(thread), ThreadStateOf(reason), 1);
  held_[thread] = static_cast<uint8_t>(reason);
}

void ThreadTable::SettleUnassigned(const Lanes& lanes) {
  ForEachLane(lanes.mask, [&](int lane) {
    const ThreadId thread = lanes.thread[lane];
    if (!is_unassigned(thread) || held_[thread] != kResolving) return;
    held_[thread] = kInactive;
    Count(ThreadState::kDependency, ThreadState::kInactive, 1);
  });
}

}  // namespace heddle::replay
