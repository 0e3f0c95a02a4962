// The hardware threads of one SM: whose they are, and where each one is.
#ifndef HEDDLE_REPLAY_WARPS_THREAD_TABLE_H_
#define HEDDLE_REPLAY_WARPS_THREAD_TABLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/seams/types.h"
#include "replay/warps/thread_state.h"

namespace heddle::replay {

// A live thread is in a slot, or unassigned: then it has a position of its own and a reason. The table also counts
// threads by state; those in slots are counted by whoever changes the slots (Count).
class ThreadTable {
 public:
  // Why an unassigned thread is unassigned: a HeldReason, or kResolving until the policy has decided.
  enum Held : uint8_t { kInactive = static_cast<uint8_t>(HeldReason::kInactive), kResolving = 0xff };

  explicit ThreadTable(int max_threads);

  // --- threads come and go
  // A thread becomes live and unassigned at `at`.
  void Add(ThreadId thread, BlockId block, uint32_t index_in_block, Position at);
  // `count` neighbouring threads become live and unassigned at `at`; the first has number `first_index` in the block.
  void AddWarp(ThreadId first, uint32_t count, BlockId block, uint32_t first_index, Position at);
  // The finished threads of the block among `count` from `first` on leave. If one of the block is still live, it is
  // returned, and nothing changes.
  std::optional<ThreadId> Remove(BlockId block, ThreadId first, uint32_t count);
  // The threads of the lanes, which are in a slot, have ended.
  void Finish(const Lanes& lanes, LaneMask exited);

  // --- into slots and out of them
  // A thread in a slot becomes unassigned. Its state is not counted here.
  void Unassign(ThreadId thread, Position at, Held held) {
    slot_[thread] = kNoSlot;
    position_[thread] = at;
    held_[thread] = held;
  }
  // Unassigned threads enter the slot, whose threads are in `state`; they are written to the same lanes of `inside`.
  void Enter(SlotId slot, ThreadState state, const Lanes& lanes, Lanes& inside);
  // A thread changes from one slot to another.
  void Move(ThreadId thread, SlotId slot) { slot_[thread] = slot; }
  // An unassigned thread is held for another reason.
  void Hold(ThreadId thread, HeldReason reason);
  // The policy has left threads of the lanes unassigned that were resolving: they are inactive from now on.
  void SettleUnassigned(const Lanes& lanes);

  // --- where a thread is
  int size() const { return static_cast<int>(life_.size()); }
  bool is_live(ThreadId thread) const { return life_[thread] == kLive; }
  bool is_unassigned(ThreadId thread) const { return is_live(thread) && slot_[thread] == kNoSlot; }
  SlotId slot(ThreadId thread) const { return slot_[thread]; }            // kNoSlot: unassigned
  Position position(ThreadId thread) const { return position_[thread]; }  // of an unassigned thread
  BlockId block(ThreadId thread) const { return block_[thread]; }
  uint32_t index_in_block(ThreadId thread) const { return index_[thread]; }
  // Of an unassigned thread.
  ThreadState StateOfUnassigned(ThreadId thread) const { return StateOf(static_cast<Held>(held_[thread])); }
  // Whether the lanes are neighbours, and hold threads that follow one another: mostly they are a whole hardware warp.
  static bool AreNeighbours(const Lanes& lanes);
  // Whether all `count` threads from `first` on are unassigned at `at`.
  bool AllUnassignedAt(ThreadId first, uint32_t count, Position at) const;

  // --- threads by state
  void Count(ThreadState from, ThreadState to, uint64_t count) {
    counts_[static_cast<int>(from)] -= count;
    counts_[static_cast<int>(to)] += count;
  }
  const ThreadStateCounts& counts() const { return counts_; }

 private:
  enum Life : uint8_t { kAbsent, kLive, kFinished };
  static ThreadState StateOf(Held held) {
    return held == kResolving ? ThreadState::kDependency : ThreadStateOf(static_cast<HeldReason>(held));
  }

  ThreadStateCounts counts_{};
  std::vector<SlotId> slot_;
  std::vector<Position> position_;  // of unassigned threads
  std::vector<BlockId> block_;
  std::vector<uint32_t> index_;
  std::vector<uint8_t> life_;
  std::vector<uint8_t> held_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_WARPS_THREAD_TABLE_H_
