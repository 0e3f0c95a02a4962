// A scheduler that tells an observer which warps it passes over.
#ifndef HEDDLE_REPLAY_ENGINE_OBSERVED_SCHEDULER_H_
#define HEDDLE_REPLAY_ENGINE_OBSERVED_SCHEDULER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replay/core/launch_context.h"
#include "replay/core/sm_core.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {

// Hands everything on to the scheduler that it stands before, whose decisions are the same as without it.
class ObservedScheduler final : public WarpScheduler {
 public:
  // `core` and `launch` must outlive the object; `launch` has an observer that wants waits.
  ObservedScheduler(std::unique_ptr<WarpScheduler> scheduler, const SmCore& core, const SchedulerContext& context,
                    const LaunchContext& launch, uint32_t sm);

  SlotId Pick(const SlotSet& eligible) const override;
  void Issued(SlotId slot) override;
  void BarrierReleased(BlockId block) override;

  uint64_t Urgency(BlockId block) const override { return scheduler_->Urgency(block); }
  bool watches_sm() const override { return scheduler_->watches_sm(); }
  void IssuedOnSm(SlotId slot) override { scheduler_->IssuedOnSm(slot); }
  void Offered(SlotId slot) override { scheduler_->Offered(slot); }
  void Grown(SlotId slot, const Lanes& joined) override { scheduler_->Grown(slot, joined); }
  void Withdrawn(SlotId slot) override { scheduler_->Withdrawn(slot); }
  void BlockAdmitted(BlockId block, uint64_t sequence) override { scheduler_->BlockAdmitted(block, sequence); }
  void VirtualBlock(BlockId block, uint32_t place, uint64_t iteration) override {
    scheduler_->VirtualBlock(block, place, iteration);
  }
  void WarpsAdmitted(BlockId block, uint32_t first_hw_warp, uint32_t hw_warps) override {
    scheduler_->WarpsAdmitted(block, first_hw_warp, hw_warps);
  }
  void BlockRetired(BlockId block) override { scheduler_->BlockRetired(block); }
  bool watches_grid() const override { return scheduler_->watches_grid(); }
  void GridAssigned() override { scheduler_->GridAssigned(); }
  void BarrierArrived(SlotId slot) override { scheduler_->BarrierArrived(slot); }
  void WarpExited(BlockId block) override { scheduler_->WarpExited(block); }
  void LongLatencyStarted(SlotId slot) override { scheduler_->LongLatencyStarted(slot); }
  void LongLatencyEnded(SlotId slot) override { scheduler_->LongLatencyEnded(slot); }
  bool asks_what_slots_lack() const override { return scheduler_->asks_what_slots_lack(); }
  bool watches_caches() const override { return scheduler_->watches_caches(); }
  void CacheEvent(const CacheNotice& notice) override { scheduler_->CacheEvent(notice); }
  std::span<const uint64_t> counters() const override { return scheduler_->counters(); }

 private:
  // Tells of the slots but `picked`.
  void Notify(WaitEvent::Kind kind, const SlotSet& slots, SlotId picked) const;
  WaitEvent Event(WaitEvent::Kind kind) const;

  const std::unique_ptr<WarpScheduler> scheduler_;
  const SmCore& core_;
  const WarpTable& table_;
  const Cycle& clock_;
  IssueObserver& observer_;
  const LaunchContext& launch_;
  const uint32_t sm_;
  const uint32_t port_;
  // The question that was asked last: a fetch policy may ask, too, but an issue follows the question of the port.
  mutable SlotSet asked_;
  mutable Cycle notified_at_ = kNever;  // the cycle of the event before
  mutable std::vector<IssueEvent::Lane> threads_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_OBSERVED_SCHEDULER_H_
