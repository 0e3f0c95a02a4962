#include "replay/core/event_notifier.h"

#include <algorithm>
#include <utility>

namespace heddle::replay {

EventNotifier::EventNotifier(const LaunchContext& context, DivergencePolicy& policy, Formation& formation)
    : context_(context), policy_(policy), formation_(formation), interests_(policy.interests()) {}

void EventNotifier::SetSchedulers(std::vector<std::unique_ptr<WarpScheduler>> schedulers) {
  schedulers_ = std::move(schedulers);
  std::vector<WarpScheduler*> watchers;
  for (const auto& scheduler : schedulers_) {
    watchers.push_back(scheduler.get());
    if (scheduler->watches_sm()) issue_watchers_.push_back(scheduler.get());
    if (scheduler->watches_caches()) cache_watchers_.push_back(scheduler.get());
  }
  formation_.SetSchedulers(std::move(watchers));
}

void EventNotifier::DeliverDeferred() {
  // A call may set off an issue's consequences only once; nothing is added here.
  for (const Deferred& event : deferred_) {
    if (event.what == Event::kLongWait) {
      NotifyLongWait(event.slot);
      continue;
    }
    const bool is_barrier = event.what == Event::kBarrier;
    if ((interests_ & kBarriers) != 0) {
      const uint32_t number = is_barrier ? context_.barrier_ids[event.barrier] : LaunchContext::kRendezvous;
      policy_.BarrierArrived(event.slot, number, formation_.editor());
    }
    // Schedulers count the warps of a block that wait at its barriers.
    if (!is_barrier) continue;
    for (const auto& scheduler : schedulers_) scheduler->BarrierArrived(event.slot);
  }
  deferred_.clear();
}

void EventNotifier::TellOfEnds() {
  std::sort(ended_.begin(), ended_.end(), [](const Ended& a, const Ended& b) { return a.slot < b.slot; });
  const WarpTable& warps = formation_.table();
  for (const Ended& ended : ended_) {  // nothing is added here: results come before
    if (warps.state[ended.slot] == SlotState::kFree || warps.formed[ended.slot] != ended.formed) continue;
    policy_.LongLatencyEnded(ended.slot, formation_.editor());
  }
  ended_.clear();
}

void EventNotifier::NotifyLongWait(SlotId slot) {
  if ((interests_ & kLongLatency) != 0) policy_.LongLatency(slot, formation_.editor());
  scheduler_of(slot).LongLatencyStarted(slot);
}

}  // namespace heddle::replay
