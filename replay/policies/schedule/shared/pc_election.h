// DWF's priorities that elect one of the pool's PCs: the majority and the minority.
#ifndef HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_PC_ELECTION_H_
#define HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_PC_ELECTION_H_

#include <cstdint>

#include "replay/policies/schedule/shared/pool_scheduler.h"

namespace heddle::replay {

// Issues the warps of one PC, oldest first. A PC either keeps its turn until its warps have run out (Fung's thesis,
// section 4.3, says so of the majority), or is elected anew at every issue.
class PcElection : public PoolScheduler {
 protected:
  PcElection(const SchedulerContext& context, bool keeps_turn) : PoolScheduler(context), keeps_turn_(keeps_turn) {}

  // The warp to issue: of the PC whose turn it is, else of the winner among those with an eligible warp.
  // beats(a, b): whether a wins over b.
  template <typename Beats>
  SlotId Elect(const SlotSet& eligible, Beats beats) const {
    if (keeps_turn_ && !elected_.is_exit()) {
      if (const PositionGroups::GroupId id = groups().Find(elected_); id != PositionGroups::kNoGroup) {
        if (const SlotId slot = groups().FirstIn(id, eligible); slot != kNoSlot) return slot;
      }
    }
    SlotId best = kNoSlot;
    const PositionGroups::Group* winner = nullptr;
    for (const PositionGroups::GroupId id : groups().live()) {
      const PositionGroups::Group& group = groups().group(id);
      if (winner != nullptr && !beats(group, *winner)) continue;
      const SlotId slot = groups().FirstIn(id, eligible);
      if (slot == kNoSlot) continue;
      best = slot;
      winner = &group;
    }
    return best;
  }

  // Times the turn passed to another PC.
  uint64_t elections() const { return elections_; }

 private:
  void IssuedFromPool(SlotId slot) override {
    const Position at = groups().group(groups().group_of(slot)).at;
    if (at == elected_) return;
    // A warp that went by while the elected PC's own warps could not issue does not end their turn.
    if (keeps_turn_ && !elected_.is_exit() && groups().Find(elected_) != PositionGroups::kNoGroup) return;
    elected_ = at;
    ++elections_;
  }

  const bool keeps_turn_;
  Position elected_ = Position::Exit();
  uint64_t elections_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_PC_ELECTION_H_
