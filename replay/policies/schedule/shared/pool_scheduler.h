// What DWF's priorities by PC have in common.
#ifndef HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_POOL_SCHEDULER_H_
#define HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_POOL_SCHEDULER_H_

#include <cstdint>

#include "replay/policies/schedule/shared/issue_history.h"
#include "replay/policies/schedule/shared/position_groups.h"
#include "replay/seams/slot_queue.h"
#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {

// Why a priority among the PCs of a pool is refused elsewhere.
inline constexpr char kNeedsPoolReason[] =
    "it ranks the PCs of a pool in which warps are formed anew after every instruction";

// Keeps the waiting warps of the pool by position. Warps that a policy gives a priority (those that a barrier released)
// bypass the pool: they are not counted there, and the oldest issues first.
class PoolScheduler : public WarpScheduler {
 public:
  explicit PoolScheduler(const SchedulerContext& context)
      : table_(context.table), groups_(context.program.instruction_count()) {}

  SlotId Pick(const SlotSet& eligible) const final {
    if (const SlotId slot = bypass_.FirstIn(eligible); slot != kNoSlot) return slot;
    return PickFromPool(eligible);
  }

  void Offered(SlotId slot) final {
    history_.Offered(slot);
    if (table_.priority[slot] != 0) {
      bypass_.InsertByKey(slot, table_.formed);
    } else {
      groups_.Add(slot, table_.position[slot], static_cast<uint32_t>(table_.thread_count(slot)));
    }
  }
  void Grown(SlotId slot, const Lanes& /*joined*/) final {
    groups_.Resize(slot, static_cast<uint32_t>(table_.thread_count(slot)));
  }
  void Withdrawn(SlotId slot) final { Remove(slot); }
  void Issued(SlotId slot) final {
    history_.Issued(slot);
    if (groups_.group_of(slot) != PositionGroups::kNoGroup) IssuedFromPool(slot);
    Remove(slot);
  }

 protected:
  virtual SlotId PickFromPool(const SlotSet& eligible) const = 0;
  // Called while the slot is still counted in its group.
  virtual void IssuedFromPool(SlotId /*slot*/) {}

  // Order of the offer of the group's oldest warp.
  uint64_t AgeOf(const PositionGroups::Group& group) const { return table_.offered_at[group.oldest]; }

  const WarpTable& table() const { return table_; }
  const PositionGroups& groups() const { return groups_; }
  const IssueHistory& history() const { return history_; }

 private:
  void Remove(SlotId slot) {
    bypass_.Erase(slot);
    groups_.Remove(slot);
  }

  const WarpTable& table_;
  PositionGroups groups_;
  SlotQueue bypass_;
  IssueHistory history_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_POOL_SCHEDULER_H_
