#include "replay/engine/observed_scheduler.h"

#include <bit>
#include <utility>

namespace heddle::replay {

ObservedScheduler::ObservedScheduler(std::unique_ptr<WarpScheduler> scheduler, const SmCore& core,
                                     const SchedulerContext& context, const LaunchContext& launch, uint32_t sm)
    : scheduler_(std::move(scheduler)),
      core_(core),
      table_(context.table),
      clock_(*context.clock),
      observer_(*launch.observer),
      launch_(launch),
      sm_(sm),
      port_(static_cast<uint32_t>(context.port)) {}

SlotId ObservedScheduler::Pick(const SlotSet& eligible) const {
  const SlotId slot = scheduler_->Pick(eligible);
  asked_ = eligible;
  if (slot == kNoSlot && notified_at_ != clock_) Notify(WaitEvent::Kind::kHeldBack, eligible, kNoSlot);
  return slot;
}

void ObservedScheduler::Issued(SlotId slot) {
  if (notified_at_ != clock_) Notify(WaitEvent::Kind::kPassedOver, asked_, slot);
  scheduler_->Issued(slot);
}

void ObservedScheduler::BarrierReleased(BlockId block) {
  if (port_ == 0) {
    WaitEvent event = Event(WaitEvent::Kind::kBarrierOpened);
    event.block = core_.grid_index(block);
    observer_.Waits(event);
  }
  scheduler_->BarrierReleased(block);
}

WaitEvent ObservedScheduler::Event(WaitEvent::Kind kind) const {
  WaitEvent event;
  event.kind = kind;
  event.configuration = launch_.configuration_index;
  event.launch = launch_.launch.launch.id();
  event.sm = sm_;
  event.port = port_;
  event.cycle = clock_;
  return event;
}

void ObservedScheduler::Notify(WaitEvent::Kind kind, const SlotSet& slots, SlotId picked) const {
  notified_at_ = clock_;
  threads_.clear();
  slots.ForEach([&](SlotId slot) {
    if (slot == picked) return;
    const Lanes& lanes = table_.lanes[slot];
    for (LaneMask left = lanes.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const ThreadId thread = lanes.thread[lane];
      threads_.push_back({static_cast<uint32_t>(lane), table_.position[slot].pc(),
                          core_.grid_index(core_.block_of(thread)), core_.index_in_block(thread)});
    }
  });
  if (threads_.empty()) return;
  WaitEvent event = Event(kind);
  event.threads = threads_;
  observer_.Waits(event);
}

}  // namespace heddle::replay
